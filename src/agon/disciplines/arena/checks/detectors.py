"""Detect judges who do not vote as honest ones do, at a stated share of false alarms.

Both checks compare a judge with the others on the same matches, not with fixed counts: how many
bots there are, how strong they are, and whose matches a judge sees do not matter. Their findings
are warnings: the threshold is the stated share of honest judges.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agon.disciplines.arena.checks.voting import vote_refs
from agon.disciplines.arena.facts import API, RATED, Bools, Facts
from agon.disciplines.arena.formulas import SIDE_A, SIDE_B, Codes, Ints, Vector
from agon.disciplines.arena.history import others_consensus
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.findings import Finding, Severity
from agon.kernel.rounding import publish
from agon.kernel.tails import beta_binomial_lower_tails, binomial_tail, mixed_binomial_tail

MIN_VOTES = 10
"""Votes of a judge with a consensus of the others below which its agreement is not examined."""

MIN_SPREAD = 0.06
"""Standard deviation that the agreement of honest judges is taken to have at least.

A small pool may show too little of it: judges of the simulation have .055, measured on 18 of them
± .013. A judge's votes for one bot differ as much.
"""

MIN_EXPOSURES = 5
"""Votes on matches of one bot below which a judge's votes for it are not examined."""

MIN_GROUP = 3
"""Judges who stand out for one bot, from which on they are examined as a group."""

GROUP_THRESHOLD = 2.0
"""A judge stands out for a bot, as one of a group, at this many times the stated false alarms."""

_STRENGTH = 4.0  # votes that the average of all bots weighs in the share of one

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)


def literal_power(bots: int, *, votes: int, above: int) -> float:
    """Return the power of the rule of ``collusion_votes`` against a judge always for one bot.

    A judge meets one of n bots in 2/n of its matches, if all play equally often: the power is
    P[X > above] for X ~ Binomial(votes, 2/n).

    Example:
        >>> [f"{literal_power(n, votes=50, above=10):.1g}" for n in (5, 10, 20, 50)]
        ['1', '0.4', '0.009', '4e-06']
    """
    return binomial_tail(above + 1, trials=votes, chance=min(1.0, 2 / max(bots, 1)))


@dataclass(frozen=True, eq=False)
class Agreements:
    """How often each judge votes with the consensus of the others, and what honest ones do.

    Attributes:
        agreed, decided: votes with it, and votes on matches where the others have one, by judge.
        center, spread: median of the judges' shares, and the standard deviation between judges
            beyond chance.
        probability: chance of an honest judge to agree so rarely; 1 with too few votes.
    """

    agreed: Ints
    decided: Ints
    center: float
    spread: float
    probability: Vector


def agreements_of(facts: Facts) -> Agreements | None:
    """Measure every judge's agreement with the others; None without enough votes.

    Honest judges are taken to have agreements of a beta distribution: its mean is the median of
    all judges and its variance is that of their shares (by the median absolute deviation, so that
    dishonest judges do not widen it) without the binomial part. API judges have none.
    """
    votes = facts.votes
    others = others_consensus(facts)
    counted = facts.matches.kind[votes.match] == RATED
    counted &= np.isin(others, (SIDE_A, SIDE_B)) & (facts.judges.kind[votes.judge] != API)
    count = len(facts.judges)
    decided = np.bincount(votes.judge[counted], minlength=count)
    agreed = np.bincount(votes.judge[counted & (votes.side == others)], minlength=count)
    enough = decided >= MIN_VOTES
    if not enough.any():
        return None
    shares = agreed[enough] / decided[enough]
    center = float(np.clip(np.median(shares), 0.01, 0.99))
    deviation = 1.4826 * float(np.median(np.abs(shares - center)))
    chance = float(np.median(center * (1 - center) / decided[enough]))
    widest = np.sqrt(center * (1 - center)) / 2
    spread = float(np.clip(np.sqrt(max(deviation**2 - chance, 0.0)), MIN_SPREAD, widest))
    probability = np.ones(count)
    probability[enough] = beta_binomial_lower_tails(
        agreed[enough], trials=decided[enough], mean=center, deviation=spread
    )
    return Agreements(agreed, decided, center, spread, probability)


