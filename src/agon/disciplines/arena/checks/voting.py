"""Detect voting patterns of judges: for one bot, for one label, against audits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.facts import API, HONEYPOT, RATED, Facts
from agon.disciplines.arena.formulas import NONE, TIE, Codes, Ints
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.agreement.pairwise import pairwise_agreement
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.rounding import publish
from agon.kernel.tails import binomial_tail

Numbers = npt.NDArray[np.int32]


def severity_of(probability: float, *, comparisons: int, rules: ArenaRules) -> Severity:
    """Return a finding's severity: a warning when improbable after correction for comparisons."""
    surprising = probability < rules.surprise / max(comparisons, 1)
    return Severity.WARNING if surprising else Severity.INFO


@dataclass(frozen=True, eq=False)
class RecentVotes:
    """The last votes of every judge, by judge, oldest first."""

    judge: Numbers
    match: Numbers
    side: Codes
    label: Codes

    def of(self, judge: int) -> slice:
        """Return one judge's votes."""
        first, last = np.searchsorted(self.judge, [judge, judge + 1])
        return slice(int(first), int(last))


def recent_votes(facts: Facts, *, kinds: tuple[int, ...], most: int) -> RecentVotes:
    """Return every judge's last votes on some kinds of matches: by time, then order of play."""
    votes = facts.votes
    counted = np.flatnonzero(np.isin(facts.matches.kind[votes.match], kinds))
    if not _is_in_time(votes.judge[counted], votes.voted[counted]):
        by_time = np.lexsort((votes.match[counted], votes.voted[counted], votes.judge[counted]))
        counted = counted[by_time]
    order, judge = counted, votes.judge[counted]
    ends = np.searchsorted(judge, judge, side="right")
    last = order[ends - np.arange(len(order)) <= most]
    return RecentVotes(votes.judge[last], votes.match[last], votes.side[last], votes.label[last])


def _is_in_time(judge: Numbers, voted: Ints) -> bool:
    """Return whether each judge's votes, which are in order of play, are in order of time."""
    earlier = voted[1:] < voted[:-1]
    return not (earlier & (judge[1:] == judge[:-1])).any()


def vote_refs(facts: Facts, judge: int, matches: Ints | Numbers) -> RecordRefs:
    """Return references to a judge's votes by their key, ``match/judge``."""
    name = facts.judges.ids[judge]
    return RecordRefs.of("votes", [f"{match}/{name}" for match in facts.matches.names(matches)])


