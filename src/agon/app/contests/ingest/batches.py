"""Hold records as they are given: one, or a portion of them that is looked at together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, NamedTuple

from agon.records import Problem


class Given(NamedTuple):
    """Hold one record as it was given.

    Attributes:
        table: its table; empty where that cannot be told.
        row: its columns; or what is wrong with the line.
        external_id: the giver's own name for it.
        line: where it stood, from 1.
    """

    table: str
    row: Mapping[str, Any] | Problem
    external_id: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Portion:
    """Hold some records as columns, each as :class:`Given` has it.

    Attributes:
        external_ids: None where no record has one.
    """

    tables: Sequence[str]
    rows: Sequence[Any]
    external_ids: Sequence[str | None] | None
    lines: Sequence[int]


def portion_of(given: Sequence[Given]) -> Portion:
    """Hold records together.

    Example:
        >>> portion_of([Given("votes", {}, None, 1), Given("bots", {}, "b", 2)]).tables
        ('votes', 'bots')
    """
    if not given:
        return Portion((), (), None, ())
    tables, rows, names, lines = zip(*given, strict=True)
    return Portion(tables, rows, names if any(names) else None, lines)


def portions_of(rows: Iterable[Sequence[Any]], size: int) -> Iterator[Portion]:
    """Hold records together, so many at once; each has the line it came with, or its number.

    Example:
        >>> [one.lines for one in portions_of([("votes", {}, None)] * 3, 2)]
        [(1, 2), (3,)]
    """
    given = (
        row if type(row) is Given else Given(row[0], row[1], row[2], number)
        for number, row in enumerate(rows, start=1)
    )
    while portion := list(islice(given, size)):
        yield portion_of(portion)


def as_given(portion: Portion) -> Iterator[Given]:
    """Give the records of a portion one by one."""
    names = portion.external_ids or repeat(None)
    return map(Given, portion.tables, portion.rows, names, portion.lines)
