"""Detect people who judge more than a fair draw lets them, and accounts of judges made at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.checks.voting import severity_of
from agon.disciplines.arena.facts import API, UNKNOWN_TIME, Facts
from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.findings import Finding, RecordRefs
from agon.kernel.rounding import publish
from agon.kernel.tails import binomial_tail

MIN_PANELS = 20
"""Panels from a person's first to its last below which its share is not examined."""

_HOUR = 3_600_000_000  # microseconds


@dataclass(frozen=True, eq=False)
class PanelSeats:
    """How often each person sat on panels, and how often a fair draw would seat it.

    A person is an owner with all its judges, or a judge without one. Its panels are those between
    its first and its last one, without these two: they are there by definition.

    Attributes:
        names: of the persons.
        taken, panels: the panels a person sat on, and those of its time.
        expected: the sum of the chances of its time: seats of a panel / persons who judge at that
            time; at most 1 each.
    """

    names: tuple[str, ...]
    taken: Ints
    panels: Ints
    expected: Vector


def seats_of(facts: Facts) -> PanelSeats:
    """Count the panels of every person; models are none."""
    judges, votes = facts.judges, facts.votes
    person, names = _persons(facts)
    cast = judges.kind[votes.judge] != API
    key = np.unique(
        person[votes.judge[cast]].astype(np.int64) * len(facts.matches) + votes.match[cast]
    )
    who, match = np.divmod(key, max(len(facts.matches), 1))
    played, panel = np.unique(match, return_inverse=True)
    seats = np.bincount(panel, minlength=len(played))
    starts = np.searchsorted(who, np.arange(len(names)))
    ends = np.searchsorted(who, np.arange(len(names)), side="right")
    present = np.flatnonzero(ends > starts)
    first, last = panel[starts[present]], panel[ends[present] - 1]
    changes = np.zeros(len(played) + 1)
    np.add.at(changes, first, 1)
    np.add.at(changes, last + 1, -1)
    chance = np.minimum(1.0, seats / np.maximum(np.cumsum(changes)[: len(played)], 1))
    until = np.concatenate([[0.0], np.cumsum(chance)])
    return PanelSeats(
        tuple(names[index] for index in present.tolist()),
        np.maximum(ends[present] - starts[present] - 2, 0),
        np.maximum(last - first - 1, 0),
        np.maximum(until[last] - until[np.minimum(first + 1, last)], 0.0),
    )


def _persons(facts: Facts) -> tuple[Ints, list[str]]:
    """Return the number of each judge's person, and the names of the persons."""
    names = pc.coalesce(facts.judges.owner, pc.cast(facts.judges.ids, pa.string()))
    unique = pc.unique(names)
    number = pc.index_in(names, value_set=unique).to_numpy(zero_copy_only=False)
    return number.astype(np.int64), [str(name) for name in unique.to_pylist()]


def panel_share(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report people on far more panels than a fair draw among those who judge explains.

    Of the n panels of its time a person sat on k, a fair draw would seat it on e: reported where
    k > ``panel_share`` × e. The probability is P[X ≥ k] for X ~ Binomial(n, e / n).
    """
    if not rules.panel_share:
        return
    seats = seats_of(facts)
    examined = seats.panels >= MIN_PANELS
    exceeding = examined & (seats.taken > rules.panel_share * seats.expected)
    for index in np.flatnonzero(exceeding).tolist():
        taken, panels = int(seats.taken[index]), int(seats.panels[index])
        expected, name = float(seats.expected[index]), seats.names[index]
        probability = binomial_tail(taken, trials=panels, chance=min(1.0, expected / panels))
        yield Finding(
            "panel-share",
            severity_of(probability, comparisons=int(examined.sum()), rules=rules),
            (name,),
            "panels of one person",
            taken,
            publish(expected),
            probability,
            f"{name} sat on {taken} of the {panels} panels between its first and its last one; a "
            f"fair draw among those who judged then would seat it on {expected:.1f}",
        )


def judge_burst(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report accounts of judges of which many were created within ``burst_hours``.

    Of N accounts created within a time T, at least ``burst_judges`` within the hours w. If they
    were created at independent times, the k - 1 others of a window that begins with one of them
    are Binomial(N - 1, w / T); the probability is at most N times that tail.
    """
    if not rules.burst_judges:
        return
    names, times = _accounts(facts)
    count, window = len(times), rules.burst_hours * _HOUR
    together = np.searchsorted(times, times + window) - np.arange(count)
    span = float(times[-1] - times[0]) if count else 0.0
    chance = min(1.0, window / span) if span else 1.0
    for first, last in _bursts(together, at_least=rules.burst_judges):
        most = int(together[first:last].max())
        tail = binomial_tail(most - 1, trials=count - 1, chance=chance)
        probability = min(1.0, count * tail)
        accounts = sorted(names[first:last])
        yield Finding(
            "judge-burst",
            severity_of(probability, comparisons=1, rules=rules),
            tuple(accounts),
            f"accounts of judges created within {rules.burst_hours:g} hours",
            most,
            publish(count * chance),
            probability,
            f"{most} of {count} accounts of judges were created within {rules.burst_hours:g} "
            f"hours of each other; evenly, {count * chance:.1f} would be",
            (RecordRefs.of("owners", accounts),),
        )


def _accounts(facts: Facts) -> tuple[list[str], Ints]:
    """Return the accounts of judges with a known time, and the times, ascending."""
    judges = facts.judges
    person, names = _persons(facts)
    known = (judges.kind != API) & (judges.account_created != UNKNOWN_TIME)
    accounts, place = np.unique(person[known], return_index=True)
    times = judges.account_created[known][place]
    order = np.lexsort((accounts, times))
    return [names[index] for index in accounts[order].tolist()], times[order]


def _bursts(together: Ints, *, at_least: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of accounts in windows with enough of them; overlapping ones are one.

    Example:
        >>> list(_bursts(np.array([1, 3, 2, 1, 2, 1]), at_least=2))
        [(1, 4), (4, 6)]
    """
    first = last = -1
    for index in np.flatnonzero(together >= at_least).tolist():
        if index >= last:
            if last > 0:
                yield first, last
            first = index
        last = max(last, index + int(together[index]))
    if last > 0:
        yield first, last
