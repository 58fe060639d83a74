"""Define records as they are sent: one, or a batch of them as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice, repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

from agon.records import RowIssue
from agon.records.conditions import Columns

_MAX_TABLES: Final = 16
"""Maximum number of tables whose rows are separated by a pass over all rows for each."""


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
        is_normal: whether the rows are known to be in normal form.
    """

    table: str
    keys: tuple[str, ...]
    indexes: Sequence[int]
    columns: Columns
    is_normal: bool = False


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
    names = set(tables)
    if len(names) > _MAX_TABLES:  # names of unknown tables, as many as there are lines
        return _by_shape(tables, rows, range(len(rows)))
    groups: list[RowGroup] = []
    for name in names:
        indexes: Sequence[int] = range(len(rows))
        own = rows
        if len(names) > 1:
            is_own = [*map(name.__eq__, tables)]
            indexes, own = [*compress(indexes, is_own)], [*compress(rows, is_own)]
        alike = _alike(name, own, indexes)
        groups += [alike] if alike is not None else _by_shape(tables, rows, indexes)
    return sorted(groups, key=lambda group: group.indexes[0])


def _alike(
    table: str, rows: Sequence[Mapping[str, Any]], indexes: Sequence[int]
) -> RowGroup | None:
    """Return the rows of a table as one group, if all have the keys of the first."""
    keys = tuple(rows[0])
    if not keys or {len(keys)} != set(map(len, rows)):
        return None
    try:
        columns = {key: tuple(map(itemgetter(key), rows)) for key in keys}
    except KeyError:
        return None
    return RowGroup(table, keys, indexes, columns)


def _by_shape(
    tables: Sequence[str], rows: Sequence[Mapping[str, Any]], indexes: Sequence[int]
) -> list[RowGroup]:
    """Return the rows at some indexes by table and keys."""
    lists: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for index in indexes:
        lists.setdefault((tables[index], tuple(rows[index])), []).append(index)
    return [
        RowGroup(table, keys, of_shape, columns_of(keys, rows, of_shape))
        for (table, keys), of_shape in lists.items()
    ]


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
