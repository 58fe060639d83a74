"""Bring rows into their normal form: values in the types of the schema, under its names.

Two rows that say the same have one normal form, however they are spelled: ``"0.40"`` and 0.4,
``2026-01-20`` and ``2026-01-20T00:00:00Z``, ``+01:00`` and ``Z``, the id ``"10"`` and 10. It is
what is compared, hashed and stored. A value that is missing has no key, and so has a key that is
not used. Whole columns of values that are normal already, which most are, show it at a fraction
of the cost.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from agon.records.conditions import Columns
from agon.records.names.matching import MatchedNames, match_names
from agon.records.rows import AmbiguousSide, read_side, read_value
from agon.records.schemas import Column, Kind, Table
from agon.records.values.json_values import UnreadableValue

Row = Mapping[str, Any]

_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_INT64: Final = range(-(2**63), 2**63)
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_TIMES: Final = frozenset((b"0000-00-00T00:00:00Z", b"0000-00-00T00:00:00.000000Z"))
_USUAL_TIME: Final = b"0000-00-00T00:00:00Z"
_NO_FRACTION: Final = ".000000Z"


@cache
def normal_form(table: Table) -> "NormalForm":
    """Return the normal form of a table's rows.

    Example:
        >>> scores = Table("scores", (Column("id", Kind.ID), Column("score", Kind.NUMBER),
        ...                           Column("made_at", Kind.TIMESTAMP)))
        >>> form = normal_form(scores)
        >>> form.row({"ID": "10", "score": "0.40", "madeAt": "2026-01-20", "note": None})
        {'id': 10, 'score': 0.4, 'made_at': '2026-01-20T00:00:00Z'}
    """
    return NormalForm(table)


class NormalForm:
    """The normal form of the rows of one table."""

    def __init__(self, table: Table) -> None:
        self._names = tuple(column.name for column in table.columns)
        self._columns = {column.name: column for column in table.columns}
        self._matched: dict[tuple[str, ...], MatchedNames] = {}

    def names(self, keys: Sequence[str]) -> MatchedNames:
        """Return which key of a row each column is read from."""
        keys = tuple(keys)
        if keys not in self._matched:
            if len(self._matched) > _MAX_SHAPES:
                self._matched.clear()
            self._matched[keys] = match_names(self._names, keys)
        return self._matched[keys]

    def rename(self, row: Row) -> dict[str, Any]:
        """Return a row under the schema's names; keys that are not used stay as they are."""
        matched = self.names(tuple(row))
        return {own: row[key] for own, key in matched.names.items()} | {
            key: row[key] for key in matched.unused
        }

    def row(self, row: Row) -> dict[str, Any]:
        """Return a valid row in normal form; a value that cannot be read stays as it is."""
        normal = {}
        names = self.names(tuple(row)).names
        for own, key in names.items():
            column = self._columns[own]
            if column.sides:
                sides = {side: row[names[side]] for side in column.sides if side in names}
                value = _side(column, row[key], sides)
            else:
                value = _normal(column, row[key])
            if value is not None:
                normal[own] = value
        return normal

    def of_typed(self, name: str, values: Sequence[Any]) -> Sequence[Any]:
        """Return values that the engine has typed already, in normal form.

        Times stay as they are: they are written in one way.
        """
        kind = self._columns[name].kind
        if kind is Kind.ID:
            return values if _are_ids(values) else list(map(_normal_id, values))
        if kind is Kind.NUMBER:
            return [None if value is None else value + 0.0 for value in values]
        return values

    def rows(self, columns: Columns, rows: Sequence[Row]) -> Sequence[Row]:
        """Return valid rows with the same keys, all named as the schema does, in normal form.

        Args:
            columns: their values by column.
            rows: the rows themselves; they are returned where they are normal already.
        """
        if not rows:
            return rows
        changed: dict[str, list[Any]] = {}
        has_empty = False
        for name, values in columns.items():
            column = self._columns.get(name)
            if column is None:
                return list(map(self.row, rows))
            if column.sides and not _are_words(column, values):
                sides = [columns.get(side, (None,) * len(rows)) for side in column.sides]
                changed[name] = [
                    _side(column, value, dict(zip(column.sides, shown_sides, strict=True)))
                    for value, *shown_sides in zip(values, *sides, strict=True)
                ]
                has_empty = has_empty or None in changed[name]
            elif not (_are_words(column, values) if column.choices
                      else _IS_NORMAL[column.kind](values)):  # fmt: skip
                changed[name] = [_normal(column, value) for value in values]
                has_empty = has_empty or None in changed[name]
        if not changed:
            return rows
        names = list(columns)
        values_of = [changed.get(name, columns[name]) for name in names]
        normal = [dict(zip(names, row, strict=True)) for row in zip(*values_of, strict=True)]
        if has_empty:
            return [{key: value for key, value in row.items() if value is not None}
                    for row in normal]  # fmt: skip
        return normal


