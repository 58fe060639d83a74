"""Compute weights from consensus scores by epoch: best submissions, shares, decay, pay, cap."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agon.disciplines.challenge.consensus import EpochScores, RunningConsensus
from agon.disciplines.challenge.decay import BestScore, DecayState, burn_percent, fold, stale_epochs
from agon.disciplines.challenge.eligibility import Eligibility
from agon.disciplines.challenge.emission import cap, emission, to_u16
from agon.disciplines.challenge.facts import Facts
from agon.disciplines.challenge.formulas import PLACES
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.strategies import shares
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.rounding import publish


@dataclass(frozen=True)
class NetworkFacts:
    """The facts with the rules in force: the network's own, and one set per competition.

    Attributes:
        uids: the uids that are paid in some epoch, rising, without the one that burns.
    """

    facts: Facts
    rules: ChallengeRules
    of_competition: tuple[ChallengeRules, ...]
    eligibility: Eligibility
    uids: IntArray

    @classmethod
    def of(cls, facts: Facts, rules: ChallengeRules) -> "NetworkFacts":
        """Apply each competition's own rules over the network's."""
        own = tuple(rules.override(competition.overrides) for competition in facts.competitions)
        alone = facts.submissions.miners[facts.submissions.hotkeys < 0]
        uids = np.union1d(alone, facts.seats.uids[facts.seats.uids >= 0])
        eligibility = Eligibility.of(facts.submissions, own)
        return cls(facts, rules, own, eligibility, uids[uids != rules.burn_uid])

    @property
    def epoch(self) -> int:
        """Return the epoch that is scored."""
        return self.facts.last_epoch if self.rules.epoch is None else self.rules.epoch


@dataclass(frozen=True)
class Shares:
    """The strategies' shares at one epoch; one entry per miner and competition.

    Attributes:
        submissions: the miner's best submission there, by competition, then rank.
        competitions: number of the competition.
        ranks: 1 … N within the competition.
        fractions: w, summing to 1 within a competition, or all 0.
        uids: the uid that is paid; -1 where the miner's hotkey holds none.
    """

    submissions: IntArray
    competitions: IntArray
    ranks: IntArray
    fractions: FloatArray
    uids: IntArray


@dataclass(frozen=True)
class Allocation:
    """The allocation of an epoch's emission, in shares of 1.

    Attributes:
        epoch: the epoch.
        shares: what the strategies gave.
        states: each competition's improvements so far.
        burn_percents: B of each competition.
        paid: α (1 - B) w of each entry of ``shares``.
        burned: what each competition burns.
        unassigned: the share assigned to no competition.
        own: what submissions of the uid that burns earned.
        unregistered: what submissions earned whose hotkey holds no uid; it burns.
        uncapped, weights: of each uid, before and after the cap.
        excess: what the cap burns.
    """

    epoch: int
    shares: Shares
    states: tuple[DecayState, ...]
    burn_percents: FloatArray
    paid: FloatArray
    burned: FloatArray
    unassigned: float
    own: float
    unregistered: float
    uncapped: FloatArray
    weights: FloatArray
    excess: float

    @property
    def burn(self) -> float:
        """Return the share of the uid that burns, 1 at the most.

        Under ``burn_application`` = ``added`` it comes on top of what miners get, so what that uid
        earned itself and what burns may be more than all there is.
        """
        lost = (self.unassigned, self.own, self.unregistered, self.excess)
        return min(1.0, math.fsum([*self.burned.tolist(), *lost]))


@dataclass(frozen=True)
class WeightHistory:
    """The weights of many epochs.

    Attributes:
        epochs: one per row.
        uids: one per column, rising, without UID 0.
        weights: epochs × uids, parts of 1.
        burn: UID 0's share, one per epoch.
        rounding_rule: how :meth:`u16` rounds.
    """

    epochs: IntArray
    uids: IntArray
    weights: FloatArray
    burn: FloatArray
    rounding_rule: str

    def u16(self) -> IntArray:
        """Return integers of 65535: epochs × (UID 0, then ``uids``)."""
        shares = np.column_stack([self.burn, self.weights])
        if self.rounding_rule == "nearest":
            return to_u16(shares, rounding_rule=self.rounding_rule)
        rows = [to_u16(row, rounding_rule=self.rounding_rule) for row in shares]
        return np.array(rows, dtype=np.int64).reshape(shares.shape)


def all_weights(
    facts: Facts, rules: ChallengeRules, *, epochs: Sequence[int] | None = None
) -> WeightHistory:
    """Compute the weights of many epochs in one walk through the records.

    An epoch in which no stake is registered has no scores, so everything burns.

    Args:
        facts: see :func:`agon.disciplines.challenge.facts.read_facts`.
        rules: the rules in force; ``epoch`` plays no part.
        epochs: which, in rising order; None: every one from the first in the records to the last.

    Source: challenge, From evaluations to weights.
    """
    network = NetworkFacts.of(facts, rules)
    if epochs is None:
        first = int(facts.epochs[0]) if len(facts.epochs) else 0
        epochs = range(first, facts.last_epoch + 1)
    weights = np.zeros((len(epochs), len(network.uids)))
    burn = np.zeros(len(epochs))
    for index, allocation in enumerate(allocations(network, epochs)):
        weights[index] = allocation.weights
        burn[index] = allocation.burn
    return WeightHistory(np.array(epochs), network.uids, weights, burn, rules.rounding)


def allocations(
    network: NetworkFacts, epochs: Sequence[int], *, consensus: RunningConsensus | None = None
) -> Iterator[Allocation]:
    """Yield the allocation of each of the epochs; they must be ascending.

    Args:
        network: the facts and the rules.
        epochs: the epochs, in rising order.
        consensus: advanced to the last of the epochs; None: a new one.
    """
    if not len(epochs):
        return
    states = tuple(DecayState() for _ in network.of_competition)
    consensus = consensus or RunningConsensus(network.facts, network.eligibility)
    remaining = iter(epochs)
    epoch = next(remaining, None)
    for scores, end in _spans(consensus.advance(until=epochs[-1])):
        states = _next_states(network, states, scores)
        if epoch is None or epoch >= end:
            continue
        shares_now = share_out(network, scores)
        while epoch is not None and epoch < end:
            yield allocate(network, epoch, shares_now, states)
            epoch = next(remaining, None)


def _spans(epochs: Iterable[EpochScores]) -> Iterator[tuple[EpochScores, float]]:
    """Yield the scores of each epoch with the epoch from which the next ones replace them."""
    previous: EpochScores | None = None
    for scores in epochs:
        if previous is not None:
            yield previous, scores.epoch
        previous = scores
    if previous is not None:
        yield previous, math.inf


def _next_states(
    network: NetworkFacts, states: tuple[DecayState, ...], scores: EpochScores
) -> tuple[DecayState, ...]:
    """Return every competition's decay state after one epoch."""
    return tuple(
        fold(
            _after_departures(state, best, scores, rules),
            [
                BestScore(
                    scores.epoch,
                    float(scores.scores[index]),
                    index,
                    float(scores.levels[index]),
                    int(scores.first_evaluated[index]),
                )
                for index in _candidates(best, scores, rules)
            ],
            threshold=rules.improvement_threshold,
            improvement=rules.improvement,
            improvement_by=rules.improvement_by,
        )
        for state, best, rules in zip(
            states, _in_order(network, scores), network.of_competition, strict=True
        )
    )


