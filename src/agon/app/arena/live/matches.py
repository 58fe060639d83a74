"""Read the matches of a round: as they were drawn, and what happened."""

import hmac
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from agon.entities.arena import ArenaRound

SIDES: Final = ("a", "b")

_DIGITS: Final = 16
"""Hexadecimal digits of a match's id in work."""

Drawn = Mapping[str, Any]
"""A match as it was drawn."""


def copy_of(arena_round: ArenaRound) -> dict[str, Any]:
    """Return a copy of a round's body whose matches may be changed; what was drawn is shared."""
    matches = orjson.loads(orjson.dumps(arena_round.body["matches"]))  # deepcopy is slow
    return {**arena_round.body, "matches": matches}


def matches_of(arena_round: ArenaRound) -> Iterable[tuple[Drawn, dict[str, Any]]]:
    """Return each match as it was drawn, and what is stored of it."""
    return zip(arena_round.body["draw"]["matches"], arena_round.body["matches"], strict=True)


def match_in_work(seed: str, match: str, assignee: str) -> str:
    """Return the id by which the work of one bot or judge names a match.

    HMAC-SHA256 of the match and the assignee under the round's secret seed: so an id shows neither
    the round of a match nor whether it is an attempt to qualify, and two who compare theirs do not
    learn that they have the same match. Once the seed is revealed, anyone can repeat it.

    Args:
        seed: the round's seed, secret until it is settled.
        match: the match as it was drawn.
        assignee: who has to answer or to vote.

    Example:
        >>> match_in_work("5eed", "r1-1", "ada"), match_in_work("5eed", "r1-1", "bob")
        ('mbece237a01653617', 'm05a94def9bd313e4')
    """
    named = orjson.dumps([match, assignee])
    return f"m{hmac.new(seed.encode(), named, 'sha256').hexdigest()[:_DIGITS]}"


def side_of(vote: Mapping[str, Any]) -> str:
    """Return the side that a judge voted for, or ``tie``.

    Example:
        >>> side_of({"shown_first": "b", "vote": "B"})
        'a'
    """
    if vote["vote"] == "tie":
        return "tie"
    other = "b" if vote["shown_first"] == "a" else "a"
    return str(vote["shown_first"] if vote["vote"] == "A" else other)
