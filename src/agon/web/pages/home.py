"""The home page: all contests that the visitor may see."""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from agon.api.models.contests import Contest
from agon.client.client import Api
from agon.errors import NotFound
from agon.web import addresses
from agon.web.page import Page, Visit

CARDS: Final = 100
"""Maximum number of contests on the page: each needs its board."""


@dataclass(frozen=True)
class Leader:
    """The first row of a contest's default board."""

    id: str
    score: float


@dataclass(frozen=True)
class Card:
    """A contest on the home page.

    Attributes:
        contest: the contest.
        leader: who leads its default board; None: no one has a score yet.
        participants: number of rows of the default board.
    """

    contest: Contest
    leader: Leader | None
    participants: int


def home(visit: Visit) -> Page:
    """Return the first contests as cards, in the order of their ids."""
    contests = islice(visit.api.contests.list(), CARDS)
    cards = [_card(visit.api, contest) for contest in contests]
    return Page(
        template="home.html",
        title="Contests",
        values={"cards": cards, "shown": CARDS},
        data=addresses.api("contests"),
    )


def _card(api: Api, contest: Contest) -> Card:
    try:
        page = api.boards.page(contest.id, limit=1)
    except NotFound:  # nothing is published yet
        return Card(contest, None, 0)
    leader = Leader(str(page.rows[0]["id"]), page.rows[0]["score"]) if page.rows else None
    return Card(contest, leader, page.rows_total)
