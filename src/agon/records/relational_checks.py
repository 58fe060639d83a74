"""Check tables in an engine: one query counts the issues of every kind.

The constraints are those of :mod:`validation`, which finds the rows on this machine.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from agon.errors import Unavailable
from agon.records.checks.constraints import (
    INCONSISTENT,
    Constraint,
    constraints_of,
    exactly_one,
    expected_value,
)
from agon.records.issues import RowIssue
from agon.records.parquet_columns import ParquetTable
from agon.records.schemas import Column, Kind, Schema, Table

_FIRST: Final = datetime(1, 1, 1)  # noqa: DTZ001 - engines hold UTC without a zone
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001 - same
_MAX_NUMBER: Final = sys.float_info.max
_REFERENCE: Final = Constraint(
    "unknown-reference", "is no id of the other table", "correct it, or add the missing row there"
)
_DUPLICATE: Final = Constraint(
    "duplicate-key", "is in an earlier row already", "give each row its own"
)
_ROWS: Final = "; agon check with --engine embedded lists the rows"


@dataclass(frozen=True)
class _Count:
    """The number of rows that violate a constraint.

    Attributes:
        rows: an Ibis table; None: the number is known.
        number: an aggregate over the table, or a column of it to be summed.
        is_column: whether it is a column: that of rows that valid records do not have.
    """

    table: str
    column: str | None
    constraint: Constraint
    rows: Any = None
    number: Any = None
    is_column: bool = False


def issues_of(
    schema: Schema,
    files: Mapping[str, ParquetTable],
    tables: Mapping[str, Any],
    run: Callable[[Any], pa.Table],
) -> list[RowIssue]:
    """Return the issues of the tables, one for each kind, with its count.

    Raises:
        Unavailable: the engine failed, or has another number of rows than the files.
    """
    issues = [_missing(schema, files, table) for table in schema if _is_missing(files, table)]
    for table in schema:
        issues += (_missing_column(files, table, name) for name in files[table.name].missing)
        for name in sorted(files[table.name].constant_nan):
            constraint = constraints_of(table.column(name)).non_finite
            issues.append(_issue(files, _Count(table.name, name, constraint), 1))
    counts = [
        count
        for table in schema
        if files[table.name].path is not None
        for count in _counts(files, tables, table)
    ]
    numbers = _numbers(counts, run)
    for index, count in enumerate(counts):
        expected = files[count.table].rows
        if count.constraint is _ALL_ROWS and numbers[index] != expected:
            raise Unavailable(
                f"{files[count.table].location} has {expected:,} rows, and the engine reads "
                f"{numbers[index]:,}; give it the same folder under the same path"
            )
        if count.constraint is not _ALL_ROWS and numbers[index]:
            issues.append(_issue(files, count, numbers[index]))
    return issues


_ALL_ROWS: Final = Constraint("rows", "", "")


def _numbers(counts: list[_Count], run: Callable[[Any], pa.Table]) -> list[int]:
    """Return all numbers, by one query: a row for each table, and one for each key or reference.

    Those of keys and references are summed together, which takes one exchange for all of them.
    """
    import ibis

    relations: dict[int, list[int]] = {}
    for index, count in enumerate(counts):
        # Counts over one relation share a scan of it, so they become columns of one row.
        relations.setdefault(id(count.rows), []).append(index)
    width = max(map(len, relations.values()))
    rows_of_tables, violations = [], []
    for place, members in enumerate(relations.values()):
        first = counts[members[0]]
        literal = ibis.literal(place, "int64")
        if first.is_column:
            violations.append(first.rows.select(place=literal, n0=first.number))
            continue
        numbers = [counts[index].number.fill_null(0).cast("int64") for index in members]
        row = first.rows.aggregate(**{f"n{index}": number for index, number in enumerate(numbers)})
        # A union needs equal columns: narrower rows are filled up.
        rows_of_tables.append(_widen(row.mutate(place=literal), width))
    if violations:
        summed = ibis.union(*violations) if len(violations) > 1 else violations[0]
        summed = summed.group_by("place").aggregate(n0=summed.n0.sum())
        rows_of_tables.append(_widen(summed, width))
    rows = run(ibis.union(*rows_of_tables) if len(rows_of_tables) > 1 else rows_of_tables[0])
    by_place = {row["place"]: row for row in rows.to_pylist()}
    numbers_of = [0] * len(counts)
    for place, members in enumerate(relations.values()):
        for column, index in enumerate(members):
            # No row: nothing violated that key or reference, so the group was empty.
            numbers_of[index] = by_place[place][f"n{column}"] if place in by_place else 0
    return numbers_of


def _widen(rows: Any, width: int) -> Any:
    """Return (place, n0, n1, …) with zeros for the numbers that a relation does not have."""
    import ibis

    names = [f"n{index}" for index in range(width)]
    zeros = {name: ibis.literal(0, "int64") for name in names if name not in rows.columns}
    return rows.mutate(**zeros).select("place", *names)


def _counts(
    files: Mapping[str, ParquetTable], tables: Mapping[str, Any], table: Table
) -> Iterator[_Count]:
    import ibis

    rows, file = tables[table.name], files[table.name]
    yield _Count(table.name, None, _ALL_ROWS, rows, rows.count())
    for column in table.columns:
        if column.name in file.present or not (column.may_be_empty or column.name in file.missing):
            for constraint, violated in _violations(rows[column.name], column):
                yield _Count(table.name, column.name, constraint, rows, violated.sum())
    if table.exactly_one_of:
        filled = sum(rows[name].notnull().cast("int64") for name in table.exactly_one_of)
        yield _Count(table.name, None, exactly_one(table), rows, (filled != 1).sum())
    for check in table.row_checks:
        constraint = Constraint(INCONSISTENT, check.reason, check.remedy)
        violated = check.violated.expression(rows)
        yield _Count(table.name, check.column, constraint, rows, violated.sum())
    if table.key and file.present.issuperset(table.key):
        repeats = _repeats(rows, table.key)
        yield _Count(
            table.name, ", ".join(table.key), _DUPLICATE, repeats, repeats.n, is_column=True
        )
    for key in table.foreign_keys:
        if key.column in file.present:
            other = tables[key.other_table]
            refers = rows.filter(rows[key.column].notnull())
            unknown = refers.anti_join(other, refers[key.column] == other[key.other_column])
            unknown = unknown.select(n=ibis.literal(1, "int64"))
            yield _Count(table.name, key.column, _REFERENCE, unknown, unknown.n, is_column=True)


def _repeats(rows: Any, key: tuple[str, ...]) -> Any:
    """Return (n) for keys that are in several rows: the number of rows after their first.

    Whole numbers are grouped by 64 neighbors, which the bits of a number represent: where ids are
    consecutive, an engine exchanges few groups instead of all ids.
    """
    import ibis

    @ibis.udf.agg.builtin(name="bit_or")
    def bit_or(x: int) -> int: ...  # type: ignore[empty-body] # the engine's own

    @ibis.udf.scalar.builtin(name="bit_count")
    def bit_count(x: int) -> int: ...  # type: ignore[empty-body] # same

    complete = rows.filter([rows[name].notnull() for name in key])
    if len(key) > 1 or not complete[key[0]].type().is_integer():
        groups = complete.group_by(list(key)).aggregate(n=complete.count() - 1)
    else:
        ids = complete[key[0]]
        first = ibis.literal(1, "int8").cast("int64")  # Spark shifts a literal as 32 bits
        complete = complete.select(range=ids >> 6, bit=first << (ids & 63).cast("int32"))
        bits = bit_or(complete.bit)
        groups = complete.group_by("range").aggregate(n=complete.count(), bits=bits)
        groups = groups.select(n=groups.n - bit_count(groups.bits))
    return groups.filter(groups.n > 0).select("n")


def _violations(values: Any, column: Column) -> Iterator[tuple[Constraint, Any]]:
    """Yield each constraint on single values, and where it is violated."""
    texts = constraints_of(column)
    # Spark orders NaN after all numbers, and Ibis counts it as empty.
    is_nan = column.kind is Kind.NUMBER and values.isnan().fill_null(False)
    is_number = True if column.kind is not Kind.NUMBER else ~is_nan
    if not column.may_be_empty:
        yield texts.empty, values.isnull() & is_number
    if column.choices:
        yield texts.unknown_value, values.notin(column.choices)
    if column.kind is Kind.TIMESTAMP:
        yield texts.wrong_type, (values < _FIRST) | (values > _LAST)
    if column.kind in {Kind.NUMBER, Kind.INTEGER}:
        low = -_MAX_NUMBER if column.low is None else column.low
        high = _MAX_NUMBER if column.high is None else column.high
        outside = (values < low) | (values > high)
        if column.above is not None:
            outside |= values <= column.above
        yield texts.out_of_range, outside & is_number
    if column.kind is Kind.NUMBER:
        yield texts.non_finite, is_nan


def _is_missing(files: Mapping[str, ParquetTable], table: Table) -> bool:
    return table.required and files[table.name].path is None


def _missing(schema: Schema, files: Mapping[str, ParquetTable], table: Table) -> RowIssue:
    needed = ", ".join(column.name for column in table.columns if column.required)
    return RowIssue(
        "missing-table",
        table.name,
        files[table.name].location or table.name,
        None,
        None,
        None,
        f"is missing; {schema.discipline} records need it",
        f"give a table {table.name} with the columns {needed}",
    )


def _missing_column(files: Mapping[str, ParquetTable], table: Table, name: str) -> RowIssue:
    remedy = f"add the column ({expected_value(table.column(name))})"
    location = files[table.name].location
    return RowIssue("missing-column", table.name, location, None, name, None, "is missing", remedy)


def _issue(files: Mapping[str, ParquetTable], count: _Count, n: int) -> RowIssue:
    constraint = count.constraint
    return RowIssue(
        constraint.code,
        count.table,
        files[count.table].location,
        None,
        count.column,
        None,
        constraint.reason,
        constraint.remedy + _ROWS,
        count=n,
    )
