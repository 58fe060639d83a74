"""Count, for each prompt, the models that got it wrong."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.formulas import SCORE_GRID, are_wrong
from agon.disciplines.community.id_index import IdIndex, as_int64, sum_and_count
from agon.disciplines.community.models import slug, slugs
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.marks import AnyInts
from agon.records import Records

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]


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
    """Every response of a known model: prompt, model, and what its scores add up to.

    Attributes:
        ids: their codes.
        prompt: the prompt of each, −1 where unknown.
        name: the place of its model's name in ``names``.
        names: the distinct names of models.
        total: the sum of its scores in steps of ``SCORE_GRID``.
        count: the number of its scores.
    """

    ids: IdIndex
    prompt: ShortArray
    name: ShortArray
    names: tuple[str, ...]
    total: IntArray
    count: IntArray


@dataclass(frozen=True)
class _Results:
    """Every scored response: its prompt, its model, the sum and number of its scores."""

    prompt: AnyInts
    model: AnyInts
    total: IntArray
    count: IntArray
    slugs: tuple[str, ...]


def count_wrong(responses: Responses, rules: CommunityRules, *, looked_at: BoolArray) -> Difficulty:
    """Return the number of wrong models on the selected prompts; the others get 0.

    Args:
        responses: the scored responses.
        rules: what is wrong, what is counted, what is state of the art.
        looked_at: by prompt, those whose difficulty matters.
    """
    results = _results(responses)
    sota = slugs(rules.sota_models)
    if rules.sota_list == "dynamic":
        sota = _best(results, rules)
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


def read_responses(records: Records, prompts: IdIndex) -> Responses:
    """Read the responses of known models and their scores."""
    source, named = "responses r", "r.model"
    if records.has("provider_models"):
        source += " LEFT JOIN provider_models m ON m.id = r.model_id"
        named = "coalesce(r.model, m.model, m.name)"
    names = records.sql(f"SELECT DISTINCT {named} AS name FROM {source} ORDER BY name")["name"]
    responses = records.sql(
        f"SELECT r.id, r.prompt_id, n.code FROM {source} JOIN (SELECT name, "
        "row_number() OVER (ORDER BY name) - 1 AS code FROM (SELECT DISTINCT "
        f"{named} AS name FROM {source}) WHERE name IS NOT NULL) n ON n.name = {named}"
    )
    codes = IdIndex(responses["id"])
    prompt = prompts.short_of(responses["prompt_id"])
    name = as_int64(responses["code"]).astype(np.int32)
    del responses
    total, count = sum_scores(records, codes)
    return Responses(codes, prompt, name, tuple(names.drop_null().to_pylist()), total, count)


def sum_scores(records: Records, responses: IdIndex) -> tuple[IntArray, IntArray]:
    """Return the sum of each response's scores in steps of ``SCORE_GRID``, and their number."""
    scores = records.batches(
        f"SELECT response_id, round(score * {SCORE_GRID})::BIGINT AS score FROM scores"
    )
    return sum_and_count(responses, scores, "response_id", "score")


def _results(responses: Responses) -> _Results:
    """Return the scored responses; the model's normal form is its identity."""
    forms = [slug(name) for name in responses.names]
    distinct = tuple(sorted(set(forms)))
    place = {form: at for at, form in enumerate(distinct)}
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


def _best(results: _Results, rules: CommunityRules) -> frozenset[str]:
    """Return the community's own best models: highest mean score over enough prompts.

    Order: mean (on the grid of scores) descending, then slug.
    """
    models = _by_model(results)
    size = len(models.slugs)
    seen = np.bincount(models.model, minlength=size)
    totals = np.zeros(size, dtype=np.int64)
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(totals, models.model, models.total)
    np.add.at(counts, models.model, models.count)
    return best_models(
        [
            (models.slugs[at], int(seen[at]), int(totals[at]), int(counts[at]))
            for at in range(size)
            if seen[at]
        ],
        rules,
    )


def best_models(
    models: Iterable[tuple[str, int, int, int]], rules: CommunityRules
) -> frozenset[str]:
    """Return the best models by mean score, then slug, of those with scores on enough prompts.

    Args:
        models: slug, number of prompts, sum and number of scores of each.
        rules: ``sota_min_prompts`` and ``sota_top``.
    """
    listed = [
        (-total / count, name)
        for name, prompts, total, count in models
        if prompts >= rules.sota_min_prompts
    ]
    return frozenset(name for _, name in sorted(listed)[: rules.sota_top])