def low_agreement(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report judges who agree with the others less often than honest judges do.

    Who votes without reading agrees in half of the matches, who votes for the worse answer in
    fewer. At most the share ``detector_false_alarms`` of honest judges agrees as rarely.
    """
    if not rules.detector_false_alarms:
        return
    agreements = agreements_of(facts)
    if agreements is None:
        return
    votes = facts.votes
    others = others_consensus(facts)
    rare = agreements.probability <= rules.detector_false_alarms
    for judge in np.flatnonzero(rare).tolist():
        agreed, decided = int(agreements.agreed[judge]), int(agreements.decided[judge])
        probability = float(agreements.probability[judge])
        own = slice(votes.opens[judge], votes.opens[judge + 1])
        match = votes.match[own]
        opposed = (facts.matches.kind[match] == RATED) & (votes.side[own] != others[own])
        opposed &= np.isin(others[own], (SIDE_A, SIDE_B))
        name = str(facts.judges.ids[judge])
        yield Finding(
            "low-agreement",
            Severity.WARNING,
            (name,),
            "share of votes with the other judges",
            publish(agreed / decided),
            publish(agreements.center),
            probability,
            f"judge {name} voted with the other judges in {agreed} of {decided} matches; the "
            f"median judge does in {agreements.center:.0%}, a coin in 50%; at most "
            f"{rules.detector_false_alarms:.1%} of honest judges are reported",
            (vote_refs(facts, judge, match[opposed]),),
        )


@dataclass(frozen=True, eq=False)
class Choices:
    """For every vote and either bot: whether it was for that bot, and what the others said.

    Both arrays of a vote stand one after the other: side a first, then side b.

    Attributes:
        judge, bot, match: whose vote, on which bot, in which match.
        chosen: whether the vote is for the bot.
        others: what the others said of the bot: against it (0), undecided (1), for it (2).
    """

    judge: Ints
    bot: Ints
    match: Ints
    chosen: Codes
    others: Codes


def choices_of(facts: Facts) -> Choices:
    """List all votes on rated matches, once for each of the two bots."""
    votes = facts.votes
    rated = np.flatnonzero(facts.matches.kind[votes.match] == RATED)
    match, side = votes.match[rated].astype(np.int64), votes.side[rated]
    others = others_consensus(facts)[rated]
    states = [
        np.select([others == code, np.isin(others, (SIDE_A, SIDE_B))], [2, 0], 1)
        for code in (SIDE_A, SIDE_B)
    ]
    bots = [facts.matches.bot_a[match], facts.matches.bot_b[match]]
    return Choices(
        np.tile(votes.judge[rated].astype(np.int64), 2),
        np.concatenate(bots).astype(np.int64),
        np.tile(match, 2),
        np.concatenate([side == code for code in (SIDE_A, SIDE_B)]).astype(np.int8),
        np.concatenate(states).astype(np.int8),
    )


def favorite_bot(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report judges who vote for one bot more often than the others do on such matches.

    For each bot, other judges' votes for it are counted by what the rest of the panel said (for
    it, against it, undecided); a judge's votes for it are a sum of three binomials with those
    shares, more or less what one judge differs from another (:data:`MIN_SPREAD`). So a judge who
    sees mostly a strong bot, and votes for it, is as the others are. The threshold is
    ``detector_false_alarms`` divided by the number of bots that the judge saw at least five times.
    Judges who do not pass it are reported, too, where several stand out for the same bot
    (:func:`_groups`).
    """
    if not rules.detector_false_alarms:
        return
    choices = choices_of(facts)
    bots = len(facts.bots)
    key = choices.judge * bots + choices.bot
    pairs, row = np.unique(key, return_inverse=True)
    cells = row * 3 + choices.others
    seen, chosen = (
        np.bincount(cells, weights, 3 * len(pairs)).reshape(-1, 3).astype(np.float64)
        for weights in (np.ones(len(cells)), choices.chosen)
    )
    exposures = seen.sum(axis=1)
    judge, bot = pairs // bots, pairs % bots
    enough = exposures >= MIN_EXPOSURES
    comparisons = np.bincount(judge[enough], minlength=len(facts.judges))
    share = _expected_shares(bot, seen, chosen, bots)
    likely = (share * seen).sum(axis=1)
    power = literal_power(bots, votes=rules.recent_votes, above=rules.collusion_votes)
    rate = rules.detector_false_alarms
    examined = np.flatnonzero(enough & (chosen.sum(axis=1) > likely)).tolist()
    probability = np.ones(len(pairs))
    for pair in examined:
        count = int(chosen[pair].sum())
        probability[pair] = _probability(count, seen[pair], share[pair], GROUP_THRESHOLD * rate)
    group = _groups(bot, probability, enough, bots=bots, rate=rate)
    alone = probability <= rate / np.maximum(comparisons[judge], 1)
    for pair in [pair for pair in examined if alone[pair] or group[pair]]:
        count, shown = int(chosen[pair].sum()), int(exposures[pair])
        others = f"; so do {group[pair] - 1} other judges" if group[pair] else ""
        name, favorite = str(facts.judges.ids[judge[pair]]), str(facts.bots.ids[bot[pair]])
        matches = choices.match[(row == pair) & (choices.chosen == 1)]
        yield Finding(
            "favorite-bot",
            Severity.WARNING,
            (name, favorite),
            "votes for one bot",
            count,
            publish(float(likely[pair])),
            float(probability[pair]),
            f"judge {name} voted {count} of {shown} times for bot {favorite}; other judges would "
            f"{likely[pair]:.1f} times{others}; at most {rate:.1%} of honest judges "
            f"are reported. The rule of more than {rules.collusion_votes} in {rules.recent_votes} "
            f"votes detects a judge always for one of {bots} bots with probability {power:.2g}",
            (vote_refs(facts, int(judge[pair]), np.sort(matches)),),
        )


def _groups(bot: Ints, probability: Vector, enough: Bools, *, bots: int, rate: float) -> Ints:
    """Return for each pair of judge and bot how many judges form a group for it, 0 without one.

    A group is at least :data:`MIN_GROUP` judges who stand out for one bot at the loose threshold
    t = :data:`GROUP_THRESHOLD` × rate, if so many of the n judges who saw the bot often enough are
    improbable: P[X ≥ count] ≤ rate / bots for X ~ Binomial(n, t).
    """
    threshold = min(1.0, GROUP_THRESHOLD * rate)
    rare = enough & (probability <= threshold)
    judges, members = (np.bincount(bot[selected], minlength=bots) for selected in (enough, rare))
    is_group = np.array(
        [
            count >= MIN_GROUP
            and binomial_tail(count, trials=selected, chance=threshold) <= rate / bots
            for count, selected in zip(members.tolist(), judges.tolist(), strict=True)
        ],
        dtype=bool,
    )
    return np.where(rare & is_group[bot], members[bot], 0)


def _probability(count: int, seen: Vector, share: Vector, threshold: float) -> float:
    """Return the chance of so many votes for a bot, by judges that differ from each other.

    The mean over a normal shift of the shares, by quadrature; without it where that is enough.
    """
    plain = mixed_binomial_tail(count, trials=seen, chances=share)
    if plain > threshold:
        return plain
    tails = [
        mixed_binomial_tail(
            count, trials=seen, chances=np.clip(share + MIN_SPREAD * node, 1e-6, 1 - 1e-6)
        )
        for node in _NODES
    ]
    return max(plain, float(np.average(tails, weights=_WEIGHTS)))


def _expected_shares(bot: Ints, seen: Vector, chosen: Vector, bots: int) -> Vector:
    """Return for each pair of judge and bot the other judges' shares of votes for the bot.

    The columns are the three states of the rest of the panel. Few votes are drawn to the share
    of all bots.
    """
    per_bot = [
        np.stack([np.bincount(bot, of_state, bots) for of_state in counts.T.copy()], axis=1)
        for counts in (seen, chosen)
    ]
    pooled = per_bot[1].sum(axis=0) / np.maximum(per_bot[0].sum(axis=0), 1)
    of_others = [totals[bot] - own for totals, own in zip(per_bot, (seen, chosen), strict=True)]
    shares: Vector = (of_others[1] + _STRENGTH * pooled) / (of_others[0] + _STRENGTH)
    return np.clip(shares, 1e-6, 1 - 1e-6)
