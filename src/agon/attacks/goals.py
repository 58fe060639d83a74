"""Define the goals of attackers, and decide whether one is reached."""

import math
from collections.abc import Callable
from dataclasses import dataclass

SHARE = 0.1
"""By which part the attacker's pay must rise for the goal ``share``."""


@dataclass(frozen=True)
class Position:
    """Where the attacker stands among the honest participants.

    Attributes:
        rank: 1 plus the number of honest participants with a higher score.
        of: number of honest participants, plus the attacker.
        share: the attacker's part of all that is paid, or of all points.
        noticed: whether a finding names an account of the attacker.
    """

    rank: int
    of: int
    share: float
    noticed: bool = False

    def is_better_than(self, other: "Position") -> bool:
        """Return whether the rank is better, or at the same rank the share larger."""
        return (-self.rank, self.share) > (-other.rank, other.share)


RANK_GOALS: dict[str, Callable[[Position, Position], bool]] = {
    "rank+1": lambda _, after: after.rank >= 1,
    "top-10%": lambda _, after: after.rank <= max(1, math.ceil(after.of / 10)),
    "top-10": lambda _, after: after.rank <= 10,  # noqa: PLR2004 - the goal's name says it
    "first": lambda _, after: after.rank == 1,
}
"""The goals that can be chosen; each also needs a better rank than without the attack."""

OTHER_GOALS: dict[str, Callable[[Position, Position], bool]] = {
    "share": lambda before, after: after.share > before.share * (1 + SHARE),
    "unnoticed": lambda _, after: not after.noticed,
}
"""The goals of strategies that do not aim at a rank."""


def is_reached(goal: str, *, before: Position, after: Position) -> bool:
    """Return whether a goal is reached, compared with the position without the attack.

    Example:
        >>> before, after = Position(4, 20, 0.05), Position(2, 20, 0.07)
        >>> [is_reached(goal, before=before, after=after) for goal in ("rank+1", "first", "share")]
        [True, False, True]
        >>> is_reached("top-10", before=before, after=before)  # was there already
        False
    """
    if goal in RANK_GOALS:
        return after.rank < before.rank and RANK_GOALS[goal](before, after)
    return OTHER_GOALS[goal](before, after)
