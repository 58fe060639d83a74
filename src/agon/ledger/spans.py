"""Spans: from which to which position of a ledger each record is seen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

FOREVER: Final = 2**63 - 1
"""The ``until`` of a span that has not ended."""


class Span(NamedTuple):
    """One span: a record is seen at position S if since <= S and (until is None or S < until)."""

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
        since: position from which it is seen.
        until: position from which it is no longer seen, :data:`FOREVER` where there is none.
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
        for table, record, since, until in zip(*(one.tolist() for one in columns), strict=True):
            yield Span(self.tables[table], record, since, None if until == FOREVER else until)

    def seen(self, *, at: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each span whether it covers a position."""
        seen: np.ndarray[Any, np.dtype[np.bool_]] = (self.since <= at) & (at < self.until)
        return seen

    def records(self, *, at: int, table: str | None = None) -> Integers:
        """Return the records seen at a position, of one table or of all, in order.

        Example:
            >>> one = np.array([1, 2]); spans = Spans(("votes",), one * 0, one, one, one + 1)
            >>> spans.records(at=2).tolist()
            [2]
        """
        seen = self.seen(at=at)
        if table is not None:
            if table not in self.tables:
                return _none()
            seen &= self.table == self.tables.index(table)
        return self.record[seen]

    def table_of(self, record: int) -> str | None:
        """Return the table of a record; None if there is no record at that position."""
        at = int(np.searchsorted(self.record, record))
        if at == len(self.record) or self.record[at] != record:
            return None
        return self.tables[int(self.table[at])]

    def grown(
        self,
        *,
        tables: Sequence[str],
        records: Sequence[int],
        table: Sequence[int],
        turns: Mapping[int, Sequence[int]],
    ) -> "Spans":
        """Return the spans after later entries.

        Args:
            tables: names of all tables; known ones keep their index.
            records: positions of new records, ascending, after all known ones.
            table: number of each new record's table.
            turns: for a record, the positions from which it was no longer or again seen.
        """
        if not (len(records) or turns):
            return self
        new = np.array(records, dtype=np.int64)
        columns = {
            "table": np.concatenate([self.table, np.array(table, dtype=np.int64)]),
            "record": np.concatenate([self.record, new]),
            "since": np.concatenate([self.since, new]),
            "until": np.concatenate([self.until, np.full(len(new), FOREVER, dtype=np.int64)]),
        }
        if turns:
            columns = _turned(columns, turns)
        for column in columns.values():
            column.flags.writeable = False
        return Spans(tuple(tables), **columns)


def _turned(
    columns: dict[str, Integers], turns: Mapping[int, Sequence[int]]
) -> dict[str, Integers]:
    """Return the columns with spans ended and begun at the turns of their records."""
    last = np.searchsorted(columns["record"], np.array(list(turns)), side="right") - 1
    until = columns["until"]
    again: list[tuple[int, int, int, int]] = []
    for place, (record, positions) in zip(last.tolist(), turns.items(), strict=True):
        began = None
        is_seen = until[place] == FOREVER
        for position in positions:
            if not is_seen:
                began = position
            elif began is None:
                until[place] = position
            else:
                again.append((int(columns["table"][place]), record, began, position))
            is_seen = not is_seen
        if is_seen and began is not None:
            again.append((int(columns["table"][place]), record, began, FOREVER))
    if not again:
        return columns
    more = np.array(again, dtype=np.int64).T
    joined = {
        name: np.concatenate([column, added])
        for (name, column), added in zip(columns.items(), more, strict=True)
    }
    order = np.lexsort((joined["since"], joined["record"]))
    return {name: column[order] for name, column in joined.items()}
