"""Check rows one by one as they arrive, without an engine, as ``validation.py`` checks tables.

What one row can tell is checked: kinds, bounds, choices, empty values, exactly one of several
columns, and the row checks that look at no other row. Keys, references and sums over rows are for
whoever knows the other rows. Keys the schema does not know are passed over.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from agon.records.checks import expected
from agon.records.conditions import Condition, condition_of
from agon.records.problems import Problem
from agon.records.schemas import Column, Kind, RowCheck, Table
from agon.records.single_values import BAD, BEYOND, READERS, Fault

_ARTICLES = {
    Kind.INTEGER: "a whole number",
    Kind.NUMBER: "a number",
    Kind.ID: "an id",
    Kind.BOOLEAN: "true or false",
}


class RowChecker(Protocol):
    """Check one row of a table."""

    def __call__(self, row: Mapping[str, Any], number: int | None = None) -> list[Problem]:
        """Return all that is wrong with a row; ``number`` is its place, as problems name it."""


@cache
def row_checker(table: Table) -> RowChecker:
    """Return what checks single rows of a table.

    Example:
        >>> from agon.records import Column, Kind, Table
        >>> check = row_checker(Table("scores", (Column("score", Kind.NUMBER, low=0, high=1),)))
        >>> check({"score": 0.5}), [str(one) for one in check({"score": 2}, 7)]
        ([], ["scores, row 7, column score: '2' is out of range; give a number from 0 to 1"])
    """
    columns = [(column.name, _good(column)) for column in table.columns]
    inspected = _Inspector(table)
    whole_row = bool(inspected.conditions or table.exactly_one_of)

    def check(row: Mapping[str, Any], number: int | None = None) -> list[Problem]:
        get = row.get
        for name, good in columns:
            if not good(get(name)):
                return inspected.problems(row, number)
        return inspected.of_whole_row(row, number) if whole_row else []

    return check


def checks_across_rows(table: Table) -> tuple[RowCheck, ...]:
    """List the row checks that look at other rows, and so cannot be put to one row alone."""
    return tuple(check for check in table.checks if condition_of(check.bad) is None)


def _good(column: Column) -> Callable[[Any], bool]:
    """Return a quick look at a value of a column; False means: look closer."""
    if column.kind is Kind.TEXT and column.choices:
        return _is_choice(frozenset(column.choices), empty=column.may_be_empty)
    look = {Kind.TEXT: _is_text, Kind.ID: _is_id, Kind.NUMBER: _is_number, Kind.INTEGER: _is_whole}
    return look.get(column.kind, _is_readable)(column)


def _is_choice(choices: frozenset[str], *, empty: bool) -> Callable[[Any], bool]:
    return lambda value: value in choices if type(value) is str else empty and value is None


def _is_text(column: Column) -> Callable[[Any], bool]:
    empty = column.may_be_empty
    return lambda value: (bool(value) or empty) if type(value) is str else empty and value is None


def _is_id(column: Column) -> Callable[[Any], bool]:
    empty = column.may_be_empty

    def good(value: Any) -> bool:
        if type(value) is str:
            return bool(value) or empty
        return type(value) is int or (empty and value is None)

    return good


def bounds(column: Column) -> tuple[float, float]:
    """Return the least and the greatest number a column may hold: its own bounds, or its kind's.

    Example:
        >>> bounds(Column("epoch", Kind.INTEGER, low=0))
        (0, 9223372036854775807)
    """
    whole = column.kind is Kind.INTEGER
    least = -(2**63) if whole else -sys.float_info.max
    most = 2**63 - 1 if whole else sys.float_info.max
    return (
        least if column.low is None else column.low,
        most if column.high is None else column.high,
    )


def mentioned(table: Table, sql: str) -> list[Column]:
    """List the columns of a table that a row check's SQL names."""
    return [one for one in table.columns if re.search(rf"\b{re.escape(one.name)}\b", sql)]


