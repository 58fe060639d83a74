"""Let requests wait for the work of bots and judges: one query for all that wait in a process."""

import asyncio
from contextlib import suppress
from typing import Final, TypeAlias

from starlette.concurrency import run_in_threadpool

from agon.app.service import Service
from agon.errors import AgonError

POLL_S: Final = 0.1
"""Seconds between two looks for new work."""

Assignee: TypeAlias = tuple[int, str]
"""The number of a contest, and a bot or a judge in it."""


class WorkWaits:
    """The requests of one process that wait for work.

    One task looks who has work, as long as requests wait; so many of them cost as much as one, and
    each ends a moment after its work was assigned.
    """

    def __init__(self, service: Service, *, poll: float = POLL_S) -> None:
        self._service = service
        self._poll = poll
        self._events: dict[Assignee, list[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def __len__(self) -> int:
        return sum(map(len, self._events.values()))

    def close(self) -> None:
        """End all waits; a process that stops does not wait for them."""
        self._closing = True
        self._set(self._events)

    async def wait(self, assignee: Assignee, seconds: float) -> bool:
        """Wait until an assignee has work; return False if there is none after so many seconds."""
        if self._closing:
            return True
        event = asyncio.Event()
        self._events.setdefault(assignee, []).append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            waiting = self._events[assignee]
            waiting.remove(event)
            if not waiting:
                del self._events[assignee]
        return True

    async def _look(self) -> None:
        """End the waits of those who have work, as long as there are any."""
        while self._events and not self._closing:
            with suppress(AgonError):  # the requests themselves report what is wrong
                self._set(await run_in_threadpool(self._assignees))
            await asyncio.sleep(self._poll)

    def _set(self, assignees: "set[Assignee] | dict[Assignee, list[asyncio.Event]]") -> None:
        for assignee in assignees:
            for event in self._events.get(assignee, ()):
                event.set()

    def _assignees(self) -> set[Assignee]:
        with self._service.store.read() as session:
            return session.arena.assignees(now=self._service.clock())
