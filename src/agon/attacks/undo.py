"""Undo an attack: without the attacker's records, honest participants stand where they stood."""

from dataclasses import dataclass
from typing import Any

from agon.attacks.lab import Remaining
from agon.attacks.runner import Runner
from agon.attacks.strategy import Plan, Strategy
from agon.kernel.rounding import publish


@dataclass(frozen=True)
class Undo:
    """What is left of an attack on one board after its records were removed.

    Attributes:
        board: its name.
        moved: number of honest participants whose rank differs from that without the attack.
        worst: most ranks by which one of them differs.
        points: largest difference of a score.
    """

    board: str
    moved: int
    worst: int
    points: float


def undo(runner: Runner, strategy: Strategy[Any], plan: Plan) -> tuple[Undo, ...]:
    """Measure the lasting effect of an attack on each board after its records are removed.

    The boards of the remaining records are compared with those of the season in which the attacker
    takes part honestly, also without the attacker's records.
    """
    now, before = runner.remaining(strategy, plan), runner.remaining(None, {}, wait=strategy.wait)
    return tuple(
        _difference(board, now[board], before[board]) for board in runner.lab.undone_boards
    )


def _difference(board: str, now: Remaining, before: Remaining) -> Undo:
    both = now.keys() & before.keys()
    ranks = [abs(now[name][0] - before[name][0]) for name in both]
    points = [abs(now[name][1] - before[name][1]) for name in both]
    alone = len(now.keys() ^ before.keys())
    moved = sum(rank > 0 for rank in ranks) + alone
    return Undo(board, moved, max(ranks, default=0), publish(max(points, default=0.0)))
