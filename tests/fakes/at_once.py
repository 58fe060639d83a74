"""Run two concurrent PostgreSQL sessions, the second before the first has committed."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from agon.app.service import Service
from agon.errors import AgonError
from agon.store.session import Session, Store

if TYPE_CHECKING:
    from postgresql_server import Postgresql

Result = TypeVar("Result")

_TIMEOUT_S = 60.0
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@dataclass(frozen=True)
class _Held:
    """A store whose write sessions call a function before they commit."""

    store: Store
    before_commit: Callable[[], None]

    @contextmanager
    def write(self) -> Iterator[Session]:
        with self.store.write() as session:
            yield session
            self.before_commit()

    @contextmanager
    def read(self) -> Iterator[Session]:
        with self.store.read() as session:
            yield session

    def close(self) -> None:
        """Do nothing; the caller closes the store."""


def at_once(
    service: Service,
    server: "Postgresql",
    first: Callable[[Service], object],
    second: Callable[[Service], Result],
) -> Result | AgonError:
    """Run two actions concurrently in a fixed order; return the result or error of the second.

    The second starts when the first is complete but not committed; the first commits as
    soon as the second is complete or waits for a lock.
    """
    with ThreadPoolExecutor(1) as pool:
        begun: list[Future[Result]] = []

        def begin() -> None:
            begun.append(pool.submit(second, service))
            end = time.monotonic() + _TIMEOUT_S
            while not begun[0].done() and not _one_waits(server):
                assert time.monotonic() < end, "the second neither ended nor waited for a lock"
                time.sleep(0.01)

        first(replace(service, store=_Held(service.store, begin)))  # type: ignore[arg-type]  # stands in for the store
        try:
            return begun[0].result(_TIMEOUT_S)
        except AgonError as refused:
            return refused


def _one_waits(server: "Postgresql") -> bool:
    with server.connect() as connection, connection.cursor() as cursor:
        row = cursor.execute(_WAITING).fetchone()
        return row is not None and bool(row[0])