def _after_departures(
    state: DecayState, best: IntArray, scores: EpochScores, rules: ChallengeRules
) -> DecayState:
    """Return the state in which a top score without a hotkey on the network fell to what is left.

    The agent that has what is left may leave as well, and then it falls again. The count of stale
    epochs goes on: that somebody leaves is no progress.
    """
    before = DecayState(state.improvements, falls=state.falls)
    top = state.top_holder
    if rules.top_of_departed == "keep" or top is None or top.score == 0:
        return before
    if scores.uids[top.submission] >= 0:
        return before
    remaining = best[scores.uids[best] >= 0]  # the best first
    left = BestScore(scores.epoch, 0.0, top.submission)
    if len(remaining):
        score = min(float(scores.scores[remaining[0]]), top.score)
        left = BestScore(scores.epoch, score, int(remaining[0]))
    return DecayState(state.improvements, falls=(*state.falls, left))


def _candidates(best: IntArray, scores: EpochScores, rules: ChallengeRules) -> list[int]:
    """Return the best submission with a score above 0, or all if the best may not count.

    What has left the network is scored under ``unregistered`` = ``burn``, and improves nothing.
    """
    best = best[scores.uids[best] >= 0]
    count = int(scores.scored[best].sum()) if rules.improvement_stake else 1
    candidates = best[:count]
    above: list[int] = candidates[scores.scores[candidates] > 0].tolist()
    return above


def _in_order(network: NetworkFacts, scores: EpochScores) -> list[IntArray]:
    """Return each competition's submissions, the best first (score, then earliest)."""
    facts = network.facts.submissions
    order = np.lexsort([facts.turns, -scores.scores, facts.competitions])
    starts = np.searchsorted(
        facts.competitions[order], np.arange(len(network.of_competition) + 1)
    ).tolist()
    return [order[low:high] for low, high in pairwise(starts)]


