"""Check rows in Python as they arrive, by the definition ``validation.py`` checks tables by.

All that a row shows by itself is checked: kinds, bounds, choices, empty values, exactly one of
several columns, and the row checks. Keys, references and checks across rows need the other rows.
Columns the schema does not know are ignored.

:meth:`RowChecker.issues` decides. Most rows are valid, and whole columns of plain values show it at
a fraction of the cost: :meth:`RowChecker.accepts` takes those, and never a row that has an issue.
"""

import math
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from agon.records.checks.constraints import (
    INCONSISTENT,
    ColumnConstraints,
    Constraint,
    constraints_of,
    exactly_one,
)
from agon.records.checks.wrong_values import wrong_value
from agon.records.conditions import Columns
from agon.records.issues import RowIssue
from agon.records.schemas import Column, Kind, Table
from agon.records.values.json_values import BAD, READERS, UnreadableValue
from agon.records.values.words import WHOLE_NAME, choice_of

_NONE: Final = type(None)
_WHOLE_NAME: Final = re.compile(WHOLE_NAME)
_SHOWN: Final = 200
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_TIMES: Final = frozenset(
    b"0000-00-00T00:00:00" + fraction + zone
    for fraction in (b"", *(b"." + b"0" * digits for digits in range(1, 7)))
    for zone in (b"", b"Z")
)
"""How times are usually written, each digit as 0."""


@cache
def row_checker(table: Table) -> "RowChecker":
    """Return the checker of a table's rows.

    Example:
        >>> from agon.records import Column, Kind, Table
        >>> checker = row_checker(Table("scores", (Column("score", Kind.NUMBER, low=0, high=1),)))
        >>> checker.issues({"score": 0.5}), [str(one) for one in checker.issues({"score": 2}, 7)]
        ([], ["scores, row 7, column score: '2' is out of range; give a number from 0 to 1"])
        >>> checker.accepts({"score": [0.5, 1]}, 2), checker.accepts({"score": [0.5, 2]}, 2)
        (True, False)
    """
    return RowChecker(table)


