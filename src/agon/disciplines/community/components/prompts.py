"""Components that count a participant's prompts."""

from collections.abc import Callable, Iterable

import numpy as np

from agon.disciplines.community.components.component import (
    Component,
    Count,
    CountInEngine,
    NeedsRows,
    PromptProgress,
)
from agon.disciplines.community.components.curves import Bonus, Doubling, HIndexSquare, Linear
from agon.disciplines.community.counts import benchmarks as sets
from agon.disciplines.community.counts.models import slugs
from agon.disciplines.community.evidence import Evidence, prompt_refs
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.first_times import nth_distinct, time_of_quality
from agon.disciplines.community.formulas import (
    SCORE_GRID,
    distinct_pairs,
    distinct_per_group,
    h_indices,
    impact,
    sum_by_group,
)
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.texts import many, number
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.findings import RecordRefs

Choose = Callable[[Facts], BoolArray]
"""Returns which prompts count."""


def is_quality(facts: Facts) -> BoolArray:
    """Return which prompts have a known creator and enough positive feedback."""
    return facts.is_quality


def is_difficult(facts: Facts) -> BoolArray:
    """Return which quality prompts enough models answer wrong."""
    return facts.is_quality & (facts.difficulty.wrong >= facts.rules.min_wrong_models)


def is_sota_difficult(facts: Facts) -> BoolArray:
    """Return which quality prompts enough state-of-the-art models answer wrong."""
    return facts.is_quality & (facts.difficulty.wrong_sota >= facts.rules.min_wrong_models)


def prompts_that(name: str, choose: Choose, in_engine: CountInEngine | NeedsRows) -> Count:
    """Return the count of each participant's prompts that ``choose`` selects."""

    def count(facts: Facts) -> IntArray:
        return np.bincount(facts.creator[choose(facts)], minlength=len(facts.people))

    def records(evidence: Evidence) -> Iterable[RecordRefs]:
        own = evidence.prompts
        yield prompt_refs(evidence.facts, own[choose(evidence.facts)[own]])

    return Count(name, count, in_engine, records, one_per_record=True)


def when_reached(choose: Choose, least: Callable[[Facts], int]) -> Callable[[Facts], IntArray]:
    """Return a function for when each participant had enough prompts that ``choose`` selects."""

    def first_times(facts: Facts) -> IntArray:
        prompts, times = np.flatnonzero(choose(facts)), time_of_quality(facts)
        creators, size = facts.creator[prompts], len(facts.people)
        return nth_distinct(creators, prompts, times[prompts], least(facts), size=size)

    return first_times


def _min_quality(facts: Facts) -> int:
    return facts.rules.min_quality_prompts


def _min_difficult(facts: Facts) -> int:
    return facts.rules.min_difficult_prompts


def _positives(evidence: Evidence) -> PromptProgress:
    own, facts = evidence.prompts, evidence.facts
    return PromptProgress(own, facts.likes[own], facts.rules.min_positive_feedbacks)


def _wrong_models(evidence: Evidence) -> PromptProgress:
    return _wrong(evidence, evidence.facts.difficulty.wrong)


def _wrong_sota_models(evidence: Evidence) -> PromptProgress:
    return _wrong(evidence, evidence.facts.difficulty.wrong_sota)


def _wrong(evidence: Evidence, wrong: IntArray) -> PromptProgress:
    facts = evidence.facts
    quality = evidence.prompts[facts.is_quality[evidence.prompts]]
    return PromptProgress(quality, wrong[quality], facts.rules.min_wrong_models)


def _h_indices(facts: Facts) -> IntArray:
    known = facts.creator >= 0
    return h_indices(facts.creator[known], facts.likes[known], size=len(facts.people))


def _best_prompts(evidence: Evidence) -> Iterable[RecordRefs]:
    yield prompt_refs(evidence.facts, evidence.best(evidence.h_index))


def _quality_by_age(facts: Facts, half_life_days: float) -> FloatArray:
    prompts = np.flatnonzero(facts.is_quality)
    weights = facts.weights(facts.created[prompts], half_life_days)
    return facts.sum_by_user(facts.creator[prompts], weights)


def _impacts(facts: Facts) -> FloatArray:
    """Sum, over a participant's quality prompts, the use of benchmarks with them by others.

    Each quality prompt weighs log2(1 + n), n the distinct users other than its creator who ran
    responses on any benchmark that holds it.
    """
    users = _other_users(facts)
    steps = np.rint(impact(users[facts.is_quality]) * SCORE_GRID)
    return sum_by_group(facts.creator[facts.is_quality], steps, size=len(facts.people)) / SCORE_GRID


