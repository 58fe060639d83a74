"""Define records as they are sent: one, or a batch of them as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from agon.records import RowIssue
from agon.records.conditions import Columns


class SentRecord(NamedTuple):
    """One record as it was sent.

    Attributes:
        table: its table; empty where the line names none.
        row: its columns; or the issue of a line that is not a record.
        external_id: the sender's own id of it.
        line: its line in the request, from 1.
    """

    table: str
    row: Mapping[str, Any] | RowIssue
    external_id: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows of a batch with one table and the same keys in the same order, as columns.

    Attributes:
        indexes: where they are in the batch.
    """

    table: str
    keys: tuple[str, ...]
    indexes: Sequence[int]
    columns: Columns


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records as columns, named as in :class:`SentRecord`.

    Attributes:
        external_ids: None where no record has one.
        sent: the rows as they were sent, where ``rows`` are other ones; None: they are the same.
        groups: the rows by their shapes, where they are known.
        written: the rows as JSON with sorted keys, where they are written already.
    """

    tables: Sequence[str]
    rows: Sequence[Any]
    external_ids: Sequence[str | None] | None
    lines: Sequence[int]
    sent: Sequence[Any] | None = None
    groups: Sequence[RowGroup] | None = None
    written: Sequence[bytes] | None = None

    def with_rows(self, rows: Sequence[Any], *, sent: Sequence[Any] | None) -> "Batch":
        """Return the batch with other rows in the place of its own."""
        return replace(self, rows=rows, sent=sent, groups=None, written=None)


def batch_of(records: Sequence[SentRecord]) -> Batch:
    """Return records as one batch.

    Example:
        >>> batch_of([SentRecord("votes", {}, None, 1), SentRecord("bots", {}, "b", 2)]).tables
        ('votes', 'bots')
    """
    if not records:
        return Batch((), (), None, ())
    tables, rows, names, lines = zip(*records, strict=True)
    return Batch(tables, rows, names if any(names) else None, lines)


def groups_of(tables: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[RowGroup]:
    """Return rows by table and keys.

    Example:
        >>> [group] = groups_of(["votes", "votes"], [{"vote": "A"}, {"vote": "B"}])
        >>> group.columns, list(group.indexes)
        ({'vote': ('A', 'B')}, [0, 1])
    """
    alike = _alike(tables, rows)
    if alike is not None:
        return [alike]
    lists: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for index, shape in enumerate(zip(tables, map(tuple, rows), strict=True)):
        lists.setdefault(shape, []).append(index)
    return [
        RowGroup(table, keys, indexes, columns_of(keys, rows, indexes))
        for (table, keys), indexes in lists.items()
    ]


def _alike(tables: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> RowGroup | None:
    """Return rows that all have the table and the keys of the first as one group."""
    if not rows or len(set(tables)) > 1:
        return None
    keys = tuple(rows[0])
    if not keys or {len(keys)} != set(map(len, rows)):
        return None
    try:
        columns = {key: tuple(map(itemgetter(key), rows)) for key in keys}
    except KeyError:
        return None
    return RowGroup(tables[0], keys, range(len(rows)), columns)


def columns_of(
    keys: Sequence[str], rows: Sequence[Mapping[str, Any]], indexes: Sequence[int]
) -> Columns:
    """Return the columns of rows that have the same keys in the same order."""
    values = [rows[index].values() for index in indexes]
    return dict(zip(keys, zip(*values, strict=True), strict=False))


def batches_of(rows: Iterable[Sequence[Any]], size: int) -> Iterator[Batch]:
    """Yield batches of at most ``size`` records; each keeps its line or gets its number.

    Example:
        >>> [one.lines for one in batches_of([("votes", {}, None)] * 3, 2)]
        [(1, 2), (3,)]
    """
    records = (
        row if type(row) is SentRecord else SentRecord(row[0], row[1], row[2], number)
        for number, row in enumerate(rows, start=1)
    )
    while batch := list(islice(records, size)):
        yield batch_of(batch)


def records_of(batch: Batch) -> Iterator[SentRecord]:
    """Return the records of a batch one by one."""
    names = batch.external_ids or repeat(None)
    return map(SentRecord, batch.tables, batch.rows, names, batch.lines)
