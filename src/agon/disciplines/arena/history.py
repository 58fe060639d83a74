"""Fold the arena's history: ratings match by match, credibility event by event."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.facts import API, HONEYPOT, RATED, Facts
from agon.disciplines.arena.formulas import (
    NONE,
    TIE,
    Codes,
    Ints,
    Vector,
    consensus,
    credibility_path,
    score_of,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.ratings.elo import EloState, Fold, fold


@dataclass(frozen=True, eq=False)
class Results:
    """The outcome of each match, −1 where there is none (yet).

    Attributes:
        panel: the consensus of the recorded votes, for any kind of match.
        final: the outcome that is rated: the consensus, or the recorded winner where no judge
            voted, or the audit's verdict under ``audit_overturns``; −1 for other kinds.
        overruled: whether the audit named a side other than the consensus. An audit that sees a
            tie overrules no vote.
    """

    panel: Codes
    final: Codes
    overruled: npt.NDArray[np.bool_]


def results_of(facts: Facts, rules: ArenaRules) -> Results:
    """Decide every match."""
    matches = facts.matches
    panel, audit = consensus(matches.counts), matches.audit
    final = final_of(panel, kind=matches.kind, audit=audit, winner=matches.winner, rules=rules)
    overruled = (matches.kind == RATED) & _names_side(audit) & (panel != NONE) & (audit != panel)
    return Results(panel, final, overruled)


def final_of(panel: Codes, *, kind: Codes, audit: Codes, winner: Codes, rules: ArenaRules) -> Codes:
    """Return the outcome of each match that is rated, −1 for other matches.

    Args:
        panel: the consensus of the votes, −1 without votes.
        kind: as recorded.
        audit: the audit's verdict.
        winner: the recorded one.
        rules: ``audit_overturns``.
    """
    final = np.where(panel == NONE, winner, panel)
    if rules.audit_overturns:
        final = np.where(_names_side(audit), audit, final)
    return np.where(kind == RATED, final, NONE).astype(np.int8)


def _names_side(audit: Codes) -> npt.NDArray[np.bool_]:
    return (audit != NONE) & (audit != TIE)


def others_consensus(facts: Facts) -> Codes:
    """Return for every vote what the other judges of its match decided, without this vote.

    Returns:
        the side, or a tie, with strictly most of their votes; −1 where no single one has, and
        where there is no other vote.
    """
    counts, votes = facts.matches.counts, facts.votes
    # Few different counts occur in panels of few judges: each is decided once.
    shape = (int(counts.max(initial=0)) + 1,) * 3
    if np.prod(shape) <= len(counts):
        kinds = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
        kind = np.ravel_multi_index(tuple(counts.T), shape)
    else:
        kinds, kind = counts, np.arange(len(counts))
    decided = np.stack(
        [_consensus_or_none(kinds - vote) for vote in np.eye(3, dtype=np.int64)], axis=1
    )
    others: Codes = decided[kind[votes.match], votes.side]
    return others


def _consensus_or_none(counts: Ints) -> Codes:
    """Return the consensus of votes; −1 where no single side, or a tie, has strictly most."""
    result = consensus(counts)
    undecided = (result == TIE) & (counts[:, TIE] <= counts[:, :TIE].max(axis=1))
    result[undecided] = NONE
    return result


@dataclass(frozen=True, eq=False)
class Ratings:
    """The Elo ratings and every rated match that made them, in order of play.

    Attributes:
        match: indices of the rated matches in order of play.
        a, b: bot numbers.
        result: side a, side b or a tie.
        score: the score of side a: 1, 0.5 or 0, or the share that a judge recorded.
        weight: how often each match counts; None: once. Elo takes a match for one.
        change_a, change_b: what the match moved.
        rating: every bot's rating after all.
        wins, losses, ties: per bot.
    """

    match: Ints
    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]
    result: Codes
    score: Vector
    weight: Vector | None
    change_a: Vector
    change_b: Vector
    rating: Vector
    wins: Ints
    losses: Ints
    ties: Ints

    @property
    def games(self) -> Ints:
        """Count the rated matches of every bot."""
        return self.wins + self.losses + self.ties


@dataclass(frozen=True, eq=False)
class Standings:
    """The results of every bot.

    Attributes:
        wins, losses, ties: rated matches by result.
        of_version: rated matches since its newest version.
    """

    wins: Ints
    losses: Ints
    ties: Ints
    of_version: Ints

    @property
    def games(self) -> Ints:
        """Count the rated matches of every bot."""
        return self.wins + self.losses + self.ties


def standings_of(facts: Facts, ratings: Ratings) -> Standings:
    """Return the results of each bot."""
    played = games_of_version(facts, ratings)
    return Standings(ratings.wins, ratings.losses, ratings.ties, played)


def games_of_version(facts: Facts, ratings: Ratings) -> Ints:
    """Count the rated matches of every bot since its newest version."""
    played, since = facts.matches.played[ratings.match], facts.bots.version_since
    of_a, of_b = (
        np.bincount(side[played >= since[side]], minlength=len(facts.bots))
        for side in (ratings.a, ratings.b)
    )
    return of_a + of_b


def ratings_of(facts: Facts, results: Results, rules: ArenaRules) -> Ratings:
    """Fold the rated matches in order of play (document 003, 1. ELO Rating System)."""
    match = np.flatnonzero(results.final != NONE)
    a, b = facts.matches.bot_a[match], facts.matches.bot_b[match]
    result = results.final[match]
    bots = len(facts.bots)
    score, weight = score_of(result), facts.matches.weight
    if (shares := facts.matches.score) is not None:
        as_recorded = ~np.isnan(shares) & (results.panel == NONE)
        if rules.audit_overturns:
            as_recorded &= ~_names_side(facts.matches.audit)
        score = np.where(as_recorded[match], shares[match], score)
    folded = elo_fold(EloState.fresh(bots, start=rules.elo_start), a, b, score, rules)
    return Ratings(
        match,
        a,
        b,
        result,
        score,
        None if weight is None else weight[match],
        folded.change_a,
        folded.change_b,
        folded.state.ratings,
        *count_results(a, b, result, bots=bots),
    )


def elo_fold(
    state: EloState,
    a: npt.NDArray[np.int32],
    b: npt.NDArray[np.int32],
    score: Vector,
    rules: ArenaRules,
    *,
    compiled: bool | None = None,
) -> Fold:
    """Play matches in order from a state, under the rules of Elo.

    ``compiled``: whether to run compiled code; None: where there are enough matches for it.
    """
    return fold(
        state,
        a,
        b,
        score,
        k_new=rules.k_new,
        k_established=rules.k_established,
        games_established=rules.games_established,
        scale=rules.elo_scale,
        start=rules.elo_start,
        round_changes=rules.round_changes,
        compiled=compiled,
    )


def count_results(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], result: Codes, *, bots: int
) -> tuple[Ints, Ints, Ints]:
    """Count the wins, losses and ties of every bot.

    Example:
        >>> sides = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
        >>> [each.tolist() for each in count_results(*sides, np.array([0, 2], np.int8), bots=2)]
        [[1, 0], [0, 1], [1, 1]]
    """
    per_side = [
        [np.bincount(side[result == code], minlength=bots) for code in (0, 1, TIE)]
        for side in (a, b)
    ]
    (wins_a, losses_a, ties_a), (losses_b, wins_b, ties_b) = per_side
    return wins_a + wins_b, losses_a + losses_b, ties_a + ties_b


class CredibilityEvent(IntEnum):
    """A cause of a change of a judge's credibility."""

    AGREED = 0
    DISAGREED = 1
    AUDITED = 2
    FOOLED = 3
    REINSTATED = 4


