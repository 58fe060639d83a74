"""Check every value of every table at once by SQL, and locate each issue.

One pass per table counts the issues of every kind; only where there are some does a second pass
fetch the first of them with row and value. Valid records are thus checked at the speed of a scan.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from agon.records.checks.constraints import (
    INCONSISTENT,
    Constraint,
    constraints_of,
    exactly_one,
)
from agon.records.checks.headers import missing_columns
from agon.records.checks.keys import Ids, dangling, has_repeats, ids, is_sound, repeats
from agon.records.checks.wrong_values import wrong_value
from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.names.matching import nearest_file
from agon.records.raw import RawTable, SourceTables, literal, quote
from agon.records.schemas import Column, CrossRowCheck, ForeignKey, RowCheck, Schema, Table
from agon.records.values.casting import ColumnCast
from agon.records.values.typed import Typing, relation


@dataclass(frozen=True)
class ConstraintCheck:
    """One constraint as SQL over the typed columns and ``invalid:``/``beyond:`` flags of a table.

    Attributes:
        constraint: the texts of the issue.
        column: the column it is about, or None for the row.
        violated: SQL that is true where the row fails.
        count: SQL that counts the failing rows, where that is cheaper than evaluating each.
        value: SQL for the value in the issue; None: the column's raw value.
        also: further columns that it reads.
    """

    constraint: Constraint
    column: str | None
    violated: str
    count: str | None = None
    value: str | None = None
    also: tuple[str, ...] = ()

    @property
    def counted(self) -> str:
        """Return SQL that counts the failing rows."""
        return self.count or f"count_if({self.violated})"


def flag(kind: str, column: str) -> str:
    """Return the quoted name of the flag column ``invalid:…`` or ``beyond:…`` of a typed column."""
    return quote(f"{kind}:{column}")


def checks_of(
    table: Table, casts: dict[str, ColumnCast], relation: Callable[[str], str]
) -> list[ConstraintCheck]:  # fmt: skip
    """Return the checks of a table whose columns are read by ``casts``.

    Args:
        table: the table.
        casts: how each existing column is read.
        relation: returns the SQL relation of a table, for checks that read other tables.
    """
    checks: list[ConstraintCheck] = []
    for column in table.columns:
        if column.name in casts:
            checks += _of_column(column, casts[column.name])
    flags = {name: flag("invalid", name) for name, read in casts.items() if read.invalid != "false"}
    if table.exactly_one_of:
        checks.append(_exactly_one(table, flags))
    checks += (_of_row(check, flags, relation) for check in table.checks)
    return checks


def _of_column(column: Column, read: ColumnCast) -> Iterator[ConstraintCheck]:
    name, says = quote(column.name), constraints_of(column)
    unread = "false" if read.invalid == "false" else flag("invalid", column.name)
    exceeding = "" if read.beyond == "false" else flag("beyond", column.name)
    if unread != "false":
        unread_only = f"{unread} AND NOT {exceeding}" if exceeding else unread
        yield ConstraintCheck(says.wrong_type, column.name, unread_only)
    if not column.may_be_empty:
        cheap = f"count(*) - count({name})" if unread == "false" else None
        yield ConstraintCheck(says.empty, column.name, f"{name} IS NULL AND NOT {unread}", cheap)
    if column.choices:
        # Comparisons are faster than NOT IN, of which the engine makes a function of lists.
        differ = " AND ".join(f"{name} <> {literal(choice)}" for choice in column.choices)
        yield ConstraintCheck(says.unknown_value, column.name, differ)
    if not read.finite:
        yield ConstraintCheck(says.non_finite, column.name, f"NOT isfinite({name})")
    finite = "" if read.finite else f"isfinite({name}) AND "
    bounds = [f"{name} < {column.low!r}"] if column.low is not None else []
    bounds += [f"{name} > {column.high!r}"] if column.high is not None else []
    outside = [f"({finite}({' OR '.join(bounds)}))"] if bounds else []
    if exceeding:
        yield ConstraintCheck(says.over_64_bits, column.name, " OR ".join([*outside, exceeding]))
    elif outside:
        yield ConstraintCheck(says.out_of_range, column.name, " OR ".join(outside))


def _exactly_one(table: Table, flags: dict[str, str]) -> ConstraintCheck:
    names = table.exactly_one_of
    # A value that cannot be read counts as a value.
    filled = [
        f"({quote(name)} IS NOT NULL{f' OR {flags[name]}' if name in flags else ''})"
        for name in names
    ]
    two = [f"({first} AND {second})" for first, second in combinations(filled, 2)]
    names_filled = ", ".join(
        f"CASE WHEN {condition} THEN {literal(name)} END"
        for condition, name in zip(filled, names, strict=True)
    )
    value = f"nullif(concat_ws(', ', {names_filled}), '')"
    violated = " OR ".join([f"NOT ({' OR '.join(filled)})", *two])
    return ConstraintCheck(exactly_one(table), None, violated, value=value, also=names)


def _of_row(
    check: RowCheck | CrossRowCheck, flags: dict[str, str], relation: Callable[[str], str]
) -> ConstraintCheck:
    violated = check.violated.sql() if isinstance(check, RowCheck) else check.sql(relation)
    # A value that could not be read is an issue of its own and is not reported again.
    unread = "".join(f" AND NOT {flags[name]}" for name in check.columns if name in flags)
    says = Constraint(INCONSISTENT, check.reason, check.remedy)
    return ConstraintCheck(says, check.column, f"({violated}){unread}", also=check.columns)


def issues_of(
    connection: Any, schema: Schema, source: SourceTables, typing: Typing
) -> list[RowIssue]:
    """Return everything that is wrong with a source, in the schema's order.

    What the source itself could not read comes first, and is not reported a second time as
    missing, empty or unknown.

    Args:
        connection: the engine, with every table of the schema typed.
        schema: what the tables should be.
        source: the tables as read.
        typing: how they were typed.
    """
    unreadable = {issue.table for issue in source.issues}
    issues = list(source.issues)
    known_ids: dict[tuple[str, str], Ids] = {}
    for table in schema:
        raw = source.tables.get(table.name)
        if raw is None:
            if table.required and table.name not in unreadable:
                issues.append(_missing(schema, table, source))
            continue
        checked = _TableCheck(connection, schema, source, table, raw, typing, known_ids)
        here = checked.missing_columns() + checked.rows() + checked.duplicates()
        issues += _on_lines(here + checked.references(unreadable), raw)
    for names in schema.one_table_of:
        if not unreadable and not any(name in source.tables for name in names):
            reason = f"holds none of the tables {', '.join(names)}"
            issues.append(_about(names[0], source.label, reason, "give at least one of them"))
    return issues


class _TableCheck:
    """Checks one table; each method returns one sort of issue."""

    def __init__(
        self,
        connection: Any,
        schema: Schema,
        source: SourceTables,
        table: Table,
        raw: RawTable,
        typing: Typing,
        known_ids: dict[tuple[str, str], Ids],
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._source = source
        self._table = table
        self._raw = raw
        self._integer_ids = typing.integer_ids
        self._casts = typing.casts[table.name]
        self._known_ids = known_ids

    def missing_columns(self) -> list[RowIssue]:
        if not self._raw.types and not self._raw.others and self._is_empty():
            return []  # a data frame without rows may have no columns either
        return missing_columns(self._table, self._raw)

    def _is_empty(self) -> bool:
        sql = f"SELECT 1 FROM {self._raw.relation} LIMIT 1"
        return self._connection.execute(sql).fetchone() is None

    def rows(self) -> list[RowIssue]:
        checks = checks_of(self._table, self._casts, relation)
        queries = [check.counted for check in checks] + self._unread_columns(checks)
        if not queries:
            return []
        sql = f"SELECT {', '.join(queries)} FROM ({self._inspection_query(with_row=False)})"
        counts = self._connection.execute(sql).fetchall()[0]
        issues: list[RowIssue] = []
        for check, count in zip(checks, counts, strict=False):
            if count:
                issues += self._failing(check, count)
        return issues

    def _unread_columns(self, checks: list[ConstraintCheck]) -> list[str]:
        """Return SQL that reads the columns no check reads, so that a damaged file fails here."""
        if not self._raw.in_place:
            return []
        counted = {check.column for check in checks if check.count is None} | set(self._table.key)
        counted.update(name for check in checks for name in check.also)
        return [
            f"bit_xor({quote(column.name)})"
            if (self._table.name, column.name) in self._integer_ids
            else f"max(hash({quote(column.name)}))"
            for column in self._table.columns
            if column.name in self._casts and column.name not in counted
        ]

    def duplicates(self) -> list[RowIssue]:
        key = self._table.key
        if not key or not all(name in self._raw.types for name in key):
            return []
        typed = relation(self._table.name)
        only = self._ids(self._table.name, key[0]) if len(key) == 1 else None
        if not has_repeats(self._connection, typed, key, only):
            return []
        count, first = repeats(self._connection, typed, key)
        return [
            self._issue(
                "duplicate-key",
                row,
                ", ".join(key),
                shown,
                f"stands in {self._other_row(row, earlier)} already",
                "give each row its own, or take one of the two out",
                count,
            )
            for row, shown, earlier in first
        ]

    def _other_row(self, row: int, other: int) -> str:
        """Name a row, with its file where that is another one than the file of ``row``."""
        location, number = self._raw.place(other)
        same = location == self._raw.place(row)[0]
        return f"row {number}" if same else f"row {number} of {location}"

    def references(self, unreadable: set[str]) -> list[RowIssue]:
        issues: list[RowIssue] = []
        for key in self._table.foreign_keys:
            if key.column not in self._raw.types:
                continue
            referenced = self._source.tables.get(key.other_table)
            if referenced is not None:
                # An id that seems missing may be in a row or column that could not be read.
                if referenced.complete and key.other_column in referenced.types:
                    issues += self._dangling(key, referenced)
            elif (
                key.other_table not in unreadable
                and not self._schema.table(key.other_table).required
            ):
                issues += self._without_table(key)
        return issues

    def _dangling(self, key: ForeignKey, referenced: RawTable) -> list[RowIssue]:
        references = self._ids(key.table, key.column)
        keys = self._ids(key.other_table, key.other_column)
        if is_sound(self._connection, references, keys):
            return []
        count, first = dangling(self._connection, references, keys)
        reason = f"is no {key.other_column} of {referenced.location}"
        return [
            self._issue(
                "unknown-reference",
                row,
                key.column,
                value,
                reason,
                "correct it, or add the missing row there",
                count,
            )
            for row, value in first
        ]

    def _without_table(self, key: ForeignKey) -> list[RowIssue]:
        count = self._ids(key.table, key.column).count
        if not count:
            return []
        issue = _missing(self._schema, self._schema.table(key.other_table), self._source)
        reason = (
            f"is missing, and {count:,} row{'s' if count > 1 else ''} of {self._raw.location} "
            f"refer{'s' if count == 1 else ''} to it by {key.column}"
        )
        return [replace(issue, reason=reason)]

    def _ids(self, table: str, column: str) -> Ids:
        known = self._known_ids
        if (table, column) not in known:  # one query for all columns of a table
            columns = [column, *self._schema.table(table).id_columns]
            types = self._source.tables[table].types
            integers = {
                each_column: (table, each_column) in self._integer_ids
                for each_column in columns
                if each_column in types
            }
            statistics = ids(self._connection, relation(table), integers)
            known.update({(table, each_column): each for each_column, each in statistics.items()})
        return known[table, column]

    def _failing(self, check: ConstraintCheck, count: int) -> list[RowIssue]:
        """Fetch the first rows that fail one check."""
        shown = check.value or "NULL"
        if check.value is None and check.column in self._raw.types:
            shown = quote(f"raw:{check.column}")
        rows = self._inspection_query(with_row=True)
        # Not by WHERE: the engine then skips NaN where a file's statistics, which leave NaN out,
        # state that all values are valid.
        sql = (
            f'SELECT arg_min({{"row": "row:", "value": {shown}}}, "row:", {MAX_LISTED_PER_KIND}) '
            f"FILTER (WHERE {check.violated}) FROM ({rows})"
        )
        column = next((one for one in self._table.columns if one.name == check.column), None)
        issues = []
        for first in self._connection.execute(sql).fetchall()[0][0]:
            row, value, says = first["row"], first["value"], check.constraint
            if column is not None and value is not None:
                says = wrong_value(says, column, value)
            issues.append(
                self._issue(says.code, row, check.column, value, says.reason, says.remedy, count)
            )
        return issues

    def _inspection_query(self, *, with_row: bool) -> str:
        """Return the query of all rows as typed values, with flags and the raw values."""
        items = [f'{self._raw.row} AS "row:"'] if with_row else []
        for column in self._table.columns:
            read = self._casts.get(column.name, ColumnCast("NULL", "NULL"))
            items.append(f"{read.safe} AS {quote(column.name)}")
            if read.invalid != "false":
                items.append(f"{read.invalid} AS {flag('invalid', column.name)}")
            if read.beyond != "false":
                items.append(f"coalesce({read.beyond}, false) AS {flag('beyond', column.name)}")
            if with_row:
                items.append(f"({read.raw})::VARCHAR AS {quote('raw:' + column.name)}")
        return f"SELECT {', '.join(items)} FROM {self._raw.relation}"

    def _issue(
        self,
        code: str,
        row: int,
        column: str | None,
        value: Any,
        reason: str,
        remedy: str,
        count: int,
    ) -> RowIssue:
        text = None if value is None else str(value)[:200]
        names = (column or "").split(", ")
        column = ", ".join(self._raw.spelled.get(name, name) for name in names) or None
        location, number = self._raw.place(row)
        return RowIssue(
            code, self._raw.name, location, number, column, text, reason, remedy, count=count
        )


def _missing(schema: Schema, table: Table, source: SourceTables) -> RowIssue:
    needed = ", ".join(column.name for column in table.columns if column.required)
    remedy = f"give a table {table.name} with the columns {needed}"
    near = nearest_file(table.name, source.others)
    if near is not None:
        remedy += f"; there is {near}: is it meant?"
    reason = f"is missing; {schema.discipline} records need it"
    return _about(table.name, table.name, reason, remedy)


def _about(table: str, location: str, reason: str, remedy: str) -> RowIssue:
    return RowIssue("missing-table", table, location, None, None, None, reason, remedy)


def _on_lines(issues: list[RowIssue], raw: RawTable) -> list[RowIssue]:
    """Add the lines of a text file on which the rows begin."""
    rows = {issue.row for issue in issues if issue.row is not None}
    if raw.lines is None or not rows:
        return issues
    lines = raw.lines(rows)
    return [
        issue if issue.row is None else replace(issue, line=lines.get(issue.row))
        for issue in issues
    ]
