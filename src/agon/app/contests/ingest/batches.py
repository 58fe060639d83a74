"""Hold records as they are given: one, or a batch of them that is looked at together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, NamedTuple

from agon.records import RowIssue


class Record(NamedTuple):
    """Hold one record as it was given.

    Attributes:
        table: its table; empty where that cannot be told.
        row: its columns; or what is wrong with the line.
        external_id: the giver's own name for it.
        line: where it stood, from 1.
    """

    table: str
    row: Mapping[str, Any] | RowIssue
    external_id: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Hold some records as columns, each as :class:`Record` has it.

    Attributes:
        external_ids: None where no record has one.
    """

    tables: Sequence[str]
    rows: Sequence[Any]
    external_ids: Sequence[str | None] | None
    lines: Sequence[int]


def batch_of(given: Sequence[Record]) -> Batch:
    """Hold records together.

    Example:
        >>> batch_of([Record("votes", {}, None, 1), Record("bots", {}, "b", 2)]).tables
        ('votes', 'bots')
    """
    if not given:
        return Batch((), (), None, ())
    tables, rows, names, lines = zip(*given, strict=True)
    return Batch(tables, rows, names if any(names) else None, lines)


def batches_of(rows: Iterable[Sequence[Any]], size: int) -> Iterator[Batch]:
    """Hold records together, so many at once; each has the line it came with, or its number.

    Example:
        >>> [one.lines for one in batches_of([("votes", {}, None)] * 3, 2)]
        [(1, 2), (3,)]
    """
    given = (
        row if type(row) is Record else Record(row[0], row[1], row[2], number)
        for number, row in enumerate(rows, start=1)
    )
    while batch := list(islice(given, size)):
        yield batch_of(batch)


def records_of(batch: Batch) -> Iterator[Record]:
    """Give the records of a batch one by one."""
    names = batch.external_ids or repeat(None)
    return map(Record, batch.tables, batch.rows, names, batch.lines)
