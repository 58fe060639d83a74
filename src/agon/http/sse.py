"""Stream events as they happen (server-sent events): each with its id, resumable, limited."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from fastapi.sse import format_sse_event
from starlette.concurrency import run_in_threadpool

from agon.app.access.permissions import find_view
from agon.app.access.tokens import caller_now
from agon.app.contests.ledgers.event_ids import EventIds
from agon.app.contests.ledgers.events import event_message, visible_event
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Event
from agon.errors import NotFound, TooMany, Unauthenticated

POLL_S: Final = 0.2
"""Seconds between two polls for new events, by one task for all streams of a process."""

LIFETIME_S: Final = 900.0
"""Seconds after which a stream ends; the client reconnects with its Last-Event-ID."""

_MAX_EVENTS: Final = 500
_RETRY: Final = format_sse_event(retry=1000)
_ALIVE: Final = format_sse_event(comment="alive")


@dataclass(frozen=True, kw_only=True)
class Listener:
    """A client and the events it listens to.

    Attributes:
        contest: the contest's id.
        caller: the client.
        token: the token's id, None if there is none; a stream ends when it is revoked.
        since: the last event the client has; None: only later events.
    """

    contest: str
    caller: Caller
    token: str | None = None
    since: int | None = None


@dataclass(frozen=True)
class _Batch:
    """Events of one read, the last event read, and whether there may be more."""

    events: tuple[bytes, ...]
    upto: int
    full: bool


class Streams:
    """The open event streams of one process.

    One task polls for new events; streams at the same position share one query. What a listener
    may see is looked up again for every batch, so that a freeze applies to open streams as well,
    and a revoked token ends its streams.
    """

    def __init__(
        self,
        service: Service,
        *,
        most: int,
        per_address: int,
        keepalive: float,
        poll: float = POLL_S,
        lifetime: float = LIFETIME_S,
    ) -> None:
        self._service = service
        self._most = most
        self._per_address = per_address
        self._keepalive = keepalive
        self._poll = poll
        self._lifetime = lifetime
        self._open: Counter[str] = Counter()
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._shared: dict[Any, Awaitable[_Batch]] = {}
        self._closing = False

    def __len__(self) -> int:
        return self._open.total()

    @cached_property
    def ids(self) -> EventIds:
        """The ids of events in the streams."""
        return EventIds(self._service.signer)

    def close(self) -> None:
        """End all streams; a process that stops does not wait for them."""
        self._closing = True
        self._news.set()

    def admit(self, network: str | None) -> Callable[[], None]:
        """Occupy a slot for a stream and return the function that frees it.

        Raises:
            TooMany: all slots of the process or of this network are taken.
        """
        key = network or ""
        if self._closing or self._open.total() >= self._most:
            raise TooMany("this server has no free event stream; try later", retry_after=10)
        if self._open[key] >= self._per_address:
            raise TooMany(
                f"this network has {self._per_address} event streams, the maximum; close one first",
                retry_after=10,
            )
        self._open[key] += 1

        def release() -> None:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

        return release

    async def events(self, listener: Listener) -> AsyncIterator[bytes]:
        """Yield encoded events, and comments while there are none, until the stream ends."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._lifetime
        self._start_polling()
        index = listener.since
        if index is None:
            index = await run_in_threadpool(self._last)
        yield _RETRY
        while not self._closing and loop.time() < end:
            news = self._news
            try:
                batch = await self._batch(listener, index)
            except (NotFound, Unauthenticated):
                return
            for event in batch.events:
                yield event
            index = batch.upto
            if batch.full:
                continue
            try:
                await asyncio.wait_for(news.wait(), self._keepalive)
            except TimeoutError:
                yield _ALIVE

    def _start_polling(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._poll_events())

    async def _poll_events(self) -> None:
        """Wake the streams when there are new events, as long as there are streams."""
        last_state = -1
        while self._open.total() and not self._closing:
            state = await run_in_threadpool(self._last)
            if state != last_state:
                last_state = state
                self._shared = {}
                news, self._news = self._news, asyncio.Event()
                news.set()
            await asyncio.sleep(self._poll)

    async def _batch(self, listener: Listener, at: int) -> _Batch:
        """Return the next events after one; streams that see the same share the query."""
        key = (listener.contest, listener.token, at)
        shared = self._shared
        reading = shared.get(key)
        if reading is None:
            reading = asyncio.ensure_future(run_in_threadpool(self._read, listener, at))
            shared[key] = reading
        batch = await asyncio.shield(reading)
        if not batch.events and not batch.full:
            shared.pop(key, None)
        return batch

    def _read(self, listener: Listener, at: int) -> _Batch:
        """Read a batch.

        Raises:
            NotFound: the caller may not see the contest any more.
            Unauthenticated: the token is not valid any more.
        """
        with self._service.store.read() as session:
            caller = listener.caller
            if listener.token is not None:
                caller = caller_now(session, listener.token, now=self._service.clock())
            now = self._service.clock()
            view = find_view(session, listener.contest, caller, now=now)
            events = session.events.after(
                at,
                contest_no=view.contest.no,
                until=last_readable_seq(view),
                user=view.user,
                limit=_MAX_EVENTS,
            )
        visible = tuple(
            sse_event(visible_event(view, event), contest=listener.contest, ids=self.ids)
            for event in events
            if view.sees(event)
        )
        return _Batch(visible, events[-1].no if events else at, len(events) == _MAX_EVENTS)

    def _last(self) -> int:
        with self._service.store.read() as session:
            return session.events.last()


def sse_event(event: Event, *, contest: str, ids: EventIds) -> bytes:
    """Return one event as a server-sent event."""
    data = event_message(event, contest=contest, ids=ids).decode()
    return format_sse_event(data_str=data, event=event.kind, id=ids.text(contest, event.no))
