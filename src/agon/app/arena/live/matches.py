"""Read the matches of a round: as they were drawn, and what happened."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agon.entities.arena import ArenaRound

SIDES: Final = ("a", "b")

Drawn = Mapping[str, Any]
"""A match as it was drawn."""


def matches_of(of: ArenaRound) -> Iterable[tuple[Drawn, dict[str, Any]]]:
    """Return each match as it was drawn, and what is stored of it."""
    return zip(of.body["draw"]["matches"], of.body["matches"], strict=True)
