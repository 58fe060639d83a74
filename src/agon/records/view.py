"""Give append-only tables as they were at one position."""

import weakref
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Self

from agon.records.raw import quoted
from agon.records.tables import Records


class TablesView(Records):
    """The records visible at one position of append-only tables; later rows do not change them.

    Closing it drops its views only; the engine belongs to the tables.
    """

    _pending_drops: list[str]
    _of: Records | None = None
    _release: Callable[[], object]

    def release_into(self, pending: list[str], *, of: Records | None = None) -> Self:
        """Queue the views in ``pending`` to be dropped after the last use (of ``of``, too)."""
        self._pending_drops, self._of = pending, of
        # Views that read other ones need those to live as long, and may go with them.
        last = weakref.finalize(of or self, pending.append, self._space)
        self._release = of.close if of else last
        return self

    def as_of(self, timestamp: datetime | None) -> Self:
        """Return the records as they were at a time."""
        view = super().as_of(timestamp)
        return view if view is self else view.release_into(self._pending_drops, of=self)

    def rows_where(self, table: str, column: str, values: Collection[str]) -> list[int]:
        """Return the numbers of rows whose column, as text, has one of some values, in order."""
        sql = (
            f"SELECT _row FROM {self._space}.{quoted(table)} WHERE {quoted(column)}::VARCHAR IN "
            "(SELECT unnest(?::VARCHAR[])) ORDER BY _row"
        )
        return [row for (row,) in self._connection.execute(sql, [list(values)]).fetchall()]

    def close(self) -> None:
        """Drop the views; a second call does nothing."""
        self._release()
