"""Stream events as they happen (server-sent events): each with its id, resumable, bounded."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import orjson
from starlette.concurrency import run_in_threadpool

from agon.app.access.permissions import viewed
from agon.app.access.tokens import expect_good
from agon.app.contests.ledgers.positions import reach
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Event
from agon.errors import NotFound, TooMany, Unauthenticated
from agon.http.event_ids import EventIds

POLL: Final = 0.2
"""Seconds between looks for something new, by one task for all streams of a process."""

LIFETIME: Final = 900.0
"""Seconds after which a stream ends; the client comes back with its Last-Event-ID."""

_PORTION: Final = 500
_RETRY: Final = b"retry: 1000\n\n"
_ALIVE: Final = b": alive\n\n"


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Hold who listens to what.

    Attributes:
        contest: the contest's id.
        caller: who listens.
        token: the token's id, None where there is none; a stream ends when it is revoked.
        since: the last event the client has; None: only what comes from now on.
    """

    contest: str
    caller: Caller
    token: str | None = None
    since: int | None = None


@dataclass(frozen=True)
class _Portion:
    events: tuple[bytes, ...]
    upto: int
    full: bool


class Streams:
    """Hold the open event streams of one process.

    One task looks for new events; streams that stand at the same place share one query. What a
    listener may see is looked up anew with every portion, so that a freeze holds for streams that
    are open as well, and a revoked token ends its streams.
    """

    def __init__(
        self,
        service: Service,
        *,
        most: int,
        per_address: int,
        keepalive: float,
        poll: float = POLL,
        lifetime: float = LIFETIME,
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
        self._shared: dict[Any, Awaitable[_Portion]] = {}
        self._closing = False

    def __len__(self) -> int:
        return self._open.total()

    @cached_property
    def ids(self) -> EventIds:
        """How events are numbered for those who listen."""
        return EventIds(self._service.signer)

    def close(self) -> None:
        """End all streams soon; a process that stops does not wait for them."""
        self._closing = True
        self._news.set()

    def admit(self, network: str | None) -> Callable[[], None]:
        """Take a place for a stream and return what gives it back.

        Raises:
            TooMany: all places of the process or of this network are taken.
        """
        who = network or ""
        if self._closing or self._open.total() >= self._most:
            raise TooMany("all event streams of this server are taken; try later", retry_after=10)
        if self._open[who] >= self._per_address:
            raise TooMany(
                f"this network holds {self._per_address} event streams; close one first",
                retry_after=10,
            )
        self._open[who] += 1

        def leave() -> None:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

        return leave

    async def events(self, listener: Listener) -> AsyncIterator[bytes]:
        """Yield events in the stream's form, comments in silence, until the stream's end."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._lifetime
        self._watch()
        at = listener.since
        if at is None:
            at = await run_in_threadpool(self._last)
        yield _RETRY
        while not self._closing and loop.time() < end:
            news = self._news
            try:
                portion = await self._portion(listener, at)
            except (NotFound, Unauthenticated):
                return
            for event in portion.events:
                yield event
            at = portion.upto
            if portion.full:
                continue
            try:
                await asyncio.wait_for(news.wait(), self._keepalive)
            except TimeoutError:
                yield _ALIVE

    def _watch(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        """Wake the streams whenever there is something new, as long as there are any."""
        seen = -1
        while self._open.total() and not self._closing:
            state = await run_in_threadpool(self._last)
            if state != seen:
                seen = state
                self._shared = {}
                news, self._news = self._news, asyncio.Event()
                news.set()
            await asyncio.sleep(self._poll)

    async def _portion(self, listener: Listener, at: int) -> _Portion:
        """Return the next events after a place; streams of equal sight share the query."""
        key = (listener.contest, listener.token, at)
        shared = self._shared
        found = shared.get(key)
        if found is None:
            found = asyncio.ensure_future(run_in_threadpool(self._read, listener, at))
            shared[key] = found
        portion = await asyncio.shield(found)
        if not portion.events and not portion.full:
            shared.pop(key, None)
        return portion

    def _read(self, listener: Listener, at: int) -> _Portion:
        """Read a portion.

        Raises:
            NotFound: the contest is not to be seen any more.
            Unauthenticated: the token is worth nothing any more.
        """
        with self._service.store.read() as session:
            if listener.token is not None:
                expect_good(session, listener.token, now=self._service.clock())
            view = viewed(session, listener.contest, listener.caller)
            found = session.events.after(
                at, contest_no=view.contest.no, until=reach(view), limit=_PORTION
            )
        shown = tuple(
            sse_event(event, listener.contest, self.ids.text(listener.contest, event.no))
            for event in found
            if view.staff or not event.staff
        )
        return _Portion(shown, found[-1].no if found else at, len(found) == _PORTION)

    def _last(self) -> int:
        with self._service.store.read() as session:
            return session.events.last()


def sse_event(event: Event, contest: str, name: str) -> bytes:
    """Write one event in the stream's form."""
    data = orjson.dumps(
        {
            "contest": contest,
            "seq": event.seq,
            "at": event.at.isoformat().replace("+00:00", "Z"),
            "kind": event.kind,
            "body": event.body,
        },
        option=orjson.OPT_NON_STR_KEYS,
    )
    kind = event.kind.replace("\n", " ").replace("\r", " ").encode()
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (name.encode(), kind, data)
