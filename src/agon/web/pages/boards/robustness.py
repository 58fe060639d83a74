"""How sure the ranks of an arena's bots are: a page of its own, and columns of boards."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agon.api.models.boards import BoardPage
from agon.api.models.rounds import BoardRobustness, DecidedRank
from agon.disciplines import discipline
from agon.web import addresses
from agon.web.page import SitePage, Visit
from agon.web.pages.empty import or_empty
from agon.web.pages.live.arena import arena

_OF_BOTS = ("ties", "connectivity", "coverage", "names")
"""Probes whose records are bots."""


@or_empty
def robustness(visit: Visit) -> SitePage:
    """Return how sure the ranks are: what the audit's probes find, and the noise of Elo."""
    contest, _ = arena(visit)
    shown = visit.api.rounds.robustness(contest.id, as_of=visit.as_of)
    ends = [end for band in shown.bands for end in (band.low, band.high)]
    lowest, highest = min(ends, default=0.0), max(ends, default=1.0)
    return SitePage(
        template="robustness.html",
        title=f"How sure is this board? · {contest.title}",
        values={
            "contest": contest,
            "shown": shown,
            "looks": sum(probe.verdict == "look" for probe in shown.probes),
            "kinds": {"voters": "judge", **dict.fromkeys(_OF_BOTS, "bot")},
            "lowest": lowest,
            "scale": 100 / (highest - lowest) if highest > lowest else 0.0,
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "robustness", as_of=visit.as_of),
    )


@dataclass(frozen=True)
class Robust:
    """What a board states of robustness.

    Attributes:
        stored: as the API returns it.
        width: returns half the width of the noise band of a row; None: the board is not of Elo.
        ranks: by bot how few matches would change its rank; empty on other boards than
            Bradley–Terry, on pages of the past and until it is computed.
        is_awaited: whether the ranks are not computed yet.
    """

    stored: BoardRobustness
    width: Callable[[dict[str, Any]], float] | None
    ranks: dict[str, DecidedRank]
    is_awaited: bool


def robustness_of(visit: Visit, page: BoardPage) -> Robust | None:
    """Return what a board states of robustness; None: it is not of an arena's bots.

    A page of the past is the same for ever, so it does not depend on what was computed since.
    """
    rounds = discipline(page.discipline).rounds
    if rounds is None or page.board not in {rounds.ratings, rounds.strengths}:
        return None
    as_of = str(page.seq)
    stored: BoardRobustness = visit.api.rounds.board_robustness(page.contest, as_of=as_of)
    if page.board == rounds.ratings:
        new, established = (floor.width for floor in stored.noise)

        def width(row: dict[str, Any]) -> float:
            return new if row["matches"] < stored.matches_established else established

        return Robust(stored, width, {}, is_awaited=False)
    if visit.as_of is not None:
        return Robust(stored, None, {}, is_awaited=False)
    return Robust(
        stored, None, {rank.bot: rank for rank in stored.ranks}, is_awaited=not stored.is_computed
    )
