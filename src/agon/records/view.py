"""Give growing records as they were seen at one position."""

import weakref
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Self

from agon.records.raw import quoted
from agon.records.tables import Records


class TablesView(Records):
    """Give growing records as they were seen at one position; growth does not change them.

    Closing them drops their views alone: the engine belongs to whoever grows the records.
    """

    _pending_drops: list[str]
    _of: Records | None = None
    _let_go: Callable[[], object]

    def release_into(self, spent: list[str], *, of: Records | None = None) -> Self:
        """Have the views dropped some time after the last use of these records (and of ``of``)."""
        self._pending_drops, self._of = spent, of
        # Views that read other ones need those to live as long, and may go with them.
        last = weakref.finalize(of or self, spent.append, self._space)
        self._let_go = of.close if of else last
        return self

    def as_of(self, moment: datetime | None) -> Self:
        """Return the records as they were at a moment of their own time."""
        seen = super().as_of(moment)
        return seen if seen is self else seen.release_into(self._pending_drops, of=self)

    def rows_where(self, table: str, column: str, values: Collection[str]) -> list[int]:
        """List the numbers of the rows whose column, as text, is one of some values, rising."""
        sql = (
            f"SELECT _row FROM {self._space}.{quoted(table)} WHERE {quoted(column)}::VARCHAR IN "
            "(SELECT unnest(?::VARCHAR[])) ORDER BY _row"
        )
        return [row for (row,) in self._connection.execute(sql, [list(values)]).fetchall()]

    def close(self) -> None:
        """Let go of the views; a second call does nothing."""
        self._let_go()
