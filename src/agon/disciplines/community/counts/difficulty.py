"""Count, for each prompt, the models that got it wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from agon.disciplines.community.counts.models import SOTA_VERSION, slug, slugs
from agon.disciplines.community.formulas import SCORE_GRID, are_wrong
from agon.disciplines.community.id_index import IdIndex, as_int64, sum_and_count
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import BoolArray, IntArray
from agon.kernel.marks import AnyInts
from agon.records import Records

SCORES = f"SELECT response_id, round(score * {SCORE_GRID})::BIGINT AS score FROM scores"
"""SQL of all scores in steps of ``SCORE_GRID``."""

ModelTotals = tuple[int, int, int]
"""The number of prompts with scores of a model, the sum of its scores in steps, their number."""


@dataclass(frozen=True)
class Difficulty:
    """The number of wrong models (or responses) of each prompt.

    Attributes:
        wrong: of any model, by prompt.
        wrong_sota: of state-of-the-art models, by prompt.
        sota: the slugs that counted as state of the art.
    """

    wrong: IntArray
    wrong_sota: IntArray
    sota: tuple[str, ...]


@dataclass(frozen=True)
class Responses:
    """Responses of known models: prompt, model, and what their scores add up to.

    Attributes:
        prompt: the prompt of each, −1 where unknown.
        name: the place of its model's name in ``names``.
        names: the distinct names of models.
        total: the sum of its scores in steps of ``SCORE_GRID``.
        count: the number of its scores.
    """

    prompt: AnyInts
    name: AnyInts
    names: tuple[str, ...]
    total: IntArray
    count: IntArray


@dataclass(frozen=True)
class AllResponses(Responses):
    """Every response of a known model in some records.

    Attributes:
        ids: their codes.
    """

    ids: IdIndex


@dataclass(frozen=True)
class _Results:
    """Every scored response: its prompt, its model, the sum and number of its scores."""

    prompt: AnyInts
    model: AnyInts
    total: IntArray
    count: IntArray
    slugs: tuple[str, ...]


def count_wrong(
    responses: Responses, rules: CommunityRules, *, looked_at: BoolArray, sota: frozenset[str]
) -> Difficulty:
    """Return the number of wrong models on the selected prompts; the others get 0.

    Args:
        responses: the responses.
        rules: what is wrong, and what is counted.
        looked_at: by prompt, those whose difficulty matters.
        sota: the slugs of state-of-the-art models.
    """
    results = _results(responses)
    results = _of(results, looked_at[results.prompt])
    if rules.wrong_answer_unit == "models":
        results = _by_model(results)
    wrong = are_wrong(results.total, results.count, threshold=rules.wrong_answer_threshold)
    is_sota = np.array([name in sota for name in results.slugs], dtype=bool)
    best = wrong & is_sota[results.model] if len(is_sota) else wrong
    size = len(looked_at)
    return Difficulty(
        np.bincount(results.prompt[wrong], minlength=size),
        np.bincount(results.prompt[best], minlength=size),
        tuple(sorted(sota)),
    )


def sota_of(responses: Responses, rules: CommunityRules) -> frozenset[str]:
    """Return the slugs of the models that are state of the art under the rules.

    Args:
        responses: all responses, by which a dynamic list is made.
        rules: ``sota_list`` and what belongs to it.
    """
    if rules.sota_list == "fixed":
        return slugs(rules.sota_models)
    return best_models(model_totals(responses), rules)


def sota_version(rules: CommunityRules) -> str:
    """Return the version of the list of state-of-the-art models that counts under the rules.

    Example:
        >>> sota_version(CommunityRules()), sota_version(CommunityRules(sota_models=("gpt-4o",)))
        ('2025-01-04', '2025-01-04 (changed)')
    """
    if rules.sota_list == "dynamic":
        return "dynamic"
    is_same = slugs(rules.sota_models) == slugs(CommunityRules().sota_models)
    return SOTA_VERSION if is_same else f"{SOTA_VERSION} (changed)"


def read_responses(records: Records, prompts: IdIndex) -> AllResponses:
    """Read the responses of known models and their scores."""
    unscored = read_unscored(records, prompts)
    total, count = sum_and_count(unscored.ids, records.batches(SCORES), "response_id", "score")
    return replace(unscored, total=total, count=count)


def read_unscored(records: Records, prompts: IdIndex) -> AllResponses:
    """Read the responses of known models without their scores."""
    source, named = _named_responses(records)
    names = records.sql(f"SELECT DISTINCT {named} AS name FROM {source} ORDER BY name")["name"]
    responses = records.sql(
        f"SELECT r.id, r.prompt_id, n.code FROM {source} JOIN (SELECT name, "
        "row_number() OVER (ORDER BY name) - 1 AS code FROM (SELECT DISTINCT "
        f"{named} AS name FROM {source}) WHERE name IS NOT NULL) n ON n.name = {named}"
    )
    codes = IdIndex(responses["id"])
    prompt = prompts.short_of(responses["prompt_id"])
    name = as_int64(responses["code"]).astype(np.int32)
    none = np.zeros(len(codes), dtype=np.int64)
    return AllResponses(prompt, name, tuple(names.drop_null().to_pylist()), none, none, codes)


def names_by_model(records: Records) -> dict[str, tuple[str, ...]]:
    """Return the names of models that responses have, by the normal form that is their identity."""
    source, named = _named_responses(records)
    names = records.sql(f"SELECT DISTINCT {named} AS name FROM {source} ORDER BY name")["name"]
    models: dict[str, tuple[str, ...]] = {}
    for name in names.drop_null().to_pylist():
        normal = slug(name)
        models[normal] = (*models.get(normal, ()), name)
    return models


def _named_responses(records: Records) -> tuple[str, str]:
    """Return the SQL of all responses, and of the name of a response's model in it."""
    if not records.has("provider_models"):
        return "responses r", "r.model"
    source = "responses r LEFT JOIN provider_models m ON m.id = r.model_id"
    return source, "coalesce(r.model, m.model, m.name)"