def _other_users(facts: Facts) -> IntArray:
    """Count, for each quality prompt, the users but its creator of the benchmarks that hold it."""
    rows = facts.records.sql(
        "SELECT DISTINCT user_id, prompt_id FROM responses WHERE user_id IS NOT NULL"
    )
    people, creator = facts.people, facts.creator
    user, prompt = people.of(rows["user_id"]), facts.prompts.of(rows["prompt_id"])
    known = (user >= 0) & (prompt >= 0)
    runner, used = sets.sets_of(facts.benchmarks, user[known], prompt[known])
    used, runner = distinct_pairs(used, runner, size=len(people))
    size = len(facts.benchmarks.sets)
    # `used` is sorted: the runners of a benchmark are a run of it.
    starts = np.searchsorted(used, np.arange(size))
    counts = np.bincount(used, minlength=size)
    index, held = facts.benchmarks.holds
    chosen = facts.is_quality[held]
    index, held = index[chosen], held[chosen]
    # A prompt held by a benchmark with n runners becomes n rows: the join, without a loop.
    run = np.repeat(np.arange(len(index)), counts[index])
    first = np.cumsum(counts[index]) - counts[index]
    who = runner[np.arange(len(run)) - first[run] + starts[index][run]]
    held = held[run]
    others = who != creator[held]
    sizes = (len(facts.prompts), len(people))
    return distinct_per_group(held[others], who[others], sizes=sizes)


def _no_wrong_answer(rules: CommunityRules) -> str | None:
    if round(rules.wrong_answer_threshold * SCORE_GRID):
        return None
    return f"no score is below {number(rules.wrong_answer_threshold)} (wrong_answer_threshold)"


def _too_few_sota(rules: CommunityRules) -> str | None:
    """Return why a prompt cannot have enough wrong state-of-the-art answers, or None."""
    dynamic = rules.sota_list == "dynamic"
    models = rules.sota_top if dynamic else len(slugs(rules.sota_models))
    needed = 1 if rules.wrong_answer_unit == "responses" else rules.min_wrong_models
    if models >= needed:
        return _no_wrong_answer(rules)
    return (
        f"{many(models, 'model')} can be state of the art "
        f"({'sota_top' if dynamic else 'sota_models'}), and {needed} must be wrong"
    )


_POSITIVE = "at least {min_positive_feedbacks} positive feedbacks"
_DIFFICULT = _POSITIVE + " and at least {min_wrong_models} wrong {wrong_answer_unit}"
_SOTA = _POSITIVE + " and at least {min_wrong_models} wrong state-of-the-art {wrong_answer_unit}"
_FEEDBACK_RULES = (
    "self_feedback",
    "repeated_feedback",
    "likes_per_creator",
    "daily_feedbacks",
)
_QUALITY_RULES = ("min_positive_feedbacks", *_FEEDBACK_RULES)
_WRONG_RULES = (
    *_QUALITY_RULES,
    "min_wrong_models",
    "wrong_answer_threshold",
    "wrong_answer_unit",
)

_QUALITY = prompts_that("quality_prompts", is_quality, lambda facts: facts.quality_prompts)

QUALITY_PROMPTS_BONUS = Component(
    "quality_prompts_bonus",
    _QUALITY,
    Bonus(earned=when_reached(is_quality, _min_quality)),
    "quality_prompts_bonus",
    noun=f"prompts with {_POSITIVE}",
    unit=f"prompt with {_POSITIVE}",
    least="min_quality_prompts",
    also=_QUALITY_RULES,
    progress=_positives,
)

DIFFICULT_PROMPTS_BONUS = Component(
    "difficult_prompts_bonus",
    prompts_that("difficult_prompts", is_difficult, lambda facts: facts.difficult_prompts),
    Bonus(earned=when_reached(is_difficult, _min_difficult)),
    "difficult_prompts_bonus",
    noun=f"prompts with {_DIFFICULT}",
    unit=f"prompt with {_DIFFICULT}",
    least="min_difficult_prompts",
    also=_WRONG_RULES,
    progress=_wrong_models,
    unattainable=_no_wrong_answer,
)

SOTA_DIFFICULT_PROMPTS_BONUS = Component(
    "sota_difficult_prompts_bonus",
    prompts_that(
        "sota_difficult_prompts", is_sota_difficult, lambda facts: facts.sota_difficult_prompts
    ),
    Bonus(earned=when_reached(is_sota_difficult, _min_difficult)),
    "sota_difficult_prompts_bonus",
    noun=f"prompts with {_SOTA}",
    unit=f"prompt with {_SOTA}",
    least="min_difficult_prompts",
    also=(*_WRONG_RULES, "sota_models", "sota_list"),
    progress=_wrong_sota_models,
    unattainable=_too_few_sota,
)

H_INDEX = Component(
    "h_index",
    Count(
        "h_index",
        _h_indices,
        lambda facts: facts.h_index,
        _best_prompts,
        one_per_record=True,
    ),
    HIndexSquare(),
    "h_index_coefficient",
    noun="h-index",
    unit="h-index",
    also=_FEEDBACK_RULES,
)

QUALITY_PROMPTS = Component(
    "quality_prompts",
    _QUALITY,
    Linear(),
    "quality_prompts_coefficient",
    noun=f"prompts with {_POSITIVE}",
    unit=f"prompt with {_POSITIVE}",
    also=(*_QUALITY_RULES, "time_decay_half_life_days"),
    aged=_quality_by_age,
)

_USE = (
    "summed over quality prompts as log2(1 + other users who ran responses on a benchmark that "
    "holds the prompt)"
)

IMPACT = Component(
    "impact",
    Count("impact", _impacts, lambda facts: facts.impact, _QUALITY.records, one_per_record=False),
    Doubling(others=_other_users),
    "impact_coefficient",
    noun=_USE,
    unit=_USE,
    switch="impact",
    also=_QUALITY_RULES,
)
