"""The page of a contest of which no board was published yet."""

from collections.abc import Callable
from functools import wraps

from agon.errors import NotFound
from agon.web import addresses
from agon.web.page import SitePage, Visit


def or_empty(view: Callable[[Visit], SitePage]) -> Callable[[Visit], SitePage]:
    """Return a view that shows what a contest has before its first board, in place of an error.

    Participants, judges and the organizer load its pages before anything is scored.

    Args:
        view: reads a page from published boards.
    """

    @wraps(view)
    def view_or_empty(visit: Visit) -> SitePage:
        try:
            return view(visit)
        except NotFound:
            if not has_no_board(visit):
                raise
            contest = visit.contest()
            return SitePage(
                template="empty.html",
                title=contest.title,
                values={"contest": contest},
                data=addresses.api("contests", contest.id),
                summary="nothing is scored yet",
            )

    return view_or_empty


def has_no_board(visit: Visit) -> bool:
    """Return whether a page is of the present of a contest without any board."""
    return visit.as_of is None and not visit.api.boards.list(visit.contest().id).items