@dataclass(frozen=True, eq=False)
class Credibilities:
    """Every judge's credibility and the events that made it, by judge, in order.

    A judge's events are in order of play; within a match the consensus comes before the
    audit.

    Attributes:
        judge, kind: whose event, and which.
        match: index in order of play; for a reinstatement its number instead.
        change: what the event adds before the floor is applied.
        after: the credibility after it.
        credibility: every judge's credibility after all; API judges stay at the start.
        agreed, disagreed: votes with and against the consensus of rated matches (with the rule
            ``credibility_consensus = others``, that of the other judges), API judges too.
        votes: votes that count, in rated matches and honeypots.
        opens: judge j's events are those from ``opens[j]`` up to ``opens[j + 1]``.
    """

    judge: Ints
    kind: Codes
    match: Ints
    change: Ints
    after: Ints
    credibility: Ints
    agreed: Ints
    disagreed: Ints
    votes: Ints
    opens: Ints

    def deactivation_of(self, judge: int, *, level: int) -> int | None:
        """Return the event that took a judge below ``level`` and out of the pool.

        None where it never fell, or an operator has reinstated it since.
        """
        events = slice(self.opens[judge], self.opens[judge + 1])
        if not (self.after[events] < level).any():
            return None
        fell = None
        for index in range(events.start, events.stop):
            if self.kind[index] == CredibilityEvent.REINSTATED:
                fell = None
            elif fell is None and self.after[index] < level:
                fell = index
        return fell


