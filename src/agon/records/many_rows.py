"""Look at many rows of one table at once, column by column: is anything amiss at all?

Most of what arrives is right, and to see that costs little when whole columns are looked at. Only
where something is amiss, or unusual, ``single_rows.py`` has to say of each row what it is.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from agon.records.conditions import Condition, condition_of
from agon.records.schemas import Column, Kind, Table
from agon.records.single_rows import bounds, mentioned
from agon.records.single_values import READERS

Columns: TypeAlias = Mapping[str, Sequence[Any]]

_NONE: Final = type(None)
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_TIMES: Final = frozenset(
    b"0000-00-00T00:00:00" + fraction + zone
    for fraction in (b"", *(b"." + b"0" * digits for digits in range(1, 7)))
    for zone in (b"", b"Z")
)
"""How times are usually written, each digit as 0."""


class ManyChecker(Protocol):
    """Look at rows of a table."""

    def __call__(self, columns: Columns, count: int) -> bool:
        """Say whether none of ``count`` rows has a fault; if not, look at them one by one."""


@cache
def many_checker(table: Table) -> ManyChecker:
    """Return what looks at many rows of a table, given as columns; all have the same columns.

    True is certain: :func:`agon.records.single_rows.row_checker` finds nothing wrong with any of
    the rows. False is not: they may be right in an unusual way.

    Example:
        >>> from agon.records import Column, Kind, Table
        >>> good = many_checker(Table("scores", (Column("score", Kind.NUMBER, low=0, high=1),)))
        >>> good({"score": [0.5, 1]}, 2), good({"score": [0.5, 2]}, 2), good({"score": ["1"]}, 1)
        (True, False, False)
    """
    looks = [(column.name, _look(column), column.may_be_empty) for column in table.columns]
    conditions = [
        (condition, mentioned(table, check.bad))
        for check in table.checks
        if (condition := condition_of(check.bad)) is not None
    ]

    def check(columns: Columns, count: int) -> bool:
        for name, good, may_be_empty in looks:
            values = columns.get(name)
            if not (may_be_empty if values is None else good(values)):
                return False
        if table.exactly_one_of and not _one_each(columns, table.exactly_one_of):
            return False
        return all(_none_is_true(condition, columns, of, count) for condition, of in conditions)

    return check


def _look(column: Column) -> Callable[[Sequence[Any]], bool]:
    """Return what looks at the values of a column; it may be too strict, and never too lax."""
    if column.kind is Kind.TEXT and column.choices:
        known = frozenset(column.choices) | ({None, ""} if column.may_be_empty else set())
        return lambda values: _are_texts(values) and known.issuperset(values)
    return _LOOKS[column.kind](column)


def _are_texts(values: Sequence[Any]) -> bool:
    return {str, _NONE}.issuperset(map(type, values))


def _texts(column: Column) -> Callable[[Sequence[Any]], bool]:
    kinds: set[type] = {str, int} if column.kind is Kind.ID else {str}
    return _of_kinds(column, kinds, lambda values: all(values) or "" not in values)


def _numbers(column: Column) -> Callable[[Sequence[Any]], bool]:
    low, high = bounds(column)
    kinds: set[type] = {int} if column.kind is Kind.INTEGER else {int, float}
    return _of_kinds(column, kinds, lambda values: all(low <= value <= high for value in values))


def _truths(column: Column) -> Callable[[Sequence[Any]], bool]:
    return _of_kinds(column, {bool}, lambda _: True)


def _moments(column: Column) -> Callable[[Sequence[Any]], bool]:
    return _of_kinds(column, {str}, _are_times)


def _are_times(values: Sequence[Any]) -> bool:
    try:
        shapes = "\n".join(values).encode().translate(_DIGITS).split(b"\n")
        # A line end within a value would make more shapes than there are values.
        if len(shapes) > len(values) or not _TIMES.issuperset(shapes):
            return False
        for _ in map(datetime.fromisoformat, values):
            pass
    except ValueError:
        return False
    return True


def _of_kinds(
    column: Column, kinds: set[type], good: Callable[[Sequence[Any]], bool]
) -> Callable[[Sequence[Any]], bool]:
    """Look at the types first; what is empty and may be so is left out of the closer look."""
    if not column.may_be_empty:
        return lambda values: kinds.issuperset(map(type, values)) and good(values)

    def look(values: Sequence[Any]) -> bool:
        found = set(map(type, values))
        if _NONE in found or str in found:
            values = [value for value in values if value is not None and value != ""]
        return kinds.issuperset(map(type, values)) and (not values or good(values))

    return look


_LOOKS: Final = {
    Kind.ID: _texts,
    Kind.TEXT: _texts,
    Kind.INTEGER: _numbers,
    Kind.NUMBER: _numbers,
    Kind.BOOLEAN: _truths,
    Kind.TIMESTAMP: _moments,
}


def _one_each(columns: Columns, names: Sequence[str]) -> bool:
    """Say whether each row gives exactly one of several columns."""
    given = [columns[name] for name in names if name in columns]
    if len(given) == 1:
        return None not in given[0] and "" not in given[0]
    return bool(given) and all(
        len(row) - row.count(None) - row.count("") == 1 for row in zip(*given, strict=True)
    )


def _none_is_true(condition: Condition, columns: Columns, of: Sequence[Column], count: int) -> bool:
    """Say whether a check's condition, which fails a row where it is true, is true of no row."""
    typed = {column.name: _typed(column, columns.get(column.name), count) for column in of}
    return True not in condition(typed)


def _typed(column: Column, values: Sequence[Any] | None, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    if column.kind in {Kind.ID, Kind.TEXT} and {str}.issuperset(map(type, values)):
        return [value or None for value in values]
    read = READERS[column.kind]
    return [None if value is None else read(value) for value in values]
