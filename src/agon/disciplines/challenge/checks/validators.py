"""Check validators: outliers, copied reports, concentrated stake, votes for one miner."""

from collections.abc import Iterator

import numpy as np

from agon.disciplines.challenge.consensus import Reports
from agon.disciplines.challenge.evidence import Evidence
from agon.disciplines.challenge.facts import Facts
from agon.disciplines.challenge.reasons import percent
from agon.kernel.agreement.pairwise import PairwiseAgreement, pairwise_agreement
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.rounding import publish
from agon.kernel.tails import binomial_tails

CHANCE = 0.001
"""Probability of a false finding per check on an honest network, divided among its tests."""

REPEATED = 3
"""Minimum number of events for a repeated pattern."""

COMMON = 20
"""Minimum number of common evaluations for comparing two validators."""

_ONLY_ONE = "; it is the only one that still evaluates, the others' reports are old"
FAR = 3.0
"""Number of robust standard deviations above the others for a finding."""


def outlier_record(facts: Facts, evidence: Evidence, *, alone: int | None) -> Iterator[Finding]:
    """Report validators flagged more often than the others are, by a binomial tail.

    ``alone`` is the validator that goes on evaluating while the others stopped: it differs from
    old reports, which the message says.
    """
    people = len(facts.validators)
    tested = np.bincount(evidence.validators[evidence.tested], minlength=people)
    flagged = np.bincount(evidence.validators[evidence.flagged], minlength=people)
    usual = _rate_of_others(flagged, tested)
    chances = binomial_tails(flagged, trials=tested, chances=usual)
    reported = (flagged >= REPEATED) & (chances < CHANCE / max(1, people))
    for row in np.flatnonzero(reported).tolist():
        name, share = facts.validators[row], float(flagged[row] / tested[row])
        theirs = evidence.flagged & (evidence.validators == row)
        remark = _ONLY_ONE if row == alone else ""
        yield Finding(
            "outlier-record",
            Severity.INFO if row == alone else Severity.WARNING,
            (name,),
            "share of evaluations that are outliers",
            publish(share),
            publish(float(usual[row])),
            float(chances[row]),
            f"{flagged[row]} of {tested[row]} evaluations by {name} are outliers "
            f"({percent(share)}); of the other validators' "
            f"{percent(float(usual[row]))} are{remark}",
            (_validators([name]), _submissions(facts, evidence.submissions[theirs])),
        )


def copied_reports(facts: Facts, evidence: Evidence) -> Iterator[Finding]:
    """Report validators whose numbers repeat another's of the same epoch, by a binomial tail.

    The chance is taken at the larger of two rates: how often two independent validators agree,
    and how often these two agree with all other validators.
    """
    items = _items(evidence, evidence.epochs)
    codes = _codes(items, evidence.scores)
    agreement = pairwise_agreement(items, evidence.validators, codes, min_common=COMMON)
    yield from _copy_findings(
        facts, agreement, np.ones(len(agreement), dtype=bool), "copying-validators"
    )


def lagging_reports(facts: Facts, evidence: Evidence) -> Iterator[Finding]:
    """Report validators whose numbers repeat another's of the epoch before.

    A validator's numbers of the previous epoch count as those of another judge, where they differ
    from its present ones (else to repeat them would be to agree).
    """
    people = len(facts.validators)
    items, judges, scores = _with_shadows(evidence, people)
    agreement = pairwise_agreement(items, judges, _codes(items, scores), min_common=COMMON)
    pairs = (agreement.first < people) & (agreement.second >= people)
    pairs &= agreement.second - people != agreement.first
    yield from _copy_findings(facts, agreement, pairs, "lagging-validators")


def _copy_findings(
    facts: Facts, agreement: PairwiseAgreement, pairs: BoolArray, code: str
) -> Iterator[Finding]:
    """Report those of ``pairs`` that agree more often than chance, and more often than not."""
    reported = pairs & (agreement.probability < CHANCE / max(1, int(pairs.sum())))
    reported &= 2 * agreement.agreed > agreement.common
    for index in np.flatnonzero(reported).tolist():
        name = facts.validators[int(agreement.first[index])]
        other = facts.validators[int(agreement.second[index]) % len(facts.validators)]
        agreed, common = int(agreement.agreed[index]), int(agreement.common[index])
        usual = float(agreement.expected[index])
        what = (
            f"{name} and {other} report the same number"
            if code == "copying-validators"
            else f"{name} reports what {other} reported an epoch before"
        )
        yield Finding(
            code,
            Severity.WARNING,
            (name, other),
            "share of equal scores",
            publish(agreed / common),
            publish(usual),
            float(agreement.probability[index]),
            f"{what} in {agreed} of {common} evaluations; {percent(usual)} would be usual",
            (_validators([name, other]),),
        )


def _items(evidence: Evidence, epochs: IntArray) -> IntArray:
    """Number what can be agreed on: a submission in an epoch."""
    first = epochs.min(initial=0)
    span = int(epochs.max(initial=0) - first) + 1
    _, items = np.unique(evidence.submissions * span + (epochs - first), return_inverse=True)
    return items


