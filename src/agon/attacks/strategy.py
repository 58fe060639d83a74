"""Define what a strategy of an attacker is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Season = TypeVar("Season")
"""What the attacker plays in: shows what is public, and records what the attacker does."""

Plan = Mapping[str, float]
"""The parameters of one run of a strategy, by name."""


@dataclass(frozen=True, kw_only=True)
class Strategy(Generic[Season]):
    """One attack of a discipline's catalog, in a module of its own.

    Attributes:
        name: for example ``dust-validators``.
        description: for organizers; its first sentence says what the attacker does.
        source: where the attack is described.
        controls: what the attacker has (accounts, stake, days).
        knows: what the attacker sees, which is never more than what is public.
        goal: the goal that the attacker has where none is chosen (:mod:`agon.attacks.goals`).
        plans: parameters to try, the least effort first; the first that reaches the goal counts.
        act: acts once in every epoch, through the season.
        wait: epochs that the season goes on after the last honest activity.
    """

    name: str
    description: str
    source: str
    controls: str
    knows: str
    goal: str
    plans: tuple[Plan, ...]
    act: Callable[[Season, Plan], None]
    wait: int = 0

    @property
    def meaning(self) -> str:
        """Return the first sentence of the description."""
        first = self.description.strip().partition("\n\n")[0]
        return " ".join(first.split()).partition(". ")[0].rstrip(".") + "."
