"""Spans: the positions of a ledger at which each record is visible."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

FOREVER: Final = 2**63 - 1
"""The ``until`` of a span that has not ended."""


class Span(NamedTuple):
    """A span: a record is visible at S if since <= S and (until is None or S < until)."""

    table: str
    record: int
    since: int
    until: int | None


def _none() -> Integers:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans as columns, in order of ``record``, then of ``since``.

    A span ends where its record is replaced or voided, or its change set is rolled back. Where that
    is rolled back in turn, the record has another span. Rows are in order of ``record``.

    Attributes:
        tables: names of the tables, in the order they first occur.
        table: number of each span's table in ``tables``.
        record: position of the record's own entry.
        since: position from which it is visible.
        until: position from which it is no longer visible, :data:`FOREVER` where there is none.
    """

    tables: tuple[str, ...] = ()
    table: Integers = field(default_factory=_none)
    record: Integers = field(default_factory=_none)
    since: Integers = field(default_factory=_none)
    until: Integers = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.record)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spans) or self.tables != other.tables:
            return False
        mine = (self.table, self.record, self.since, self.until)
        return all(map(np.array_equal, mine, (other.table, other.record, other.since, other.until)))

    __hash__ = None  # type: ignore[assignment]  # columns of arrays have no hash

    def __iter__(self) -> Iterator[Span]:
        columns = (self.table, self.record, self.since, self.until)
        for table, record, since, until in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            yield Span(self.tables[table], record, since, None if until == FOREVER else until)

    def visible(self, *, at: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each span whether it covers a position."""
        visible: np.ndarray[Any, np.dtype[np.bool_]] = (self.since <= at) & (at < self.until)
        return visible

    def records(self, *, at: int, table: str | None = None) -> Integers:
        """Return the records visible at a position, of one table or of all, in order.

        Example:
            >>> at = np.array([1, 2]); spans = Spans(("votes",), at * 0, at, at, at + 1)
            >>> spans.records(at=2).tolist()
            [2]
        """
        visible = self.visible(at=at)
        if table is not None:
            if table not in self.tables:
                return _none()
            visible &= self.table == self.tables.index(table)
        return self.record[visible]

    def table_of(self, record: int) -> str | None:
        """Return the table of a record; None if there is no record at that position."""
        index = int(np.searchsorted(self.record, record))
        if index == len(self.record) or self.record[index] != record:
            return None
        return self.tables[int(self.table[index])]

    def extend(
        self,
        *,
        tables: Sequence[str],
        records: Sequence[int],
        table: Sequence[int],
        visibility_changes: Mapping[int, Sequence[int]],
    ) -> "Spans":
        """Return the spans after later entries.

        Args:
            tables: names of all tables; known ones keep their index.
            records: positions of new records, ascending, after all known ones.
            table: number of each new record's table.
            visibility_changes: for a record, the positions at which its visibility changed.
        """
        if not (len(records) or visibility_changes):
            return self
        new = np.array(records, dtype=np.int64)
        columns = {
            "table": np.concatenate([self.table, np.array(table, dtype=np.int64)]),
            "record": np.concatenate([self.record, new]),
            "since": np.concatenate([self.since, new]),
            "until": np.concatenate([self.until, np.full(len(new), FOREVER, dtype=np.int64)]),
        }
        if visibility_changes:
            columns = _split(columns, visibility_changes)
        for column in columns.values():
            column.flags.writeable = False
        return Spans(tuple(tables), **columns)


def _split(
    columns: dict[str, Integers], visibility_changes: Mapping[int, Sequence[int]]
) -> dict[str, Integers]:
    """Return the columns with spans ended and begun where the visibility of records changed."""
    # A record may have several spans already; its last one is the one still open.
    last = np.searchsorted(columns["record"], np.array(list(visibility_changes)), side="right") - 1
    until = columns["until"]
    later: list[tuple[int, int, int, int]] = []
    for index, (record, positions) in zip(last.tolist(), visibility_changes.items(), strict=True):
        start = None
        is_visible = until[index] == FOREVER
        for position in positions:
            if not is_visible:
                start = position
            # The first change to hidden ends the span there is; later ones end spans added here.
            elif start is None:
                until[index] = position
            else:
                later.append((int(columns["table"][index]), record, start, position))
            is_visible = not is_visible
        if is_visible and start is not None:
            later.append((int(columns["table"][index]), record, start, FOREVER))
    if not later:
        return columns
    added_columns = np.array(later, dtype=np.int64).T
    joined = {
        name: np.concatenate([column, added])
        for (name, column), added in zip(columns.items(), added_columns, strict=True)
    }
    order = np.lexsort((joined["since"], joined["record"]))
    return {name: column[order] for name, column in joined.items()}