def collusion(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report judges whose recent votes went to one bot more often than ``collusion_votes``.

    Given how often the judge saw the bot, a vote for it is taken as likely as other
    judges make it: share = (their votes for it + 1) / (their votes on its matches + 2).
    """
    recent = recent_votes(facts, kinds=(RATED,), most=rules.recent_votes)
    bots = len(facts.bots)
    pairs = _stood(facts, recent.match)
    judge = recent.judge.astype(np.int64)
    appearances = np.concatenate([judge * bots + bot for bot in pairs])
    voted = np.concatenate(
        [(judge * bots + bot)[recent.side == code] for code, bot in enumerate(pairs)]
    )
    exposed, times = np.unique(appearances, return_counts=True)
    comparisons = int(np.count_nonzero(times > rules.collusion_votes))
    favored, counts = np.unique(voted, return_counts=True)
    exceeding = counts > rules.collusion_votes
    all_choices = _Choices(facts)
    for key, count in zip(favored[exceeding].tolist(), counts[exceeding].tolist(), strict=True):
        judge_number, bot = divmod(key, bots)
        exposure = int(times[np.searchsorted(exposed, key)])
        share = all_choices.but(judge_number).share(bot)
        probability = binomial_tail(count, trials=exposure, chance=share)
        own = recent.of(judge_number)
        chosen = np.select([recent.side[own] == code for code in (0, 1)],
                           [stood[own] for stood in pairs], NONE)  # fmt: skip
        name, favorite = str(facts.judges.ids[judge_number]), str(facts.bots.ids[bot])
        yield Finding(
            "collusion",
            severity_of(probability, comparisons=comparisons, rules=rules),
            (name, favorite),
            "recent votes for one bot",
            count,
            publish(exposure * share),
            probability,
            f"judge {name} gave {count} of its last {own.stop - own.start} votes to bot "
            f"{favorite}, which it saw {exposure} times; other judges choose that bot "
            f"{share:.0%} of the time",
            (vote_refs(facts, judge_number, recent.match[own][chosen == bot]),),
        )


def _stood(facts: Facts, match: Ints | Numbers) -> tuple[Numbers, Numbers]:
    """Return the bots on side a and side b."""
    return facts.matches.bot_a[match], facts.matches.bot_b[match]


class _Choices:
    """Count, per bot, votes on its rated matches and votes for it."""

    def __init__(self, facts: Facts, judge: int | None = None) -> None:
        votes = facts.votes
        own = slice(None) if judge is None else slice(*votes.opens[judge : judge + 2])
        match, side = votes.match[own], votes.side[own]
        rated = facts.matches.kind[match] == RATED
        stood = _stood(facts, match)
        bots = len(facts.bots)
        self._facts = facts
        self.seen = np.zeros(bots, dtype=np.int64)
        self.chosen = np.zeros(bots, dtype=np.int64)
        for code, bot in enumerate(stood):
            self.seen += np.bincount(bot[rated], minlength=bots)
            self.chosen += np.bincount(bot[rated & (side == code)], minlength=bots)

    def but(self, judge: int) -> "_Choices":
        """Leave one judge's votes out."""
        rest = _Choices(self._facts, judge)
        rest.seen, rest.chosen = self.seen - rest.seen, self.chosen - rest.chosen
        return rest

    def share(self, bot: int) -> float:
        """Return a bot's share of votes: (votes for it + 1) / (votes on its matches + 2)."""
        return (int(self.chosen[bot]) + 1) / (int(self.seen[bot]) + 2)


def position_bias(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report judges whose recent votes have one label more often than ``position_share``.

    Labels are drawn at random, so each is expected on half of the votes; the probability is that
    of a count as large for either label. Votes on both orders of a match have no position.
    """
    recent = recent_votes(facts, kinds=(RATED, HONEYPOT), most=rules.recent_votes)
    total = np.bincount(recent.judge, minlength=len(facts.judges))
    enough = facts.judges.sees_one_order & (total >= rules.position_min_votes)
    comparisons = int(np.count_nonzero(enough))
    for code, label in enumerate("AB"):
        counts = np.bincount(recent.judge[recent.label == code], minlength=len(facts.judges))
        exceeding = enough & (counts > rules.position_share * total)
        for judge in np.flatnonzero(exceeding).tolist():
            count, of_votes = int(counts[judge]), int(total[judge])
            probability = min(1.0, 2 * binomial_tail(count, trials=of_votes, chance=0.5))
            own = recent.of(judge)
            name = str(facts.judges.ids[judge])
            yield Finding(
                "position-bias",
                severity_of(probability, comparisons=comparisons, rules=rules),
                (name,),
                "share of recent votes for one label",
                publish(count / of_votes),
                0.5,
                probability,
                f"judge {name} voted {label} in {count} of its last {of_votes} votes",
                (vote_refs(facts, judge, recent.match[own][recent.label[own] == code]),),
            )


def audit_disagreement(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report judges who agree with audits less often than ``audit_agreement``.

    Expected is the share with which all judges together agree; the probability is that of
    agreeing so rarely at that share.
    """
    votes, matches = facts.votes, facts.matches
    audit = matches.audit[votes.match]
    audited = (matches.kind[votes.match] == RATED) & (audit != NONE) & (audit != TIE)
    agreed = audited & (votes.side == audit)
    count = len(facts.judges)
    total = np.bincount(votes.judge[audited], minlength=count)
    right = np.bincount(votes.judge[agreed], minlength=count)
    enough = total >= rules.audit_min_matches
    common = int(right.sum()) / max(int(total.sum()), 1)
    for judge in np.flatnonzero(enough & (right < rules.audit_agreement * total)).tolist():
        met, of_audits = int(right[judge]), int(total[judge])
        probability = binomial_tail(of_audits - met, trials=of_audits, chance=1 - common)
        name = str(facts.judges.ids[judge])
        opposed = votes.match[audited & ~agreed & (votes.judge == judge)]
        yield Finding(
            "audit-disagreement",
            severity_of(probability, comparisons=int(np.count_nonzero(enough)), rules=rules),
            (name,),
            "share of audited votes with the audit",
            publish(met / of_audits),
            publish(common),
            probability,
            f"judge {name} agreed with {met} of {of_audits} audits; all judges together with "
            f"{common:.0%}",
            (vote_refs(facts, judge, opposed),),
        )


def agreeing_judges(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report pairs of judges with equal votes on nearly all common rated matches.

    Good judges agree because they see the same thing, so a pair is held against how often both
    agree with all other judges; only agreement beyond that is reported.
    """
    votes, matches = facts.votes, facts.matches
    counted = matches.kind[votes.match] == RATED
    counted &= facts.judges.kind[votes.judge] != API
    agreement = pairwise_agreement(
        votes.match[counted],
        votes.judge[counted],
        votes.side[counted],
        min_common=rules.agreeing_min_matches,
    )
    always = (agreement.agreed >= rules.agreeing_share * agreement.common) & (
        agreement.probability < rules.surprise / max(len(agreement), 1)
    )
    for pair in np.flatnonzero(always).tolist():
        first, second = (
            facts.judges.ids[int(side[pair])].as_py()
            for side in (agreement.first, agreement.second)
        )
        common, agreed = int(agreement.common[pair]), int(agreement.agreed[pair])
        both = _common(facts, int(agreement.first[pair]), int(agreement.second[pair]))
        yield Finding(
            "agreeing-judges",
            Severity.WARNING,
            (first, second),
            "share of common matches with equal votes",
            publish(agreed / common),
            publish(float(agreement.expected[pair])),
            float(agreement.probability[pair]),
            f"judges {first} and {second} voted alike in {agreed} of {common} common matches; with "
            f"everybody else they do in {agreement.usual[pair]:.0%}",
            (RecordRefs.of("matches", matches.names(both)),),
        )


def _common(facts: Facts, first: int, second: int) -> Ints:
    """Return the rated matches two judges both voted on."""
    votes = facts.votes
    own, theirs = (votes.match[slice(*votes.opens[judge : judge + 2])] for judge in (first, second))
    both = np.intersect1d(own, theirs)
    return both[facts.matches.kind[both] == RATED].astype(np.int64)
