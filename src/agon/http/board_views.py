"""Cache what callers see of boards until the database changes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from agon.api.authorization import permitted_view
from agon.app.access.permissions import View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import PublishedBoard, find_board
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import AgonError
from agon.http.boards import render_head
from agon.store.board_rows import StateToken

ACTION: Final = "contest.read"
"""The permission needed to read a board."""

_MAX_VIEWS: Final = 4096
_MAX_THREADS: Final = 8
"""Maximum number of threads that look up boards; more would only wait for each other."""

T = TypeVar("T")


class BoardView(NamedTuple):
    """The part of a contest and of one of its boards that a caller may see.

    Attributes:
        contest: what the caller sees of the contest.
        board: what the caller sees of the board.
        head: the JSON that its pages begin with.
        has_names: whether the contest shows names, and any participant has one, or had one.
    """

    contest: View
    board: PublishedBoard
    head: bytes
    has_names: bool


class ViewKey(NamedTuple):
    """The key of a view: which state of which board, and for which caller.

    Attributes:
        as_of: a position or time; None: the newest visible state.
        snapshot: the number of the cursor's snapshot; None: no cursor.
        caller: without its network, which has no influence.
    """

    contest: str
    board: str
    as_of: str | None
    snapshot: int | None
    caller: Caller


@dataclass(frozen=True)
class _Entry:
    state: StateToken
    lookup: "asyncio.Task[BoardView | AgonError]"


class ViewCache:
    """Looks up what a caller sees of a board, once for each state of the database.

    Args:
        service: the service.
        in_threads: whether a lookup waits for the database (PostgreSQL) and so needs a thread.
            SQLite is read on the event loop: its readers never wait, and a thread costs more.
    """

    def __init__(self, service: Service, *, in_threads: bool) -> None:
        self._service = service
        self._in_threads = in_threads
        self._threads = CapacityLimiter(_MAX_THREADS)
        self._entries: dict[ViewKey, _Entry] = {}

    def find(self, key: ViewKey) -> tuple[StateToken, BoardView] | None:
        """Return the cached view and the state of the database it is valid for, if there is one."""
        entry = self._entries.get(key)
        if entry is None or not entry.lookup.done():
            return None
        view = entry.lookup.result()
        return None if isinstance(view, AgonError) else (entry.state, view)

    async def load(self, key: ViewKey, state: StateToken) -> BoardView:
        """Return the view in a given state of the database, or in a later one.

        Requests for the same key in the same state share one lookup. Errors are not cached.

        Raises:
            AgonError: the caller sees no such board.
        """
        entry = self._entries.get(key)
        if entry is None or entry.state != state:
            if len(self._entries) >= _MAX_VIEWS:
                self._entries.clear()
            entry = _Entry(state, asyncio.create_task(self._lookup(key)))
            self._entries[key] = entry
        view = await asyncio.shield(entry.lookup)
        if isinstance(view, AgonError):
            if self._entries.get(key) is entry:
                del self._entries[key]
            raise view
        return view

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Return the result of a call made in one of the threads for lookups."""
        return await run_sync(call, limiter=self._threads)

    def contest(self, name: str, caller: Caller) -> View:
        """Return what a caller sees of a contest, looked up in a session.

        Raises:
            AgonError: the caller sees no such contest.
        """
        with self._service.store.read() as session:
            return permitted_view(session, ACTION, caller, name)

    async def _lookup(self, key: ViewKey) -> BoardView | AgonError:
        try:
            if self._in_threads:
                return await self.in_thread(lambda: self._find(key))
            return self._find(key)
        except AgonError as error:
            return error

    def _find(self, key: ViewKey) -> BoardView:
        at = None if key.snapshot is None else Cursor(key.snapshot, 0)
        with self._service.store.read() as session:
            view = permitted_view(session, ACTION, key.caller, key.contest)
            board = find_board(session, view, key.board, as_of=key.as_of, at=at)
            has_names = view.contest.shows_names and session.names.exist(view.contest.no)
        return BoardView(view, board, render_head(view, board), has_names)