class RowChecker:
    """The row engine of one table, derived from its definition."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._columns = [(column, constraints_of(column)) for column in table.columns]
        self._screens = [(column.name, _screen(column)) for column in table.columns]
        self._normal_screens = [(column.name, _normal_screen(column)) for column in table.columns]
        self._optional = {column.name for column in table.columns if column.may_be_empty}
        self._by_name = {column.name: column for column in table.columns}
        self._kinds = {column.name: column.kind for column in table.columns}

    def accepts(self, columns: Columns, count: int, *, is_normal: bool = False) -> bool:
        """Return whether whole columns show that none of ``count`` rows has an issue.

        True is certain. False is not: a valid row may be written in an unusual way.

        Args:
            columns: values as JSON has them, by column; all rows give the same columns.
            count: the number of rows.
            is_normal: whether they are known to be in normal form
                (:meth:`agon.records.normal.NormalForm.rows`), which shows most of it.
        """
        for name, is_plain in self._normal_screens if is_normal else self._screens:
            values = columns.get(name)
            if not (name in self._optional if values is None else is_plain(values)):
                return False
        names = self._table.exactly_one_of
        if names and not _one_each(columns, names):
            return False
        checks = self._table.row_checks
        read = {name for check in checks for name in check.columns}
        typed = {name: _convert(self._kinds[name], columns.get(name), count) for name in read}
        return not any(True in check.violated.evaluate(typed) for check in checks)

    def issues(self, row: Mapping[str, Any], number: int | None = None) -> list[RowIssue]:
        """Return all issues of a row; ``number`` is its number or line, as issues show it."""
        issues = []
        for column, says in self._columns:
            raw = row.get(column.name)
            typed = self._read(row, column.name)
            if isinstance(typed, AmbiguousSide):
                issues.append(self._issue(typed.constraint, number, column.name, raw))
                continue
            violated = _violated_constraint(column, says, typed)
            if violated is not None:
                issues.append(self._issue(violated, number, column.name, raw))
        if self._table.exactly_one_of:
            issues += self._not_exactly_one(row, number)
        for check in self._table.row_checks:
            typed_row = {name: [self._read(row, name)] for name in check.columns}
            # A value that could not be read is an issue of its own and is not reported again.
            if any(isinstance(value, _UNREAD) for [value] in typed_row.values()):
                continue
            if True in check.violated.evaluate(typed_row):
                says_check = Constraint(INCONSISTENT, check.reason, check.remedy)
                issues.append(
                    self._issue(says_check, number, check.column, row.get(check.column))
                )  # fmt: skip
        return issues

    def _not_exactly_one(self, row: Mapping[str, Any], number: int | None) -> Iterator[RowIssue]:
        filled = [name for name in self._table.exactly_one_of if row.get(name) not in (None, "")]
        if len(filled) != 1:
            yield self._issue(exactly_one(self._table), number, None, ", ".join(filled))

    def _read(self, row: Mapping[str, Any], name: str) -> Any:
        column, raw = self._by_name[name], row.get(name)
        return read_side(column, raw, row) if column.sides else read_value(column, raw)

    def _issue(
        self, violated: Constraint, number: int | None, column: str | None, raw: Any
    ) -> RowIssue:
        name = self._table.name
        value = None if raw is None or raw == "" else str(raw)[:_SHOWN]
        if column in self._by_name and value is not None:
            violated = wrong_value(violated, self._by_name[column], value)
        return RowIssue(
            violated.code, name, name, number, column, value, violated.reason, violated.remedy
        )


def read_value(column: Column, value: Any) -> Any:
    """Return a value as its column's kind; None: it is missing.

    A word of a closed list is read by its meaning (``Tie`` is ``tie``); any other word stays.
    """
    if value == "" and column.empty_text:
        return column.empty_text
    if value is None:
        return None
    typed = READERS[column.kind](value)
    if column.choices and isinstance(typed, str) and typed not in column.choices:
        return choice_of(column, typed) or typed
    return typed


@dataclass(frozen=True)
class AmbiguousSide:
    """A word that means one side and is the name on another one."""

    choice: str

    @property
    def constraint(self) -> Constraint:
        """What such a value violates."""
        return Constraint(
            "ambiguous-value",
            f"may mean the side {self.choice} or the name on the other side",
            "write the side in another word, such as its exact name in the schema",
        )


_UNREAD: Final = (UnreadableValue, AmbiguousSide)


def read_side(column: Column, value: Any, row: Mapping[str, Any]) -> Any:
    """Return the value of a column that may hold the name on a side, as the choice it means.

    Example:
        >>> winner = Column("winner", Kind.TEXT, choices=("a", "b", "tie"), sides=("x", "y"))
        >>> row = {"x": "ann", "y": 7}
        >>> [read_side(winner, value, row) for value in ("Ann", 7, "7", "draw", "carl")]
        ['a', 'b', 'b', 'tie', 'carl']
        >>> read_side(winner, "model_b", {"x": "model_b", "y": "model_a"})
        AmbiguousSide(choice='b')
    """
    if isinstance(value, str) and value in column.choices:
        return value
    named = _named_sides(column, value, row)
    typed = read_value(column, value)
    if typed in column.choices and isinstance(value, str):
        is_side = typed in column.choices[: len(column.sides)]
        return AmbiguousSide(typed) if named and is_side and typed not in named else typed
    return named[0] if named else typed


def _named_sides(column: Column, value: Any, row: Mapping[str, Any]) -> list[str]:
    """Return the choices whose side has the name; 1.0 is the name 1 unless a side is called 1.0."""
    name = _as_name(value)
    if name is None:
        return []
    sides = [
        (choice, _as_name(row.get(side)))
        for side, choice in zip(column.sides, column.choices, strict=False)
    ]
    named = [choice for choice, side in sides if side == name]
    return named or [
        choice for choice, side in sides if side is not None and _whole(side) == _whole(name)
    ]


def _as_name(value: Any) -> str | None:
    """Return a name without what may differ between two columns; None: it is none."""
    read = READERS[Kind.ID](value)
    return read.strip().lower() if isinstance(read, str) else None


def _whole(name: str) -> str:
    match = _WHOLE_NAME.fullmatch(name)
    return match[1] if match else name


def _violated_constraint(column: Column, says: ColumnConstraints, typed: Any) -> Constraint | None:
    """Return the requirement a read value violates, None if it violates none."""
    if typed is None:
        return None if column.may_be_empty else says.empty
    if isinstance(typed, UnreadableValue):
        return says.wrong_type if typed is BAD else says.over_64_bits
    if column.choices and typed not in column.choices:
        return says.unknown_value
    if column.kind is Kind.NUMBER and not math.isfinite(typed):
        return says.non_finite
    if (
        (column.low is not None and typed < column.low)
        or (column.above is not None and typed <= column.above)
        or (column.high is not None and typed > column.high)
    ):
        return says.out_of_range
    return None


def _screen(column: Column) -> Callable[[Sequence[Any]], bool]:
    """Return what accepts values of a column; it may be too strict, and is never too lax."""
    if column.kind is Kind.TEXT and column.choices:
        allowed = frozenset(column.choices) | ({None, ""} if column.may_be_empty else set())
        return lambda values: _are_texts(values) and allowed.issuperset(values)
    kinds, accepts = _SCREENS[column.kind](column)
    return _of_types(column, kinds, accepts)


def _normal_screen(column: Column) -> Callable[[Sequence[Any]], bool]:
    """Return what accepts values in normal form, which are all there and of the column's type."""
    if column.choices:
        return frozenset(column.choices).issuperset
    if column.kind in {Kind.INTEGER, Kind.NUMBER}:
        return _numbers(column)[1]
    return _are_valid_times if column.kind is Kind.TIMESTAMP else lambda _: True