def _with_shadows(evidence: Evidence, people: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Add each validator's evaluation of the previous epoch as one by judge + ``people``."""
    items = _items(evidence, evidence.epochs)
    order = np.argsort(items * people + evidence.validators)  # by submission, then epoch
    order = order[np.argsort(evidence.validators[order], kind="stable")]
    before, after = order[:-1], order[1:]
    follows = (
        (evidence.validators[before] == evidence.validators[after])
        & (evidence.submissions[before] == evidence.submissions[after])
        & (evidence.epochs[before] + 1 == evidence.epochs[after])
        & (evidence.scores[before] != evidence.scores[after])
    )
    before, after = before[follows], after[follows]
    return (
        np.concatenate([items, items[after]]),
        np.concatenate([evidence.validators, evidence.validators[before] + people]),
        np.concatenate([evidence.scores, evidence.scores[before]]),
    )


def _codes(items: IntArray, scores: FloatArray) -> IntArray:
    """Number the distinct scores of each item from 0, the lowest first."""
    values, places = np.unique(scores, return_inverse=True)
    order = np.argsort(items * len(values) + places)
    new_item = np.ones(len(items), dtype=bool)
    new_item[1:] = items[order][1:] != items[order][:-1]
    step = np.zeros(len(items), dtype=np.int64)
    step[1:] = scores[order][1:] != scores[order][:-1]
    step[new_item] = 0
    running = np.cumsum(step)
    starts = np.maximum.accumulate(np.where(new_item, np.arange(len(items)), 0))
    codes = np.empty(len(items), dtype=np.int64)
    codes[order] = running - running[starts] if len(items) else running
    return codes


def stake_concentration(facts: Facts, reports: Reports) -> Iterator[Finding]:
    """Report a validator with more than half of the stake: the weighted mean follows it."""
    total = float(np.sort(reports.stakes).sum())
    for index in np.flatnonzero(reports.stakes > total / 2).tolist():
        name, share = facts.validators[index], float(reports.stakes[index] / total)
        even = 1 / int(reports.registered.sum())
        yield Finding(
            "stake-concentration",
            Severity.WARNING,
            (name,),
            "share of stake",
            publish(share),
            publish(even),
            None,
            f"{name} holds {percent(share)} of the stake at epoch {reports.epoch}, so that it "
            f"decides alone; an even share would be {percent(even)}",
            (_validators([name]),),
        )


def self_serving_votes(facts: Facts, evidence: Evidence, *, alone: int | None) -> Iterator[Finding]:
    """Report validators who are far above the median for one miner and not for the others.

    A validator's own leniency (its median distance from the others) is taken off first; far is
    :data:`FAR` robust standard deviations. The chance is a binomial tail at the larger of two
    rates: that of all others, and the validator's own for other miners. ``alone`` is as for
    :func:`outlier_record`: who measures an improved miner again favors nobody.
    """
    rows = np.flatnonzero(evidence.tested)
    if not len(rows):
        return
    validators = evidence.validators[rows]
    above = evidence.scores[rows] - evidence.medians[rows]
    above = above - _medians_by(validators, above, len(facts.validators))[validators]
    # The median absolute deviation over .6745 is a normal standard deviation.
    deviation = float(np.median(np.abs(above - np.median(above)))) / 0.6745
    far = above > max(FAR * deviation, 1e-9)
    uids, miners = np.unique(
        facts.submissions.owners[evidence.submissions[rows]], return_inverse=True
    )
    # Validator and miner in one number: one test per pair.
    pairs, pair_index = np.unique(validators * len(uids) + miners, return_inverse=True)
    count, times = np.bincount(pair_index), np.bincount(pair_index, weights=far).astype(np.int64)
    who = pairs // len(uids)
    made = np.bincount(validators, minlength=len(facts.validators))
    own = np.bincount(validators, weights=far, minlength=len(facts.validators))
    # A validator who is far above for everybody favors no miner.
    elsewhere = (own[who] - times) / np.maximum(1, made[who] - count)
    usual = np.maximum(_rate_of_others(times, count), elsewhere)
    chances = binomial_tails(times, trials=count, chances=usual)
    reported = (times >= REPEATED) & (chances < CHANCE / len(pairs))
    for row in np.flatnonzero(reported).tolist():
        name = facts.validators[int(who[row])]
        remark = _ONLY_ONE if int(who[row]) == alone else ""
        uid = facts.submissions.owner_name(int(uids[int(pairs[row]) % len(uids)]))
        share = float(times[row] / count[row])
        theirs = rows[far & (pair_index == row)]
        yield Finding(
            "self-serving-votes",
            Severity.INFO if remark else Severity.WARNING,
            (name, uid),
            "share of evaluations far above the others",
            publish(share),
            publish(float(usual[row])),
            float(chances[row]),
            f"{name} is far above the others in {times[row]} of {count[row]} evaluations of miner "
            f"{uid}; {percent(float(usual[row]))} would be usual{remark}",
            (_validators([name]), _submissions(facts, evidence.submissions[theirs])),
        )


def _medians_by(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    medians = np.zeros(count)
    order = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[order], np.arange(count + 1))
    for index in range(count):
        mine = values[order[bounds[index] : bounds[index + 1]]]
        medians[index] = np.median(mine) if len(mine) else 0.0
    return medians


def _rate_of_others(times: IntArray, flagged: IntArray) -> FloatArray:
    """Return the rate of all others together for each, half a case added so that it is above 0."""
    return (times.sum() - times + 0.5) / (flagged.sum() - flagged + 1.0)


def _validators(names: list[str]) -> RecordRefs:
    return RecordRefs.of("validators", names)


def _submissions(facts: Facts, numbers: IntArray) -> RecordRefs:
    return RecordRefs.of(
        "submissions", [facts.submissions.ids[index] for index in np.unique(numbers).tolist()]
    )
