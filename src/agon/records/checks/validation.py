"""Check every value of every table at once by SQL, and locate each issue.

One pass per table counts the issues of every kind, of few rows one statement for all tables; only
where there are some does a second pass fetch the first of them with row and value. Valid records
are thus checked at the speed of a scan.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agon.records.checks.constraint_checks import ConstraintCheck, checks_of, flag
from agon.records.checks.headers import missing_columns
from agon.records.checks.keys import (
    Ids,
    dangling,
    has_repeats,
    having_all,
    ids,
    is_sound,
    repeats,
    repeats_at_most,
    without_key,
)
from agon.records.checks.wrong_values import wrong_value
from agon.records.counting import Counts
from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue
from agon.records.names.matching import nearest_file
from agon.records.names.other_formats import file_hint
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.schemas import ForeignKey, Schema, Table
from agon.records.values.casting import ColumnCast
from agon.records.values.typed import Typing, is_stored, relation


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
    counts = Counts(connection, together=typing.stored)  # few rows, as they all are stored
    known_ids: dict[tuple[str, str], Ids] = {}
    checks = {
        table.name: _TableCheck(counts, schema, source, table, raw, typing, known_ids)
        for table in schema
        if (raw := source.tables.get(table.name)) is not None
    }
    for table in schema:
        if table.name in checks:
            issues += checks[table.name].issues(unreadable)
        elif table.required and table.name not in unreadable:
            issues.append(_missing(schema, table, source))
    for names in schema.one_table_of:
        if not unreadable and not any(name in source.tables for name in names):
            reason = f"holds none of the tables {', '.join(names)}"
            issues.append(_about(names[0], source.label, reason, "give at least one of them"))
    return issues


class _TableCheck:
    """Checks one table; what decides whether it is valid is asked when the object is made."""

    def __init__(
        self,
        counts: Counts,
        schema: Schema,
        source: SourceTables,
        table: Table,
        raw: RawTable,
        typing: Typing,
        known_ids: dict[tuple[str, str], Ids],
    ) -> None:
        self._counts = counts
        self._connection = counts.connection
        self._schema = schema
        self._source = source
        self._table = table
        self._raw = raw
        self._integer_ids = typing.integer_ids
        self._casts = typing.casts[table.name]
        self._is_stored = is_stored(typing, raw)
        self._known_ids = known_ids
        self._guarded = [name for name, read in self._casts.items() if read.is_guarded]
        # Without the values that cannot be read.
        read_casts = {name: replace(read, valid="true", beyond="false")
                      for name, read in self._casts.items()}  # fmt: skip
        self._checks_of_typed = checks_of(table, read_casts, relation)
        self._of_typed = counts.ask(self._counted_typed(), relation(table.name))
        self._of_raw = counts.ask(self._counted_raw(), raw.relation)
        self._key = table.key if all(name in raw.types for name in table.key) else ()
        hashed = [repeats_at_most(self._key)] if self._key else []
        self._repeats = counts.ask(hashed, having_all(relation(table.name), self._key))
        self._references = {
            key: (counts.ask([count], rows), rows)
            for key in table.foreign_keys
            if self._is_checked(key)
            for count, rows in [without_key(key, relation)]
        }

    def issues(self, unreadable: set[str]) -> list[RowIssue]:
        """Return the issues; those about tables that cannot be read are known."""
        issues = [*self.missing_columns(), *self.rows(), *self.duplicates()]
        return _on_lines(issues + self.references(unreadable), self._raw)

    def missing_columns(self) -> list[RowIssue]:
        if not self._raw.types and not self._raw.others and self._is_empty():
            return []  # a data frame without rows may have no columns either
        return missing_columns(self._table, self._raw)

    def _is_empty(self) -> bool:
        sql = f"SELECT 1 FROM {self._raw.relation} LIMIT 1"
        return self._connection.execute(sql).fetchone() is None

    def rows(self) -> list[RowIssue]:
        issues: list[RowIssue] = []
        for check, count in self._counted_checks():
            if count:
                issues += self._failing(check, count)
        return issues

    def _counted_checks(self) -> Iterable[tuple[ConstraintCheck, int]]:
        """Return the checks, each with the number of rows that fail it.

        Where the stored typed values show that each raw value could be read, they are checked
        instead of reading each value a second time.
        """
        if self._is_stored:
            checked, numbers = len(self._checks_of_typed), self._of_typed()
            if numbers[checked:] == self._of_raw():
                return zip(self._checks_of_typed, numbers, strict=False)
        checks = checks_of(self._table, self._casts, relation)
        counted = [*(check.counted for check in checks), *self._unread_columns(checks)]
        numbers = self._counts.ask(counted, f"({self._inspection_query(with_row=False)})")()
        return zip(checks, numbers, strict=False)

    def _counted_typed(self) -> list[str]:
        """Return SQL that counts the rows that fail each check, and the values that were read."""
        counted = [check.counted for check in self._checks_of_typed]
        return counted + [f"count({quote(name)})" for name in self._guarded]

    def _counted_raw(self) -> list[str]:
        """Return SQL that counts the values to be read."""
        # A JSON value has to be parsed to see that it is an empty text.
        present = (
            quote(name) if self._raw.types[name] == "JSON" else self._casts[name].raw
            for name in self._guarded
        )
        return [f"count({value})" for value in present]

    def _unread_columns(self, checks: list[ConstraintCheck]) -> list[str]:
        """Return SQL that reads the columns no check reads, so that a damaged file fails here."""
        if not self._raw.in_place:
            return []
        counted = set(self._table.key)
        counted.update(check.column for check in checks if check.column and check.count is None)
        counted.update(name for check in checks for name in check.also)
        return [
            f"bit_xor({quote(column.name)})"
            if (self._table.name, column.name) in self._integer_ids
            else f"max(hash({quote(column.name)}))"
            for column in self._table.columns
            if column.name in self._casts and column.name not in counted
        ]

    def duplicates(self) -> list[RowIssue]:
        key = self._key
        if not key:
            return []
        by_bitmap = len(key) == 1 and not self._counts.together
        only = self._ids(self._table.name, key[0]) if by_bitmap else None
        if not has_repeats(only, self._repeats):
            return []
        count, first = repeats(self._connection, relation(self._table.name), key)
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
            if key in self._references:
                issues += self._dangling(key)
            elif (
                key.column in self._raw.types
                and key.other_table not in self._source.tables
                and key.other_table not in unreadable
                and not self._schema.table(key.other_table).required
            ):
                issues += self._without_table(key)
        return issues

    def _is_checked(self, key: ForeignKey) -> bool:
        """Return whether references can be compared with the ids that they refer to."""
        referenced = self._source.tables.get(key.other_table)
        # An id that seems missing may be in a row or column that could not be read.
        return (
            key.column in self._raw.types
            and referenced is not None
            and referenced.complete
            and key.other_column in referenced.types
        )

    def _dangling(self, key: ForeignKey) -> list[RowIssue]:
        if not self._counts.together:
            references = self._ids(key.table, key.column)
            if is_sound(self._connection, references, self._ids(key.other_table, key.other_column)):
                return []
        counted, rows = self._references[key]
        (count,) = counted()
        if not count:
            return []
        reason = f"is no {key.other_column} of {self._source.tables[key.other_table].location}"
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
            for row, value in dangling(self._connection, key.column, rows)
        ]

    def _without_table(self, key: ForeignKey) -> list[RowIssue]:
        (count,) = self._counts.ask([f"count({quote(key.column)})"], relation(key.table))()
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
        remedy += file_hint(near)
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
