"""Read the matches of a round: as they were drawn, and what happened."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from agon.entities.arena import ArenaRound

SIDES: Final = ("a", "b")

Drawn = Mapping[str, Any]
"""A match as it was drawn."""


def copy_of(of: ArenaRound) -> dict[str, Any]:
    """Return a copy of a round's body whose matches may be changed; what was drawn is shared."""
    matches = orjson.loads(orjson.dumps(of.body["matches"]))  # deepcopy is slow
    return {**of.body, "matches": matches}


def matches_of(of: ArenaRound) -> Iterable[tuple[Drawn, dict[str, Any]]]:
    """Return each match as it was drawn, and what is stored of it."""
    return zip(of.body["draw"]["matches"], of.body["matches"], strict=True)


def public_id(match: Mapping[str, Any]) -> str:
    """Return the id by which work names a match; rounds of earlier versions have the drawn id."""
    name: str = match.get("public_id") or match["match"]
    return name
