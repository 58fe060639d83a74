"""Read from results of queries that were run before, without a connection.

A page whose queries were run on the event loop is made there, in one piece: a thread of its own
would compete with other pages for the interpreter.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agon.store.connection.transaction import Transaction

Results: TypeAlias = dict[Hashable, Any]
"""Rows by query: its text, followed by its values. Other values may be stored under other keys."""


@dataclass(frozen=True)
class Query:
    """A query in the terms of :meth:`~agon.store.connection.transaction.Transaction.query`.

    Attributes:
        sql: its text.
        values: its values.
        is_shared: whether several operations need it (``query_once``).
    """

    sql: str
    values: Sequence[Any]
    is_shared: bool

    @property
    def key(self) -> Hashable:
        """Return the key of its rows."""
        return (self.sql, *self.values)


class NotRead(Exception):
    """The result of a query is not known.

    Attributes:
        query: the query; None: it can be run in a session only.
    """

    def __init__(self, query: Query | None) -> None:
        self.query = query
        super().__init__("a query without a known result" if query is None else query.sql)


class KnownResults(Transaction):
    """A transaction that returns known results, and raises :class:`NotRead` for others.

    Args:
        results: of queries that several operations share.
        own: of other queries.
    """

    _shared: Results
    _own: Results

    def __init__(self, results: Results, own: Results) -> None:
        super().__init__(_NO_CONNECTION, "", results)
        vars(self).update(_shared=results, _own=own)  # the class is frozen

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return _rows(Query(sql, values, is_shared=False), self._own)

    def query_once(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that several operations share."""
        return _rows(Query(sql, values, is_shared=True), self._shared)


def _rows(query: Query, results: Results) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] | None = results.get(query.key)
    if rows is None:
        raise NotRead(query)
    return rows


class _NoConnection:
    """Raises what a missing result raises, also for statements that are not plain queries."""

    def __getattr__(self, name: str) -> Any:
        raise NotRead(None)


_NO_CONNECTION: Final[Any] = _NoConnection()