def share_out(network: NetworkFacts, scores: EpochScores) -> Shares:
    """Return each miner's best submission per competition, with its rank and share by strategy.

    Submissions are in total order by published score, earlier submission, id.

    Source: challenge, steps 6 and 7.
    """
    submissions = network.facts.submissions
    scored = np.flatnonzero(scores.scored)
    published = publish(scores.scores[scored], places=PLACES)
    competitions = submissions.competitions[scored]
    order = scored[np.lexsort([submissions.turns[scored], -published, competitions])]
    miners = np.where(scores.uids < 0, submissions.owners, scores.uids)[order]
    competitions = submissions.competitions[order]
    # A miner's first submission in that order is its best one there.
    by_miner = np.lexsort([miners, competitions])
    new_miner = np.ones(len(order), dtype=bool)
    new_miner[1:] = (np.diff(miners[by_miner]) != 0) | (np.diff(competitions[by_miner]) != 0)
    best = np.sort(by_miner[new_miner])
    order, competitions = order[best], competitions[best]
    starts = np.searchsorted(competitions, np.arange(len(network.of_competition) + 1))
    ranks = np.arange(len(order)) - starts[competitions] + 1
    fractions = np.zeros(len(order))
    for rules, (low, high) in zip(network.of_competition, pairwise(starts.tolist()), strict=True):
        if rules.strategy == "ranked" and rules.ranked_zero == "unpaid":
            high = low + int((scores.scores[order[low:high]] > 0).sum())  # noqa: PLW2901 - zeros are last
        fractions[low:high] = shares(
            rules.strategy,
            scores.scores[order[low:high]],
            ranks[low:high],
            top_n=rules.top_n,
        )
    return Shares(order, competitions, ranks, fractions, scores.uids[order])


def allocate(
    network: NetworkFacts, epoch: int, shares: Shares, states: tuple[DecayState, ...]
) -> Allocation:
    """Pay an epoch's emission by shares, burn by decay, and cap.

    Source: challenge, steps 8 to 10.
    """
    percents = np.array(
        [
            current_burn_percent(rules, state, epoch)
            for rules, state in zip(network.of_competition, states, strict=True)
        ]
    )
    paid, burned = np.zeros(len(shares.fractions)), np.zeros(len(states))
    starts = np.searchsorted(shares.competitions, np.arange(len(states) + 1))
    for index, (low, high) in enumerate(pairwise(starts)):
        pay = emission(
            shares.fractions[low:high],
            emission_share=network.facts.competitions[index].emission_share,
            burn_percent=percents[index],
            burn_application=network.of_competition[index].burn_application,
        )
        paid[low:high], burned[index] = pay.miners, pay.burned
    uids, burn_uid = shares.uids, network.rules.burn_uid
    own = math.fsum(paid[uids == burn_uid].tolist())
    unregistered = math.fsum(paid[uids < 0].tolist())
    earned = np.flatnonzero((uids != burn_uid) & (uids >= 0))
    uncapped = np.zeros(len(network.uids))
    np.add.at(uncapped, np.searchsorted(network.uids, uids[earned]), paid[earned])
    weights = cap(uncapped, weight_cap=network.rules.weight_cap, excess=network.rules.cap_excess)
    cut = math.fsum(uncapped.tolist()) - math.fsum(weights.tolist())
    excess = 0.0 if network.rules.cap_excess == "drop" else max(0.0, cut)
    unassigned = 1.0 - math.fsum(each.emission_share for each in network.facts.competitions)
    return Allocation(
        epoch,
        shares,
        states,
        percents,
        paid,
        burned,
        max(0.0, unassigned),
        own,
        unregistered,
        uncapped,
        weights,
        excess,
    )


def current_burn_percent(rules: ChallengeRules, state: DecayState, epoch: int) -> float:
    """Return how much of a competition's emission burns at an epoch, in percent.

    Before its first improvement there is no decay.

    Source: challenge, step 8.
    """
    return burn_percent(
        staleness(rules, state, epoch),
        curve=rules.decay_curve,
        rate=rules.decay_rate,
        max_burn=rules.max_burn,
    )


def staleness(rules: ChallengeRules, state: DecayState, epoch: int) -> int:
    """Count the stale epochs of a competition (0 before its first improvement)."""
    if state.last_improvement is None:
        return 0
    return stale_epochs(
        epoch=epoch, last_improvement=state.last_improvement, grace_epochs=rules.grace_epochs
    )
