"""What the pages of arenas share."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from agon.api.models.contests import Contest
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.web.page import Visit


def has_matches(name: str) -> bool:
    """Return whether the records of a discipline are matches of bots.

    Example:
        >>> has_matches("arena"), has_matches("dojo")
        (True, False)
    """
    return any(table.name == "matches" for table in discipline(name).schema)


def arena(visit: Visit) -> Contest:
    """Return the contest in the path.

    Raises:
        NotFound: there is none, or its discipline has no matches.
    """
    contest = visit.contest()
    if not has_matches(contest.discipline):
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no matches")
    return contest


def side_of(vote: Mapping[str, Any]) -> str:
    """Return what a vote was for: side a, side b, or a tie.

    Example:
        >>> side_of({"shown_first": "b", "vote": "A"}), side_of({"shown_first": "b", "vote": "tie"})
        ('b', 'tie')
    """
    if vote["vote"] == "tie":
        return "tie"
    return "a" if (vote["vote"] == "A") == (vote["shown_first"] == "a") else "b"


def votes_by_side(votes: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of votes for each side, and for a tie."""
    counts = Counter(map(side_of, votes))
    return {side: counts[side] for side in ("a", "b", "tie")}
