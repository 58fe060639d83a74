"""Read pages of boards as callers see them."""

from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from anyio import CapacityLimiter

from agon.api.authorization import permitted_view
from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import (
    BoardRows,
    PageRequest,
    PublishedBoard,
    find_board,
    no_row,
    read_page,
)
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import NotFound
from agon.http.boards.render import render_head
from agon.store.state_cache import StateCache

ACTION: Final = "contest.read"
"""The permission needed to read a board."""

_MAX_VIEWS: Final = 4096
_MAX_THREADS: Final = 8
"""Maximum number of threads that read boards; more would only wait for each other."""


class BoardView(NamedTuple):
    """The part of a contest and of one of its boards that a caller may see.

    Attributes:
        contest: what the caller sees of the contest.
        board: what the caller sees of the board.
        head: the JSON that its pages begin with.
        changes_at: when the start of the contest may show more; None: it is over.
    """

    contest: View
    board: PublishedBoard
    head: bytes
    changes_at: datetime | None


class ViewKey(NamedTuple):
    """What a view depends on, other than what is stored.

    Attributes:
        contest: the contest's id.
        board: the board's name.
        as_of: a position or time; None: the newest visible state.
        snapshot: the number of the cursor's snapshot; None: no cursor.
        caller: without its network, which has no influence.
    """

    contest: str
    board: str
    as_of: str | None
    snapshot: int | None
    caller: Caller

    @classmethod
    def of(cls, contest: str, board: str, request: PageRequest, caller: Caller) -> "ViewKey":
        """Return the key of the view that a request needs."""
        snapshot = None if request.cursor is None else request.cursor.snapshot
        return cls(contest, board, request.as_of, snapshot, replace(caller, network=None))


class BoardReader:
    """Reads pages of boards without a session, as long as nothing is stored.

    What a caller sees of a board is looked up in a session, and cached with the state that the
    database had before. A request reads the state again, and uses what is cached for that state: so
    its response is never older than itself. Rows are read under the number of their snapshot,
    where they never change.

    Args:
        service: the service.

    Attributes:
        threads: limits the threads in which it is called, where it may wait for the database.
    """

    def __init__(self, service: Service) -> None:
        self.threads = CapacityLimiter(_MAX_THREADS)
        self._service = service
        self._views: StateCache[BoardView] = StateCache(most=_MAX_VIEWS)

    def read(self, key: ViewKey, request: PageRequest) -> tuple[BoardView, BoardRows | None]:
        """Return what a caller sees of a board, and the requested page; None: no row has the id.

        Raises:
            AgonError: the caller sees no such board.
            NotStored: the rows are no longer stored.
        """
        view = self._view(key)
        try:
            return view, read_page(self._service.store.rows(), view.board, request)
        except NotStored:  # perhaps they were deleted after the lookup, and others have the same
            self._views.drop(key, view)
            view = self._view(key)
            return view, read_page(self._service.store.rows(), view.board, request)

    def no_row(self, view: BoardView, name: str) -> NotFound:
        """Return the error that a board has no row of an id, with the reason of an unscored one."""
        return no_row(self._service.store.rows(), view.board, name)

    def _view(self, key: ViewKey) -> BoardView:
        state, look_up = self._service.store.state(), lambda: self._look_up(key)
        view = self._views.get(key, state, look_up)
        # A contest starts by the clock, which does not change the state of the database.
        if view.changes_at is None or self._service.clock() < view.changes_at:
            return view
        self._views.drop(key, view)
        return self._views.get(key, state, look_up)

    def _look_up(self, key: ViewKey) -> BoardView:
        now = self._service.clock()
        start = None if key.snapshot is None else Cursor(key.snapshot, 0)
        with self._service.store.read() as session:
            view = permitted_view(session, ACTION, key.caller, key.contest, now=now)
            board = find_board(session, view, key.board, as_of=key.as_of, at=start)
        starts_at = view.contest.starts_at
        changes_at = None if starts_at is None or now >= starts_at else starts_at
        return BoardView(view, board, render_head(view, board), changes_at)
