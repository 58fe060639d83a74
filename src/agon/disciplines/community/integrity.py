"""Detect possible gaming in a community; a finding never changes a score.

Each check compares a count with the value expected from the community's own data, and reports it
when its probability is below the rule ``finding_alpha``, corrected for multiple comparisons.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from agon.disciplines.community.checks import groups, handles, model_names, rings
from agon.disciplines.community.checks.exposure import Exposure
from agon.disciplines.community.counts.feedback import NO_TIME
from agon.disciplines.community.evidence import feedback_refs, prompt_refs
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.tally import Tally
from agon.kernel.findings import Check, Finding, Severity, in_order, meanings, run_checks
from agon.kernel.statistics import spearman
from agon.kernel.tails import binomial_tail, binomial_tails, poisson_tails
from agon.records import Records

_ALL_FEEDBACK = {
    "self_feedback": "count",
    "likes_per_creator": None,
    "daily_feedbacks": None,
}
_MINUTE = 60_000_000  # microseconds


@dataclass(frozen=True)
class Inspection:
    """The records of a community to be checked."""

    records: Records
    rules: CommunityRules

    @cached_property
    def facts(self) -> Facts:
        """Return the arrays with all feedback, whether or not the rules count it."""
        return Facts(self.records, self.rules.model_copy(update=_ALL_FEEDBACK))


def find(records: Records, rules: CommunityRules) -> list[Finding]:
    """Return the findings, most severe first."""
    return in_order(run_checks(TABLE, Inspection(records, rules)))


def _threshold_hugging(facts: Facts) -> Iterator[Finding]:
    """Compare the number of users exactly at both thresholds with that expected from users above.

    Of a user with K > m quality prompts, e of them exactly at the threshold, m drawn at random are
    all exactly there with probability C(e, m) / C(K, m). The mean over all such users is the
    probability for each user with exactly m quality prompts, whose number is then binomial.
    """
    needed, least = facts.rules.min_quality_prompts, facts.rules.min_positive_feedbacks
    size = len(facts.people)
    quality = facts.is_quality
    exact = quality & (facts.likes == least)
    has = np.bincount(facts.creator[quality], minlength=size)
    at_least = np.bincount(facts.creator[exact], minlength=size)
    level = has == needed
    hugging = np.flatnonzero(level & (at_least == needed))
    above = np.flatnonzero(has > needed)
    drawn = sum(
        comb(int(e), needed) / comb(int(k), needed)
        for e, k in zip(at_least[above], has[above], strict=True)
    )
    # Half a user is added, so that there is no finding without a comparison.
    usual, tried = float(drawn + 0.5) / (len(above) + 1), int(level.sum())
    expected = tried * usual
    if not len(hugging):
        return
    chance = binomial_tail(len(hugging), trials=tried, chance=usual)
    if chance >= facts.rules.finding_alpha:
        return
    names = facts.names(hugging)
    yield Finding(
        "threshold-hugging",
        Severity.WARNING,
        tuple(names),
        "people exactly at both thresholds",
        float(len(hugging)),
        expected,
        chance,
        f"{len(hugging)} people have exactly {needed} prompts with exactly {least} positive "
        f"feedbacks each; the community's own prompts predict {expected:.2f}",
        (prompt_refs(facts, np.flatnonzero(exact & np.isin(facts.creator, hugging))),),
    )


def _self_feedback(facts: Facts) -> Iterator[Finding]:
    """Compare each user's feedback on own prompts with the rate of others on those prompts."""
    feedback, seen = facts.feedback, Exposure.of(facts)
    own = seen.author == feedback.user
    size = len(facts.people)
    counts = np.bincount(feedback.user[own], minlength=size)
    who = np.flatnonzero(counts)
    rated = seen.sent[who]
    share = seen.share(who, away=who, on=counts[who])
    chance = binomial_tails(counts[who], trials=rated, chances=share)
    tested = max(int(((seen.sent > 0) & (seen.received > 0)).sum()), 1)
    for index in np.flatnonzero(chance * tested < facts.rules.finding_alpha).tolist():
        person = int(who[index])
        (name,) = facts.names([person])
        rows = np.flatnonzero(own & (feedback.user == person))
        expected = float(rated[index] * share[index])
        yield Finding(
            "self-feedback",
            Severity.WARNING,
            (name,),
            "feedbacks on own prompts",
            float(counts[person]),
            expected,
            float(chance[index]),
            f"{name} gave {counts[person]} of {rated[index]} feedbacks on own prompts; everybody "
            f"else's feedback predicts {expected:.2f}",
            (feedback_refs(facts, rows),),
        )


def _one_target(facts: Facts) -> Iterator[Finding]:
    """Compare the share of each user's most-rated creator with all other users' feedback."""
    rules, seen = facts.rules, Exposure.of(facts)
    user, author, count = seen.pairs(facts.feedback.user, np.ones(len(seen.author), dtype=bool))
    keep = user != author
    user, author, count = user[keep], author[keep], count[keep]
    # The last pair of each user is that of the creator rated most.
    order = np.lexsort((author, count, user))
    last = np.ones(len(order), dtype=bool)
    last[:-1] = user[order[1:]] != user[order[:-1]]
    best = order[last]
    busy = seen.sent[user[best]] >= rules.one_target_feedbacks
    best = best[busy]
    # Bonferroni: as many tests as busy users, counted before the share chooses among them.
    tested = max(len(best), 1)
    best = best[count[best] >= rules.one_target_share * seen.sent[user[best]]]
    who, favorite, rated = user[best], author[best], seen.sent[user[best]]
    share = seen.share(favorite, away=who, on=count[best])
    chance = binomial_tails(count[best], trials=rated, chances=share)
    for index in np.flatnonzero(chance * tested < rules.finding_alpha).tolist():
        name, target = facts.names([int(who[index]), int(favorite[index])])
        rows = np.flatnonzero(
            (facts.feedback.user == who[index]) & (seen.author == favorite[index])
        )
        part = float(count[best[index]] / rated[index])
        yield Finding(
            "one-target-reviewer",
            Severity.WARNING,
            (name, target),
            "share of feedback on one creator",
            part,
            float(share[index]),
            float(chance[index]),
            f"{name} gave {count[best[index]]} of {rated[index]} feedbacks on prompts of {target}; "
            f"everybody else gave them {share[index]:.2%}",
            (feedback_refs(facts, rows),),
        )