def _results(responses: Responses) -> _Results:
    """Return the scored responses; the model's normal form is its identity."""
    forms = [slug(name) for name in responses.names]
    distinct = tuple(sorted(set(forms)))
    place = {form: index for index, form in enumerate(distinct)}
    form_of = np.array([place[form] for form in forms], dtype=np.int32)
    model = form_of[responses.name] if len(form_of) else responses.name
    results = _Results(responses.prompt, model, responses.total, responses.count, distinct)
    return _of(results, (responses.count > 0) & (responses.prompt >= 0))


def _of(results: _Results, chosen: BoolArray) -> _Results:
    if chosen.all():
        return results
    rows = np.flatnonzero(chosen)
    return _Results(
        results.prompt[rows],
        results.model[rows],
        results.total[rows],
        results.count[rows],
        results.slugs,
    )


def _by_model(results: _Results) -> _Results:
    """Sum the responses of one model on one prompt."""
    size = max(len(results.slugs), 1)
    keys = results.prompt * np.int64(size) + results.model
    order = np.argsort(keys)
    keys = keys[order]
    opens = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if len(opens) == len(keys):
        return results
    prompt, model = np.divmod(keys[opens], size)
    return _Results(
        prompt,
        model,
        np.add.reduceat(results.total[order], opens),
        np.add.reduceat(results.count[order], opens),
        results.slugs,
    )


def model_totals(responses: Responses) -> dict[str, ModelTotals]:
    """Return the number of prompts with scores, the sum and the number of scores, by slug."""
    models = _by_model(_results(responses))
    size = len(models.slugs)
    seen = np.bincount(models.model, minlength=size)
    totals = np.zeros(size, dtype=np.int64)
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(totals, models.model, models.total)
    np.add.at(counts, models.model, models.count)
    columns = seen.tolist(), totals.tolist(), counts.tolist()
    return dict(zip(models.slugs, zip(*columns, strict=True), strict=True))


def best_models(models: Mapping[str, ModelTotals], rules: CommunityRules) -> frozenset[str]:
    """Return the best models by mean score, then slug, of those with scores on enough prompts.

    Args:
        models: number of prompts, sum and number of scores by slug.
        rules: ``sota_min_prompts`` (at least 1) and ``sota_top``.
    """
    listed = [
        (-total / count, name)
        for name, (prompts, total, count) in models.items()
        if prompts >= rules.sota_min_prompts
    ]
    return frozenset(name for _, name in sorted(listed)[: rules.sota_top])
