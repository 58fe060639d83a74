"""Check records against other rows: those they refer to, and those that cross-row checks read."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import orjson

from agon.app.contests.ingest.errors import ErrorCollector
from agon.entities.contests import Contest
from agon.ledger.fold import empty_ledger, fold
from agon.ledger.keys import record_key
from agon.records import InvalidRecords, RowIssue, Schema, Table, read_rows
from agon.store.session import Session

_MAX_REMEMBERED: Final = 250_000
"""Maximum number of known values of a referenced column kept in memory."""

_PAGE: Final = 10_000
_NOT_GIVEN: Final = frozenset({None, ""})


@dataclass(frozen=True, eq=False)
class _Reference:
    """A foreign key and what is known of its values.

    Attributes:
        keyed: whether the referenced column is the only key column of its table.
        existing: values found in the ledger, shared by all keys to the same column.
        pending: values to look up, with the first line of each.
        missing_values: values that were not found when they were looked up.
    """

    column: str
    target: Table
    target_column: str
    keyed: bool
    existing: set[Any]
    pending: dict[Any, int] = field(default_factory=dict)
    missing_values: set[Any] = field(default_factory=set)

    def key(self, value: Any) -> str:
        """Return the record key of a referenced row, or the value itself if it has none."""
        if self.keyed:
            if type(value) is int:
                return f"{self.target.name}/{value}"
            if type(value) is str and "/" not in value and "%" not in value:
                return f"{self.target.name}/{value}"
            return record_key(self.target, {self.target_column: value}) or ""
        return str(value)


@dataclass(frozen=True)
class _Missing:
    table: str
    reference: _Reference
    line: int
    value: Any


class References:
    """Checks references batch by batch; references to later rows are checked at the end.

    A voided record still exists: rows may refer to it, and scoring leaves them out.
    """

    def __init__(
        self, session: Session, contest: Contest, schema: Schema, *, until: int | None = None
    ) -> None:
        """Prepare for a schema; rows after the position ``until`` do not exist for the sender."""
        self._session = session
        self._contest = contest
        self._until = until
        self._there: dict[tuple[str, str], set[Any]] = {}
        self._of = {table.name: self._references(schema, table) for table in schema}
        self._missing: dict[tuple[str, str], list[_Missing]] = {}
        self._scanned: dict[str, set[str]] = {}
        self._invalid: dict[tuple[str, str], set[Any]] = {}
        self._knows_all_rows = True

    def gather(
        self,
        table: str,
        columns: Mapping[str, Sequence[Any]],
        lines: Sequence[int],
        indexes: Sequence[int],
    ) -> None:
        """Collect the references of valid rows of a table, and the values others may refer to.

        Args:
            table: the table.
            columns: the rows.
            lines: the lines of a batch.
            indexes: where in it the rows are.
        """
        for (target, column), existing in self._there.items():
            if target == table and column in columns:
                existing.update(columns[column])
        for reference in self._of[table]:
            values = columns.get(reference.column)
            if values and (
                unknown := set(values) - reference.existing - reference.missing_values - _NOT_GIVEN
            ):
                of_rows = [lines[index] for index in indexes]
                first = dict(zip(reversed(values), reversed(of_rows), strict=True))
                for value in sorted(unknown, key=first.__getitem__):
                    reference.pending.setdefault(value, first[value])

    def add_invalid(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Collect the values of invalid rows that others may refer to: these have no issue."""
        for target, column in self._there:
            if target == table:
                values = (row.get(column) for row in rows)
                known = (value for value in values if isinstance(value, str | int))
                self._invalid.setdefault((target, column), set()).update(known)

    def add_unreadable(self) -> None:
        """Note that the request has lines whose values are unknown."""
        self._knows_all_rows = False

    def resolve(self) -> None:
        """Look up the collected references; missing ones are checked again at the end."""
        for table, references in self._of.items():
            for reference in references:
                keys = {
                    value: reference.key(value)
                    for value in reference.pending
                    if value not in reference.existing
                }
                existing_keys = self._find(reference, list(keys.values())) if keys else set()
                for value, key in keys.items():
                    if key in existing_keys:
                        reference.existing.add(value)
                    else:
                        reference.missing_values.add(value)
                        missing = _Missing(table, reference, reference.pending[value], value)
                        self._missing.setdefault((reference.target.name, key), []).append(missing)
                reference.pending.clear()
        for existing in self._there.values():
            if len(existing) > _MAX_REMEMBERED:
                existing.clear()
                self._knows_all_rows = False

    def report_missing(self, errors: ErrorCollector) -> None:
        """Look up missing values again after everything is stored; add issues for those missing.

        A request with errors is not stored. Values that its rows give are not missing, and where
        these are not known, nothing is. From a sender to whom later rows do not exist, every
        missing value is reported, whatever other errors there are: they must not show what exists.
        """
        self._scanned.clear()
        is_stored = not errors or self._until is not None
        if not (is_stored or self._knows_all_rows):
            return
        by_target: dict[str, list[tuple[str, list[_Missing]]]] = {}
        for (target, key), missing in self._missing.items():
            by_target.setdefault(target, []).append((key, missing))
        for pairs in by_target.values():
            reference = pairs[0][1][0].reference
            if not (is_stored or reference.keyed):
                continue
            existing = self._find(reference, [key for key, _ in pairs])
            if not is_stored:
                existing |= self._given(reference)
            for key, missing in pairs:
                if key not in existing:
                    for missing_key in missing:
                        errors.add(_issue(missing_key))

    def _given(self, reference: _Reference) -> set[str]:
        """Return the keys that the rows of the request give, valid or not."""
        column = (reference.target.name, reference.target_column)
        values = reference.existing | self._invalid.get(column, set())
        return {reference.key(value) for value in values - _NOT_GIVEN}

    def _references(self, schema: Schema, table: Table) -> list[_Reference]:
        references = []
        for key in table.foreign_keys:
            target, name = schema.table(key.other_table), key.other_column
            keyed = target.key == (name,)
            # Without a key, rows of this request do not show that a value exists.
            existing = self._there.setdefault((target.name, name), set()) if keyed else set()
            references.append(_Reference(key.column, target, name, keyed=keyed, existing=existing))
        return references

    def _find(self, reference: _Reference, keys: list[str]) -> set[str]:
        target = reference.target.name
        if reference.keyed and self._until is not None:
            existing = self._session.entries.existing(
                self._contest.no, records=keys, until=self._until
            )
            return set(existing)
        if reference.keyed:
            return self._session.entries.existing_keys(self._contest.no, target, keys)
        if target not in self._scanned:
            self._scanned[target] = self._scan(target, reference.target_column)
        return self._scanned[target].intersection(keys)

    def _scan(self, table: str, column: str) -> set[str]:
        """Return all values of a column that is not the key of its table."""
        values: set[str] = set()
        after = 0
        while page := self._session.entries.rows(
            self._contest.no, table, after=after, until=self._until, limit=_PAGE
        ):
            values.update(
                str(orjson.loads(entry.line)["body"]["row"].get(column)) for entry in page
            )
            after = page[-1].seq
        return values


