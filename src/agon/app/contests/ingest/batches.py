"""Define records as they are sent: one, or a batch of them as columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, NamedTuple

from agon.records import RowIssue


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
class Batch:
    """Some records as columns, named as in :class:`SentRecord`.

    Attributes:
        external_ids: None where no record has one.
        sent: the rows as they were sent, where ``rows`` are in normal form; None: they are not.
    """

    tables: Sequence[str]
    rows: Sequence[Any]
    external_ids: Sequence[str | None] | None
    lines: Sequence[int]
    sent: Sequence[Any] | None = None


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
