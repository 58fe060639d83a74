"""Decide over the columns of a request what the values of one row cannot show.

``10.0`` is the id 10 where all ids of its column are whole, and the numbers of a column of times
count one unit. A source that is read as a whole is examined first; a request is read in batches,
so what was decided in an earlier batch holds, and a value that contradicts it is an issue. A body
that can be read again is, where ids turn out to be texts: they are known to be from its start then.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from agon.records import Kind, Table
from agon.records.conditions import Columns
from agon.records.values.conversion_notes import read_whole_ids
from agon.records.values.json_values import UNIT_NAMES, epoch_unit
from agon.records.values.words import WHOLE_ID

_WHOLE_ID: Final = re.compile(WHOLE_ID)
_ISO_8601: Final = 0  # beside the units of numbers
_MISSING: Final = (None, "")


class WholeIds:
    """Reads ids such as ``10.0`` as ``10`` in columns whose values are all whole.

    Args:
        texts: table and name of the columns whose ids are known not to be.

    Attributes:
        texts: these, and the columns that had other ids after some that were read as whole.

    Example:
        >>> from agon.records import Column
        >>> users, ids = Table("users", (Column("id", Kind.ID),)), WholeIds()
        >>> ids.read(users, {"id": ("10.0", "11")}, {"id": "ID"})
        {'id': ('10', '11')}
        >>> ids.notes, list(ids.contradictions(users, {"id": ("12", "x.0")}))
        (('users.ID: read 10.0 as 10',), [(1, 'id')])
    """

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        self.texts = set(texts)
        self._others: set[tuple[str, str]] = set(self.texts)
        self._read: dict[tuple[str, str], str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each column of which ids were read so."""
        return tuple(map(read_whole_ids, self._read.values()))

    def read(self, table: Table, columns: Columns, spelled: Mapping[str, str]) -> Columns:
        """Return the columns of some rows with the ids that they mean.

        Args:
            table: the table of the rows.
            columns: their values by column.
            spelled: the sender's name of each column.
        """
        changed: dict[str, Sequence[Any]] = {}
        for name in self._id_columns(table, columns):
            values = columns[name]
            types = set(map(type, values))
            if types <= {int} or (types == {str} and _are_digits("".join(values))):
                continue  # the usual columns, decided without a look at each value
            if not all(value in _MISSING or _is_whole(value) for value in values):
                if (table.name, name) not in self._read:
                    self._others.add((table.name, name))
                continue
            if any(type(value) is str and "." in value for value in values):
                self._read[table.name, name] = f"{table.name}.{spelled[name]}"
                changed[name] = tuple(map(_whole, values))
        return {**columns, **changed} if changed else columns

    def contradictions(self, table: Table, columns: Columns) -> Iterator[tuple[int, str]]:
        """Yield index and column of ids that are not whole, where others were read as whole."""
        for name in columns:
            if (table.name, name) in self._read:
                for index, value in enumerate(columns[name]):
                    if value not in _MISSING and not _is_whole(value):
                        self.texts.add((table.name, name))
                        yield index, name

    def _id_columns(self, table: Table, columns: Columns) -> Iterator[str]:
        for column in table.columns:
            is_read = column.kind is Kind.ID and column.name in columns
            if is_read and (table.name, column.name) not in self._others:
                yield column.name


def _are_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_whole(value: Any) -> bool:
    if isinstance(value, str):
        return _WHOLE_ID.fullmatch(value.strip()) is not None
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _whole(value: Any) -> Any:
    return value.strip().partition(".")[0] if isinstance(value, str) else value


class TimeUnits:
    """Finds the times of a column that count another unit than those before them.

    Example:
        >>> from agon.records import Column
        >>> votes, units = Table("votes", (Column("at", Kind.TIMESTAMP),)), TimeUnits()
        >>> list(units.other_units(votes, {"at": (1_760_000_000, "1760000000000", "2026-01-20")}))
        [(1, 'at', 'seconds'), (2, 'at', 'seconds')]
    """

    def __init__(self) -> None:
        self._units: dict[tuple[str, str], int] = {}

    def other_units(
        self, table: Table, columns: Columns, *, is_normal: bool = False
    ) -> Iterator[tuple[int, str, str]]:
        """Yield index and column of times in another unit than the first, and the first's name.

        Args:
            table: the table of the rows.
            columns: their values by column, as they were sent.
            is_normal: whether all times are known to be in ISO 8601.
        """
        for column in table.columns:
            if column.kind is not Kind.TIMESTAMP or column.name not in columns:
                continue
            name, key = column.name, (table.name, column.name)
            values = columns[name]
            if is_normal and self._units.setdefault(key, _ISO_8601) == _ISO_8601:
                continue
            for index, value in enumerate(values):
                unit = _unit(value)
                if unit is not None and self._units.setdefault(key, unit) != unit:
                    first = self._units[key]
                    yield index, name, UNIT_NAMES.get(first, "ISO 8601")


def _unit(value: Any) -> int | None:
    """Return the unit of a time; None: it is missing, or none, which is rejected later."""
    if isinstance(value, str) and value[4:5] == "-":
        return _ISO_8601
    return epoch_unit(value)
