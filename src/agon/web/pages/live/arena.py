"""What the pages of arenas share."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final

from agon.api.models.contests import Contest
from agon.app.arena.live.matches import side_of
from agon.disciplines import Rounds, discipline
from agon.errors import NotFound
from agon.kernel.explanations import Explanation, Part
from agon.web.page import Visit

_PLACES: Final = 6


@dataclass(frozen=True)
class Opponent:
    """How a bot did against another one.

    Attributes:
        id: the other one.
        matches: number of rated matches.
        results: how many were won, tied and lost; None: only the points are known.
        points: 1 for each win and ½ for each tie.
        expected: the points that the ratings predicted.
        change: the sum of the rating changes; None: the rating does not follow single matches.
        ids: of the matches, if they are known.
    """

    id: str
    matches: int
    results: tuple[int, int, int] | None
    points: float
    expected: float
    change: float | None
    ids: Sequence[str]


def arena(visit: Visit) -> tuple[Contest, Rounds]:
    """Return the contest in the path, and what its rounds are about.

    Raises:
        NotFound: there is none, or its discipline has no rounds of matches.
    """
    contest = visit.contest()
    rounds = discipline(contest.discipline).rounds
    if rounds is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no matches")
    return contest, rounds


def votes_by_side(votes: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of votes for each side, and for a tie."""
    counts = Counter(map(side_of, votes))
    return {side: counts[side] for side in ("a", "b", "tie")}


def opponents(explanation: Explanation) -> list[Opponent]:
    """Return how a bot did against each opponent, by the explanation of its rating.

    The order is by number of matches, then by id. Empty: the score does not rest on matches.
    """
    rated = [
        Opponent(
            each["opponent"], each["matches"], None, each["points"], each["expected"], None, ()
        )
        for each in explanation.context.get("opponents", ())
    ]
    matches: dict[str, list[Part]] = defaultdict(list)
    for part in explanation.parts:
        if {"opponent", "score", "expected"} <= part.inputs.keys():
            matches[str(part.inputs["opponent"])].append(part)
    rated += [_opponent(name, parts) for name, parts in matches.items()]
    return sorted(rated, key=lambda each: (-each.matches, each.id))


def _opponent(name: str, parts: Sequence[Part]) -> Opponent:
    """Return the sums of the matches against an opponent."""
    scores = Counter(part.inputs["score"] for part in parts)
    return Opponent(
        name,
        len(parts),
        (scores[1.0], scores[0.5], scores[0.0]),
        fsum(part.inputs["score"] for part in parts),
        round(fsum(part.inputs["expected"] for part in parts), _PLACES),
        fsum(part.points for part in parts),
        [each for part in parts for refs in part.records for each in refs.ids],
    )
