"""Count the round trips of sessions to PostgreSQL, as its protocol shows them."""

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

from sqlalchemy import event

from agon.store.session import Store


@contextmanager
def round_trips(store: Store) -> Iterator[list[str]]:
    """Trace the connections that sessions use within the block.

    The list has an item for each of the server's answers after the block.
    """
    traced: list[Any] = []
    answers: list[str] = []
    with TemporaryFile("w+") as trace:

        def start(driver: Any, *_: object) -> None:
            driver.pgconn.trace(trace.fileno())
            traced.append(driver.pgconn)

        event.listen(store._engine, "checkout", start)
        try:
            yield answers
        finally:
            event.remove(store._engine, "checkout", start)
            for connection in traced:
                connection.untrace()
        trace.seek(0)
        answers += [line for line in trace if "ReadyForQuery" in line]