_MAX_SHAPES: Final = 1_000


def _side(column: Column, value: Any, row: Row) -> Any:
    """Return the side that a name means; a word that may mean two stays, and is rejected later."""
    read = read_side(column, value, row)
    return value if isinstance(read, AmbiguousSide | UnreadableValue) else read


def _normal(column: Column, value: Any) -> Any:
    """Return a value in normal form; None: it is missing."""
    typed = read_value(column, value)
    if typed is None:
        return None
    if column.kind is Kind.ID:
        return _normal_id(typed) if isinstance(typed, str) else value
    if column.kind is Kind.TIMESTAMP:
        return write_time(typed) if isinstance(typed, datetime) else value
    if column.kind is Kind.NUMBER and isinstance(typed, float):
        return (typed + 0.0) if math.isfinite(typed) else value  # -0.0 + 0.0 is 0.0
    return typed if isinstance(typed, str | int | bool) else value


def _normal_id(value: Any) -> Any:
    """Return an id as a number where it is one of 64 bits in its canonical notation."""
    if isinstance(value, str) and _WHOLE.fullmatch(value) and int(value) in _INT64:
        return int(value)
    return value


def write_time(time: datetime) -> str:
    """Return a time, which is in UTC where it has no zone, as records write it.

    Example:
        >>> write_time(datetime(2026, 1, 20)), write_time(datetime(2026, 1, 20, 1, 2, 3, 500_000))
        ('2026-01-20T00:00:00Z', '2026-01-20T01:02:03.500000Z')
    """
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return time.isoformat() + "Z"


def _are_words(column: Column, values: Sequence[Any]) -> bool:
    return {str}.issuperset(map(type, values)) and set(column.choices).issuperset(values)


def _of_type(kind: type) -> Callable[[Sequence[Any]], bool]:
    return lambda values: {kind}.issuperset(map(type, values))


def _are_ids(values: Sequence[Any]) -> bool:
    types = set(map(type, values))
    if types == {int}:
        return min(values) in _INT64 and max(values) in _INT64
    if types != {str}:
        return False
    # Digits and signs sort before letters: most texts show by the least of them what they are.
    return min(values) >= ":" or (all(values) and not any(map(_WHOLE.fullmatch, values)))


def _are_texts(values: Sequence[Any]) -> bool:
    return {str}.issuperset(map(type, values)) and all(values)


def _are_numbers(values: Sequence[Any]) -> bool:
    return {float}.issuperset(map(type, values)) and not (
        0.0 in values and any(math.copysign(1, value) < 0 for value in values if value == 0)
    )


def _are_times(values: Sequence[Any]) -> bool:
    try:
        joined = "\n".join(values)
    except TypeError:
        return False
    if not joined.isascii():
        return False
    shaped = joined.encode().translate(_DIGITS)
    usual = (_USUAL_TIME + b"\n") * (len(values) - 1) + _USUAL_TIME
    if shaped == usual:
        return "T24:" not in joined
    if _NO_FRACTION in joined:
        return False
    shapes = set(shaped.split(b"\n"))
    # 24 o'clock is written as the next day's midnight.
    return shapes <= _TIMES and "T24:" not in joined


_IS_NORMAL: Final = {
    Kind.ID: _are_ids,
    Kind.TEXT: _are_texts,
    Kind.INTEGER: _of_type(int),
    Kind.NUMBER: _are_numbers,
    Kind.BOOLEAN: _of_type(bool),
    Kind.TIMESTAMP: _are_times,
}
"""What shows that the values of a column are normal; false is unsure."""
