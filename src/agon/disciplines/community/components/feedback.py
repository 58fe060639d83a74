"""Components that count the feedback a participant gave, and when they were active."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from agon.disciplines.community.components.component import Component, Count
from agon.disciplines.community.components.curves import (
    Bonus,
    Linear,
    ReviewCorrelation,
    prompts_with_reviews,
)
from agon.disciplines.community.counts import benchmarks as sets
from agon.disciplines.community.counts.feedback import NO_TIME, on_others, on_prompts
from agon.disciplines.community.evidence import Evidence, prompt_refs, set_refs, user_refs
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.first_times import nth_distinct
from agon.disciplines.community.formulas import distinct_items, distinct_per_group
from agon.disciplines.community.relational import Relations, Table
from agon.disciplines.community.relational_facts import per_user
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.findings import RecordRefs
from agon.kernel.marks import Lists, count_reached, count_rows
from agon.kernel.rounding import publish


def _benchmarks(facts: Facts) -> IntArray:
    return _distinct(facts, sets.by_prompt(facts.benchmarks, prompts=len(facts.prompts)))


def _benchmarks_in_engine(relations: Relations) -> Table:
    joined = relations.feedback.join(
        relations.holds, relations.feedback.prompt == relations.holds.prompt
    )
    return per_user(joined.select("user", "set").distinct())


def _benchmark_records(evidence: Evidence) -> Iterable[RecordRefs]:
    prompt = evidence.facts.feedback.prompt[evidence.feedback_rows]
    reviewed = np.unique(sets.sets_of(evidence.facts.benchmarks, prompt, prompt)[1])
    yield set_refs(evidence.facts, reviewed)


def _benchmarks_earned(facts: Facts) -> IntArray:
    feedback, least = facts.feedback, facts.rules.min_feedback_benchmarks
    row, index = sets.sets_of(facts.benchmarks, np.arange(len(feedback.user)), feedback.prompt)
    return nth_distinct(
        feedback.user[row], index, feedback.time[row], least, size=len(facts.people)
    )


def _creators(facts: Facts) -> IntArray:
    return _distinct(facts, Lists.of_labels(facts.creator, size=len(facts.people)))


def _distinct(facts: Facts, lists: Lists) -> IntArray:
    """Count, for each user, the distinct items in the lists of the prompts with their feedback."""
    feedback = facts.feedback
    if feedback.grouped is not None:
        return count_reached(feedback.grouped, lists)
    return distinct_items(feedback.user, feedback.prompt, lists, size=len(facts.people))


def _creator_records(evidence: Evidence) -> Iterable[RecordRefs]:
    author = evidence.facts.creator[evidence.facts.feedback.prompt[evidence.feedback_rows]]
    yield user_refs(evidence.facts, np.unique(author[author >= 0]))


def _creators_earned(facts: Facts) -> IntArray:
    feedback, least = facts.feedback, facts.rules.min_feedback_users
    author = facts.creator[feedback.prompt]
    known = author >= 0
    return nth_distinct(
        feedback.user[known], author[known], feedback.time[known], least, size=len(facts.people)
    )


def _activity(facts: Facts) -> IntArray:
    feedback, size = facts.feedback, len(facts.people)
    activity = count_rows(feedback.user, size=size)
    if facts.rules.feedback_targets == "all":
        activity = activity + count_rows(feedback.other_user, size=size)
    return activity


def _activity_by_age(facts: Facts, half_life_days: float) -> FloatArray:
    feedback = facts.feedback
    users, times = feedback.user, feedback.time
    if facts.rules.feedback_targets == "all":
        users = np.concatenate([users, feedback.other_user])
        times = np.concatenate([times, feedback.other_time])
    return facts.sum_by_user(users, facts.weights(times, half_life_days))


def _feedback_records(evidence: Evidence) -> Iterable[RecordRefs]:
    facts, feedback = evidence.facts, evidence.facts.feedback
    parts = [(on_prompts(), feedback.row[evidence.feedback_rows])]
    if facts.rules.feedback_targets == "all":
        other = feedback.other_row[feedback.other_user == evidence.person]
        parts.append((on_others(facts.records), other))
    names: list[str] = []
    for where, indices in parts:
        rows = facts.records.sql(
            "SELECT coalesce(id::VARCHAR, 'row ' || _row) AS name, ordinal FROM (SELECT id, "
            "_row, user_id, row_number() OVER () - 1 AS ordinal FROM quick_feedbacks "
            f"WHERE {where}) WHERE user_id = {evidence.literal} ORDER BY _row"
        )
        counted = np.isin(rows["ordinal"].to_numpy(), indices)
        names += rows["name"].filter(pa.array(counted)).to_pylist()
    yield RecordRefs.of("quick_feedbacks", names)


def _months(facts: Facts) -> IntArray:
    feedback = facts.feedback
    return distinct_months(
        users=np.concatenate([facts.creator, feedback.user, feedback.other_user]),
        times=np.concatenate([facts.created, feedback.time, feedback.other_time]),
        size=len(facts.people),
    )


def _months_in_engine(relations: Relations) -> Table:
    rows = relations.prompts.filter(relations.prompts.creator.notnull()).select(
        "time", user="creator"
    )
    rows = rows.select("user", "time").union(relations.feedback.select("user", "time"))
    rows = rows.union(relations.other_feedback.select("user", "time"))
    rows = rows.filter(rows.time.notnull())
    month = rows.time.year() * 12 + rows.time.month()
    return per_user(rows.select("user", month=month).distinct())


def distinct_months(*, users: IntArray, times: IntArray, size: int) -> IntArray:
    """Count each user's distinct UTC calendar months; what has no time is in none.

    Args:
        users: who did something, 0 … size − 1, or −1 where unknown.
        times: when, in microseconds since 1970, or ``NO_TIME``.
        size: number of users.

    Returns:
        One count per user.

    Example:
        >>> times = np.array([0, 5, 3_000_000_000_000, NO_TIME])  # the third on 4 February 1970
        >>> distinct_months(users=np.array([0, 0, 0, 1]), times=times, size=2).tolist()
        [2, 0]
    """
    known = (users >= 0) & (times != NO_TIME)
    month = times[known].astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    month -= month.min(initial=0)
    return distinct_per_group(users[known], month, sizes=(size, int(month.max(initial=0)) + 1))


def _month_records(evidence: Evidence) -> Iterable[RecordRefs]:
    yield prompt_refs(evidence.facts, evidence.prompts)
    yield from _feedback_records(evidence)


def _correlations(facts: Facts) -> FloatArray:
    correlations = facts.correlations
    ranked = correlations.reviewed >= facts.rules.min_reviewer_prompts
    return np.where(ranked, publish(correlations.r), 0.0)


def _reviewed_prompts(evidence: Evidence) -> Iterable[RecordRefs]:
    facts = evidence.facts
    needed = prompts_with_reviews(facts.rules)
    prompts = facts.feedback.prompt[evidence.feedback_rows]
    yield prompt_refs(facts, prompts[facts.reviews[prompts] >= needed])


def _on_others(rules: CommunityRules) -> str:
    return ", on prompts of other users" if rules.self_feedback == "ignore" else ""


def _of_others(rules: CommunityRules) -> str:
    return " other than this user" if rules.self_feedback == "ignore" else ""


def _on_a_prompt(rules: CommunityRules) -> str:
    if rules.self_feedback == "ignore":
        what = " on a prompt of another user"
    else:
        what = " on a prompt" if rules.feedback_targets == "prompts" else ""
    most = rules.daily_feedbacks
    return what if most is None else f"{what}, of at most {most} a day"


DIVERSE_FEEDBACK_BENCHMARKS = Component(
    "diverse_feedback_benchmarks",
    Count(
        "diverse_feedback_benchmarks",
        _benchmarks,
        lambda facts: facts.by_query(_benchmarks_in_engine),
        _benchmark_records,
        one_per_record=True,
    ),
    Bonus(earned=_benchmarks_earned),
    "diverse_feedback_benchmarks_bonus",
    noun="benchmarks with feedback on their prompts",
    unit="benchmark with feedback on one of its prompts",
    least="min_feedback_benchmarks",
    also=("self_feedback", *sets.RULES),
    condition=_on_others,
)

DIVERSE_FEEDBACK_USERS = Component(
    "diverse_feedback_users",
    Count(
        "diverse_feedback_users",
        _creators,
        lambda facts: facts.diverse_feedback_users,
        _creator_records,
        one_per_record=True,
    ),
    Bonus(earned=_creators_earned),
    "diverse_feedback_users_bonus",
    noun="creators with feedback on their prompts",
    unit="creator with feedback on one of their prompts",
    least="min_feedback_users",
    also=("self_feedback",),
    condition=_of_others,
)

FEEDBACK_ACTIVITY = Component(
    "feedback_activity",
    Count(
        "feedback_activity",
        _activity,
        lambda facts: facts.feedback_activity,
        _feedback_records,
        one_per_record=True,
    ),
    Linear(),
    "feedback_activity_coefficient",
    noun="feedbacks given",
    unit="feedback given",
    also=(
        "feedback_targets",
        "self_feedback",
        "repeated_feedback",
        "daily_feedbacks",
        "time_decay_half_life_days",
    ),
    aged=_activity_by_age,
    condition=_on_a_prompt,
)

CONSISTENCY = Component(
    "consistency",
    Count(
        "consistency",
        _months,
        lambda facts: facts.by_query(_months_in_engine),
        _month_records,
        one_per_record=False,
    ),
    Linear(),
    "consistency_coefficient",
    noun="months (UTC) with a prompt or a feedback",
    unit="month (UTC) with a prompt or a feedback",
    switch="consistency",
    condition=_on_others,
)

REVIEW_QUALITY = Component(
    "review_quality",
    Count(
        "review_quality",
        _correlations,
        _correlations,
        _reviewed_prompts,
        one_per_record=False,
    ),
    ReviewCorrelation(),
    "review_quality_coefficient",
    noun="correlation with the other reviewers",
    unit="correlation",
    least="min_review_correlation",
    switch="review_quality",
    also=("min_prompt_reviews", "min_reviewer_prompts"),
)