def _issue(missing: _Missing) -> RowIssue:
    reference = missing.reference
    return RowIssue(
        code="unknown-reference",
        table=missing.table,
        location=missing.table,
        row=missing.line,
        column=reference.column,
        value=str(missing.value)[:200],
        reason=f"is not in {reference.target.name}.{reference.target_column}",
        remedy=f"add a row of {reference.target.name} first, or together with this one",
    )


Rows: TypeAlias = dict[str, dict[int, Mapping[str, Any]]]
"""Rows by table and position."""


class CrossRowChecks:
    """Runs the cross-row checks of a schema, once all records of a request are stored.

    All rows of the tables involved are read for it. These are the small ones (validators,
    competitions, submissions); the tables with many rows have no such checks.
    """

    def __init__(self, session: Session, contest: Contest, schema: Schema) -> None:
        self._session = session
        self._contest = contest
        self._schema = schema
        checks = [(table.name, check) for table in schema for check in table.cross_row_checks]
        self._reasons = {(name, check.reason) for name, check in checks}
        self.tables = frozenset(
            name for checked, check in checks for name in (checked, *check.tables)
        )

    def report(self, changed_tables: Collection[str], errors: ErrorCollector) -> None:
        """Add the issues that the new records of the changed tables cause."""
        if self.tables.isdisjoint(changed_tables):
            return
        rows = {name: self._rows(name) for name in sorted(self.tables)}
        issues = self._issues(rows)
        if issues:
            # Records that were voided do not count; to know which, the complete ledger is read.
            issues = self._issues(self._visible(rows))
        for issue in issues:
            errors.add(issue)

    def _rows(self, table: str) -> dict[int, Mapping[str, Any]]:
        """Return the rows of a table by position, of records with the same key the newest."""
        rows: dict[int, Mapping[str, Any]] = {}
        at_key: dict[str, int] = {}
        after = 0
        about = self._schema.table(table)
        while page := self._session.entries.rows(self._contest.no, table, after=after, limit=_PAGE):
            for entry in page:
                row = orjson.loads(entry.line)["body"]["row"]
                key = record_key(about, row)
                if key is not None:
                    rows.pop(at_key.get(key, 0), None)
                    at_key[key] = entry.seq
                rows[entry.seq] = row
            after = page[-1].seq
        return rows

    def _visible(self, rows: Rows) -> Rows:
        lines = (entry.line for entry in self._session.entries.after(self._contest.no))
        state = fold(lines, start=empty_ledger(self._contest.id))
        visible = set(state.spans.records(at=state.contest.seq).tolist())
        return {
            name: {seq: row for seq, row in keys.items() if seq in visible}
            for name, keys in rows.items()
        }

    def _issues(self, rows: Rows) -> list[RowIssue]:
        """Return the issues of new records, or of all where no new record has one."""
        columns = {name: list(keys.values()) for name, keys in rows.items() if keys}
        try:
            read_rows(self._schema, columns).close()
        except InvalidRecords as invalid:
            relevant = [
                issue for issue in invalid.issues if (issue.table, issue.reason) in self._reasons
            ]
            return list(self._conflict(relevant, {name: list(keys) for name, keys in rows.items()}))
        return []

    def _conflict(
        self, issues: list[RowIssue], seqs: Mapping[str, list[int]]
    ) -> Iterable[RowIssue]:
        new = [
            issue
            for issue in issues
            if issue.row is not None and seqs[issue.table][issue.row - 1] > self._contest.seq
        ]
        # The rows are those of the ledger, so that their numbers are not those of the request.
        return (replace(issue, location=issue.table, row=None, count=1) for issue in new or issues)