def verdict_of_votes(facts: Facts, results: Results, rules: ArenaRules) -> Codes:
    """Return for every vote what it is compared with; −1 where that is undecided."""
    if rules.credibility_consensus == "others":
        return others_consensus(facts)
    verdict: Codes = results.panel[facts.votes.match]
    return verdict


def credibilities_of(
    facts: Facts,
    results: Results,
    rules: ArenaRules,
    *,
    before: Ints | None = None,
    compiled: bool | None = None,
) -> Credibilities:
    """Fold what happened to every judge (document 003, 2. Credibility Score).

    Args:
        facts: the votes.
        results: the outcome of each match.
        rules: what each event changes.
        before: every judge's credibility to go on from; None: ``credibility_start``.
        compiled: whether to run compiled code; None: where there are enough events for it.
    """
    votes, matches, judges = facts.votes, facts.matches, facts.judges
    kind = matches.kind[votes.match]
    rated = kind == RATED
    verdict = verdict_of_votes(facts, results, rules)
    agreed = rated & (votes.side == verdict)
    # Without a verdict (void, tie) a vote disagrees with nothing, unless the rule counts all.
    disagreed = rated & ~agreed & ((verdict != NONE) | (rules.credibility_consensus == "all"))
    fooled = (kind == HONEYPOT) & (votes.side != TIE) & (votes.side != matches.real[votes.match])
    audited = rated & (votes.side == results.panel[votes.match]) & results.overruled[votes.match]
    happened = np.full((len(votes), 2), NONE, dtype=np.int8)
    happened[disagreed, 0] = CredibilityEvent.DISAGREED
    happened[agreed, 0] = CredibilityEvent.AGREED
    happened[fooled, 0] = CredibilityEvent.FOOLED
    happened[audited, 1] = CredibilityEvent.AUDITED
    happened[judges.kind[votes.judge] == API] = NONE
    vote, step = np.nonzero(happened != NONE)
    judge = votes.judge[vote].astype(np.int64)
    match = votes.match[vote].astype(np.int64)
    judge, match, events = _with_reinstatements(facts, judge, match, happened[vote, step])
    change = _changes(rules)[events]
    floor = np.where(
        events == CredibilityEvent.REINSTATED,
        max(rules.credibility_active, rules.credibility_floor),
        rules.credibility_floor,
    )
    if before is None:
        before = np.full(len(judges), rules.credibility_start, dtype=np.int64)
    walk = credibility_path(
        before, judge, change, floor, ceiling=rules.credibility_ceiling, compiled=compiled
    )
    count = len(judges)
    return Credibilities(
        judge,
        events,
        match,
        change,
        walk.after,
        walk.credibility,
        np.bincount(votes.judge[agreed], minlength=count),
        np.bincount(votes.judge[disagreed], minlength=count),
        np.bincount(votes.judge[rated | (kind == HONEYPOT)], minlength=count),
        np.searchsorted(judge, np.arange(count + 1)),
    )


def _changes(rules: ArenaRules) -> Ints:
    """List what each kind of event adds, in the order of :class:`CredibilityEvent`."""
    return np.array(
        [
            rules.credibility_agree,
            -rules.credibility_disagree,
            -rules.credibility_audit,
            -rules.credibility_honeypot,
            0,
        ],
        dtype=np.int64,
    )


def _with_reinstatements(
    facts: Facts, judge: Ints, match: Ints, events: Codes
) -> tuple[Ints, Ints, Codes]:
    """Insert reinstatements after the matches played up to that time."""
    back = facts.reinstatements
    human = np.flatnonzero(facts.judges.kind[back.judge] != API)
    if not len(human):
        return judge, match, events
    before = np.searchsorted(facts.matches.played, back.at[human], side="right")
    when = np.concatenate([match, before - 1])
    late = np.concatenate([np.zeros(len(match), np.int8), np.ones(len(human), np.int8)])
    judges = np.concatenate([judge, back.judge[human]])
    order = np.lexsort((late, when, judges))
    kinds = np.concatenate(
        [events, np.full(len(human), CredibilityEvent.REINSTATED, dtype=np.int8)]
    )
    return judges[order], np.concatenate([match, human])[order], kinds[order]
