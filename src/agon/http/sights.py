"""Keep what callers see of boards for as long as nothing is stored."""

import asyncio
from dataclasses import dataclass
from typing import Final, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from agon.app.access.permissions import View, allow, viewed
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import Published, published
from agon.app.service import Service
from agon.entities.access import Caller
from agon.errors import AgonError
from agon.store.row_reader import State

_MOST: Final = 4096
_THREADS: Final = 8
"""More would only wait for each other."""


class Sight(NamedTuple):
    """Hold how much of a contest somebody may see, and what of a board they see."""

    view: View
    published: Published


class Looked(NamedTuple):
    """Name what is looked at, and by whom; who asks from which network makes no difference.

    Attributes:
        snapshot: the one a cursor stays with; None: the one that is shown.
    """

    contest: str
    board: str
    snapshot: int | None
    caller: Caller


@dataclass(frozen=True)
class _Kept:
    state: State
    made: "asyncio.Task[Sight | None]"


class Sights:
    """Look up what a caller sees of a board, once for each state of the database.

    Args:
        service: the house.
        waits: whether the database may keep one waiting (PostgreSQL); then threads are asked.
            SQLite is asked at once: its readers wait for nobody, and handing over takes longer.
    """

    def __init__(self, service: Service, *, waits: bool) -> None:
        self._service = service
        self._threads = CapacityLimiter(_THREADS) if waits else None
        self._kept: dict[Looked, _Kept] = {}

    def kept(self, looked: Looked) -> tuple[State, Sight] | None:
        """Return what was looked up last, and the state it is certain for, if it was."""
        found = self._kept.get(looked)
        if found is None or not found.made.done():
            return None
        sight = found.made.result()
        return None if sight is None else (found.state, sight)

    async def at(self, looked: Looked, state: State) -> Sight | None:
        """Look up what is seen in a state that was the database's a moment ago, or in a later one.

        None: there is something else to tell than a page. Whoever asks while another one looks
        for the same in the same state waits for them.
        """
        found = self._kept.get(looked)
        if found is None or found.state != state:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            found = _Kept(state, asyncio.create_task(self._made(looked)))
            self._kept[looked] = found
        sight = await asyncio.shield(found.made)
        if sight is None and self._kept.get(looked) is found:
            del self._kept[looked]
        return sight

    async def _made(self, looked: Looked) -> Sight | None:
        try:
            if self._threads is None:
                return self._look(looked)
            return await run_sync(self._look, looked, limiter=self._threads)
        except AgonError:
            return None

    def _look(self, looked: Looked) -> Sight:
        at = None if looked.snapshot is None else Cursor(looked.snapshot, 0)
        with self._service.store.read() as session:
            view = viewed(session, looked.contest, looked.caller)
            allow(looked.caller, "contest.read", contest=view.contest)
            return Sight(view, published(session, view, looked.board, at=at))