def _are_texts(values: Sequence[Any]) -> bool:
    return {str, _NONE}.issuperset(map(type, values))


_Screen = tuple[set[type], Callable[[Sequence[Any]], bool]]


def _texts(column: Column) -> _Screen:
    kinds: set[type] = {str, int} if column.kind is Kind.ID else {str}
    return kinds, lambda values: all(values) or "" not in values


def _numbers(column: Column) -> _Screen:
    integer = column.kind is Kind.INTEGER
    kinds: set[type] = {int} if integer else {int, float}
    least = -(2**63) if integer else -sys.float_info.max
    most = 2**63 - 1 if integer else sys.float_info.max
    low = least if column.low is None else column.low
    high = most if column.high is None else column.high
    if (above := column.above) is not None:
        return kinds, lambda values: all(above < value <= high for value in values)
    return kinds, lambda values: all(low <= value <= high for value in values)


def _booleans(_: Column) -> _Screen:
    return {bool}, lambda _: True


def _timestamps(_: Column) -> _Screen:
    return {str}, _are_times


def _are_times(values: Sequence[Any]) -> bool:
    try:
        shapes = "\n".join(values).encode().translate(_DIGITS).split(b"\n")
        # A line end within a value would make more shapes than there are values.
        if len(shapes) > len(values) or not _TIMES.issuperset(shapes):
            return False
    except ValueError:
        return False
    return _are_valid_times(values)


def _are_valid_times(values: Sequence[str]) -> bool:
    """Return whether times of a usual shape are times: there is no 30 February."""
    try:
        deque(map(datetime.fromisoformat, values), maxlen=0)
    except ValueError:
        return False
    return True


_SCREENS: Final = {
    Kind.ID: _texts,
    Kind.TEXT: _texts,
    Kind.INTEGER: _numbers,
    Kind.NUMBER: _numbers,
    Kind.BOOLEAN: _booleans,
    Kind.TIMESTAMP: _timestamps,
}


def _of_types(
    column: Column, kinds: set[type], accepts: Callable[[Sequence[Any]], bool]
) -> Callable[[Sequence[Any]], bool]:
    """Return a screen that checks types first and skips empty values that are allowed."""
    if not column.may_be_empty:
        return lambda values: kinds.issuperset(map(type, values)) and accepts(values)

    def screen(values: Sequence[Any]) -> bool:
        types_present = set(map(type, values))
        if _NONE in types_present or str in types_present:
            values = [value for value in values if value is not None and value != ""]
        return kinds.issuperset(map(type, values)) and (not values or accepts(values))

    return screen


def _one_each(columns: Columns, names: Sequence[str]) -> bool:
    """Return whether each row gives exactly one of several columns."""
    filled = [columns[name] for name in names if name in columns]
    if len(filled) == 1:
        return None not in filled[0] and "" not in filled[0]
    return bool(filled) and all(
        len(row) - row.count(None) - row.count("") == 1 for row in zip(*filled, strict=True)
    )


def _convert(kind: Kind, values: Sequence[Any] | None, count: int) -> Sequence[Any]:
    """Return values that a screen has accepted, in the type of their kind."""
    if values is None:
        return [None] * count
    types = set(map(type, values))
    if types == {str} and kind in {Kind.ID, Kind.TEXT}:
        return [value or None for value in values]
    if types == {int} and kind in {Kind.ID, Kind.INTEGER}:
        return values if kind is Kind.INTEGER else list(map(str, values))
    read = READERS[kind]
    return [None if value is None else read(value) for value in values]
