"""Compute what a match does to bots and judges: the source document's formulas, numbers in and out.

The Elo formulas are the kernel's, with the source document's names. Results and votes are
coded by side: 0 for ``a``, 1 for ``b``, 2 for a tie, −1 for none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.compiling import COMPILED_FROM, compile_loop
from agon.kernel.ratings.elo import expected_score, rating_change

__all__ = [
    "NONE",
    "SIDE_A",
    "SIDE_B",
    "TIE",
    "CredibilityPath",
    "consensus",
    "credibility_after",
    "credibility_path",
    "expected_score",
    "k_factor",
    "rating_change",
    "score_of",
]

SIDE_A, SIDE_B, TIE, NONE = 0, 1, 2, -1

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Vector = npt.NDArray[np.float64]


def k_factor(games: int, *, k_new: float, k_established: float, games_established: int) -> float:
    """Return the K-factor of a bot by its number of rated matches before this one.

    Source: document 003, K-Factor (Rating Volatility).

    Example:
        >>> [k_factor(n, k_new=32, k_established=16, games_established=30) for n in (0, 29, 30)]
        [32, 32, 16]
    """
    return k_new if games < games_established else k_established


def score_of(result: Codes) -> Vector:
    """Return side a's actual score of results: 1 for a win, ½ for a tie, 0 for a loss.

    Source: document 003, The Math; ties: spec arena, Elo.

    Example:
        >>> score_of(np.array([SIDE_A, SIDE_B, TIE], dtype=np.int8)).tolist()
        [1.0, 0.0, 0.5]
    """
    scores = np.array([1.0, 0.0, 0.5])
    return scores[result]


def consensus(counts: npt.ArrayLike) -> Codes:
    """Return the majority vote of each match: the side (or tie) with strictly most votes.

    Args:
        counts: matches × 3: votes for side a, for side b, for a tie.

    Returns:
        0, 1 or 2 per match; 2 (a tie) also where no single one has most; −1 without any vote.

    Source: document 003, The Consensus System; panels of any size: spec arena, Records.

    Example:
        >>> consensus([[2, 1, 0], [0, 3, 0], [1, 1, 1], [2, 2, 1], [1, 1, 3], [0, 0, 0]]).tolist()
        [0, 1, 2, 2, 2, -1]
    """
    table = np.asarray(counts, dtype=np.int64).reshape(-1, 3)
    a, b, tie = table[:, 0], table[:, 1], table[:, 2]
    result = np.full(len(table), TIE, dtype=np.int8)
    result[(a > b) & (a > tie)] = SIDE_A
    result[(b > a) & (b > tie)] = SIDE_B
    result[(a + b + tie) == 0] = NONE
    return result


def credibility_after(
    credibility: int, change: int, *, floor: int, ceiling: int | None = None
) -> int:
    """Return a judge's changed credibility: max(floor, credibility + change), at most the ceiling.

    The floor precedes: an operator who reinstates a judge does so in full.

    Source: document 003, Key Constants ("Can't drop below this") and How Credibility Changes.

    Example:
        >>> credibility_after(100, -20, floor=30), credibility_after(35, -20, floor=30)
        (80, 30)
        >>> credibility_after(199, 3, floor=30, ceiling=200)
        200
    """
    changed = credibility + change
    return max(floor, changed if ceiling is None else min(changed, ceiling))


@dataclass(frozen=True, eq=False)
class CredibilityPath:
    """The credibility after each event, and of every judge after all events."""

    after: Ints
    credibility: Ints


def credibility_path(
    credibility: npt.ArrayLike,
    judge: npt.ArrayLike,
    change: npt.ArrayLike,
    floor: npt.ArrayLike,
    *,
    ceiling: int | None = None,
    compiled: bool | None = None,
) -> CredibilityPath:
    """Apply :func:`credibility_after` event by event, for all judges at once, from a state.

    Without a ceiling, with S the running sum of a judge's changes, the walk
    c ← max(floor, c + change) is c = S + max(c₀, max over the events so far of (floor − S)): sums
    and running maxima of whole numbers, exact and without a loop. With a ceiling the events are
    walked one by one. Walking a prefix and then the rest gives what walking all gives.

    Args:
        credibility: the state c₀: each judge's credibility before, by judge number.
        judge: the judge of each event; one judge's events are in order.
        change: what each event adds.
        floor: what the credibility is at least after each event; one number or one per event.
        ceiling: what it is at most; None: there is none.
        compiled: whether to run compiled code; None: where there are enough events for it.

    Example:
        >>> walk = credibility_path([100, 35], [0, 1, 0, 1], [1, -10, -10, 1], 30)
        >>> walk.after.tolist(), walk.credibility.tolist()
        ([101, 30, 91, 31], [91, 31])
    """
    state = np.asarray(credibility, dtype=np.int64)
    judges = np.asarray(judge, dtype=np.int64)
    if not len(judges):
        return CredibilityPath(np.zeros(0, dtype=np.int64), state.copy())
    if ceiling is not None:
        floors = np.broadcast_to(np.asarray(floor, dtype=np.int64), judges.shape)
        changes = np.asarray(change, dtype=np.int64)
        is_long = len(judges) >= COMPILED_FROM if compiled is None else compiled
        return _limited_path(state, judges, changes, floors, ceiling, compiled=is_long)
    in_order = (judges[1:] >= judges[:-1]).all()
    order = np.arange(len(judges)) if in_order else np.argsort(judges, kind="stable")
    sorted_who = judges[order]
    opens = np.flatnonzero(np.diff(sorted_who, prepend=-1))
    run = np.cumsum(np.diff(sorted_who, prepend=-1) != 0) - 1
    added = np.asarray(change, dtype=np.int64)[order]
    total = np.cumsum(added)
    sums = total - (total[opens] - added[opens])[run]
    lift = np.broadcast_to(np.asarray(floor, dtype=np.int64), judges.shape)[order] - sums
    # Each judge's run is raised above all earlier ones, so that the maximum starts afresh.
    raised = run * (int(lift.max()) - int(lift.min()) + 1)
    highest = np.maximum.accumulate(lift + raised) - raised
    walked = sums + np.maximum(state[sorted_who], highest)
    after = np.empty_like(walked)
    after[order] = walked
    closing = np.append(opens[1:], len(walked)) - 1
    last = state.copy()
    last[sorted_who[closing]] = walked[closing]
    return CredibilityPath(after, last)


def _limited_path(
    state: Ints, judges: Ints, changes: Ints, floors: Ints, ceiling: int, *, compiled: bool
) -> CredibilityPath:
    """Apply :func:`credibility_after` event by event: a ceiling ends the closed form."""
    if compiled:
        credibility, after = state.copy(), np.empty(len(judges), dtype=np.int64)
        compile_loop(_walk)(credibility, judges, changes, floors, after, ceiling)
        return CredibilityPath(after, credibility)
    # Lists: the interpreter reads them faster than arrays.
    walked, path = state.tolist(), [0] * len(judges)
    _walk(walked, judges.tolist(), changes.tolist(), floors.tolist(), path, ceiling)
    return CredibilityPath(np.array(path, dtype=np.int64), np.array(walked, dtype=np.int64))


def _walk(
    credibility: Any, judges: Any, changes: Any, floors: Any, after: Any, ceiling: int
) -> None:
    """Change credibilities in place: the source of both the interpreted and the compiled walk."""
    for event in range(len(judges)):
        judge = judges[event]
        changed = min(credibility[judge] + changes[event], ceiling)
        credibility[judge] = max(floors[event], changed)
        after[event] = credibility[judge]