def _bursts(facts: Facts) -> Iterator[Finding]:
    """Compare each user's fullest window with the same feedback spread evenly over time."""
    rules, feedback = facts.rules, facts.feedback
    user = np.concatenate([feedback.user, feedback.other_user])
    times = np.concatenate([facts.feedback.time, facts.feedback.other_time])
    timed = np.flatnonzero(times != NO_TIME)
    if not len(timed):
        return
    window = int(rules.burst_minutes * _MINUTE)
    start = int(times[timed].min())
    span = int(times[timed].max()) - start + 1
    order = timed[np.lexsort((times[timed], user[timed]))]
    line = user[order] * np.int64(span + window + 1) + (times[order] - start)
    inside = np.searchsorted(line, line + window, side="right") - np.arange(len(line))
    who = user[order]
    opens = np.flatnonzero(np.concatenate([[True], who[1:] != who[:-1]]))
    fullest = np.maximum.reduceat(inside, opens)
    total = np.diff(np.concatenate([opens, [len(who)]]))
    mean = total * min(window / span, 1.0)
    suspects = np.flatnonzero(fullest >= rules.burst_feedbacks)
    chances = poisson_tails(fullest[suspects] - 1, means=mean[suspects])
    for row, chance in zip(suspects.tolist(), chances.tolist(), strict=True):
        # Each feedback of each user may start a window.
        if chance * len(who) >= rules.finding_alpha:
            continue
        first = opens[row] + int(np.argmax(inside[opens[row] : opens[row] + total[row]]))
        rows = order[first : first + fullest[row]]
        (name,) = facts.names([int(who[first])])
        yield Finding(
            "feedback-burst",
            Severity.WARNING,
            (name,),
            f"most feedbacks within {rules.burst_minutes:g} minutes",
            float(fullest[row]),
            float(mean[row]),
            min(1.0, float(chance * total[row])),
            f"{name} gave {fullest[row]} feedbacks within {rules.burst_minutes:g} minutes; spread "
            f"evenly, {total[row]} feedbacks give {mean[row]:.2g} in such a window",
            (feedback_refs(facts, rows),),
        )


def _cross_validation(inspection: Inspection) -> Iterator[Finding]:
    """Correlate the scores with the external reputation of the users who have one (opt-in)."""
    if not inspection.rules.cross_validation:
        return
    facts = Facts(inspection.records, inspection.rules)
    rows = facts.records.sql("SELECT id, reputation FROM users WHERE reputation IS NOT NULL")
    who = facts.people.of(rows["id"])
    if not len(who):
        return
    scores = Tally(facts).totals
    confidence = facts.rules.cross_validation_confidence
    rho = spearman(scores[who], rows["reputation"].to_numpy(), confidence=confidence)
    yield Finding(
        "cross-validation",
        Severity.INFO,
        (),
        "Spearman's rho of score and reputation",
        rho.value,
        0.0,
        None,
        f"scores and reputation of {rho.pairs} people agree at rho = {rho.value:.3f} "
        f"({confidence:.0%} interval {rho.interval.low:.3f} to {rho.interval.high:.3f})",
    )


TABLE: tuple[Check[Inspection], ...] = (
    Check(
        "threshold-hugging",
        "users with exactly as many quality prompts as their bonus needs, each with exactly the "
        "positives it needs, more often than the prompts of users just above it predict",
        lambda inspection: _threshold_hugging(inspection.facts),
    ),
    Check(
        "self-feedback",
        "users who rate their own prompts more often than by chance",
        lambda inspection: _self_feedback(inspection.facts),
    ),
    Check(
        "reciprocal-ring",
        "users who like each other's prompts, in pairs or circles, far more than all other users "
        "like those prompts",
        lambda inspection: rings.find(inspection.facts),
    ),
    Check(
        "feedback-burst",
        "more feedback of one user within a short time than a person can read",
        lambda inspection: _bursts(inspection.facts),
    ),
    Check(
        "one-target-reviewer",
        "users who give nearly all their feedback to one creator, far above that creator's "
        "share of all other users' feedback",
        lambda inspection: _one_target(inspection.facts),
    ),
    Check(
        "near-duplicate-handle",
        "handles that differ only in look-alike letters, separators or one letter",
        lambda inspection: handles.find(inspection.facts),
    ),
    Check(
        "model-spellings",
        "models whose names have the same words and numbers, however separated",
        lambda inspection: model_names.find(inspection.records),
    ),
    Check(
        "target-group",
        "three or more users who together like one creator's prompts far more than all other users "
        "do (opt-in rule)",
        lambda inspection: groups.find(inspection.facts),
    ),
    Check(
        "cross-validation",
        "how well the scores agree with an external reputation (opt-in rule)",
        _cross_validation,
    ),
)
"""The checks, in the order in which they run."""

CHECKS = meanings(TABLE)
"""The meaning of each check by the code of its findings."""