def _is_number(column: Column) -> Callable[[Any], bool]:
    empty, (low, high) = column.may_be_empty, bounds(column)

    def good(value: Any) -> bool:
        if type(value) is float or type(value) is int:
            return low <= value <= high
        return empty and value is None

    return good


def _is_whole(column: Column) -> Callable[[Any], bool]:
    empty, (low, high) = column.may_be_empty, bounds(column)

    def good(value: Any) -> bool:
        return low <= value <= high if type(value) is int else empty and value is None

    return good


def _is_readable(column: Column) -> Callable[[Any], bool]:
    empty, read = column.may_be_empty, READERS[column.kind]

    def good(value: Any) -> bool:
        typed = None if value is None else read(value)
        return empty if typed is None else typed is not BAD

    return good


class _Inspector:
    """List everything wrong with a row, column by column."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.conditions: list[tuple[RowCheck, Condition, list[tuple[str, Any]]]] = []
        for check in table.checks:
            condition = condition_of(check.bad)
            if condition is not None:
                about = [(one.name, READERS[one.kind]) for one in mentioned(table, check.bad)]
                self.conditions.append((check, condition, about))

    def problems(self, row: Mapping[str, Any], number: int | None) -> list[Problem]:
        found = []
        for column in self._table.columns:
            given = row.get(column.name)
            typed = None if given is None else READERS[column.kind](given)
            for code, reason, remedy in _faults(column, typed):
                found.append(self._problem(code, number, column.name, given, reason, remedy))
        return found + self.of_whole_row(row, number)

    def of_whole_row(self, row: Mapping[str, Any], number: int | None) -> list[Problem]:
        """Check what several columns of the row say together."""
        table, found = self._table, []
        if table.exactly_one_of:
            given = [one for one in table.exactly_one_of if row.get(one) not in (None, "")]
            if len(given) != 1:
                reason = f"does not give exactly one of {', '.join(table.exactly_one_of)}"
                shown = ", ".join(given) or None
                found.append(
                    self._problem(
                        "exactly-one", number, None, shown, reason, "fill exactly one of them"
                    )
                )
        for check, condition, about in self.conditions:
            values = {}
            for name, read in about:
                value = row.get(name)
                values[name] = [None if value is None else read(value)]
            # A value that could not be read is a fault of its own; it must not fail here again.
            if any(isinstance(value, Fault) for [value] in values.values()):
                continue
            if True in condition(values):
                found.append(
                    self._problem(
                        "inconsistent",
                        number,
                        check.column,
                        row.get(check.column),
                        check.reason,
                        check.remedy,
                    )
                )
        return found

    def _problem(
        self, code: str, number: int | None, column: str | None, given: Any, reason: str, right: str
    ) -> Problem:
        name = self._table.name
        value = None if given is None or given == "" else str(given)[:200]
        return Problem(code, name, name, number, column, value, reason, right)


def _faults(column: Column, typed: Any) -> Iterator[tuple[str, str, str]]:
    """List what is wrong with one read value: code, reason, remedy."""
    right = expected(column)
    if typed is BAD:
        if column.kind is Kind.TIMESTAMP:
            yield "bad-timestamp", "is not a time in the years 1 to 9999", right
        else:
            yield "wrong-type", f"is not {_ARTICLES.get(column.kind, column.kind)}", right
    elif typed is BEYOND:
        bounded = column.low is not None or column.high is not None
        bits = "" if bounded else " of at most 64 bits (±9,223,372,036,854,775,807)"
        yield "out-of-range", "is out of range", right + bits
    elif typed is None:
        if not column.may_be_empty:
            yield "empty", "is empty", right
    elif column.choices and typed not in column.choices:
        yield "unknown-value", "is not one of the known values", right
    elif column.kind is Kind.NUMBER and not math.isfinite(typed):
        yield "non-finite", "is not a finite number", right
    elif (column.low is not None and typed < column.low) or (
        column.high is not None and typed > column.high
    ):
        yield "out-of-range", "is out of range", right
