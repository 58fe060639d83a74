"""Run the checks that look at other rows on a request's records."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import orjson

from agon.app.contests.ingest.errors import ErrorCollector
from agon.entities.contests import Contest
from agon.ledger.fold import empty_ledger, fold
from agon.ledger.keys import record_key
from agon.records import InvalidRecords, RowIssue, Schema, read_rows
from agon.store.session import Session

_PAGE: Final = 10_000

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
            for one in page:
                row = orjson.loads(one.line)["body"]["row"]
                key = record_key(about, row)
                if key is not None:
                    rows.pop(at_key.get(key, 0), None)
                    at_key[key] = one.seq
                rows[one.seq] = row
            after = page[-1].seq
        return rows

    def _visible(self, rows: Rows) -> Rows:
        lines = (one.line for one in self._session.entries.after(self._contest.no))
        state = fold(lines, start=empty_ledger(self._contest.id))
        seen = set(state.spans.records(at=state.contest.seq).tolist())
        return {
            name: {seq: row for seq, row in of.items() if seq in seen} for name, of in rows.items()
        }

    def _issues(self, rows: Rows) -> list[RowIssue]:
        """Return the issues of new records, or of all where no new record has one."""
        given = {name: list(of.values()) for name, of in rows.items() if of}
        try:
            read_rows(self._schema, given).close()
        except InvalidRecords as invalid:
            found = [one for one in invalid.issues if (one.table, one.reason) in self._reasons]
            return list(self._conflict(found, {name: list(of) for name, of in rows.items()}))
        return []

    def _conflict(
        self, issues: list[RowIssue], seqs: Mapping[str, list[int]]
    ) -> Iterable[RowIssue]:
        new = [
            one
            for one in issues
            if one.row is not None and seqs[one.table][one.row - 1] > self._contest.seq
        ]
        # The rows are those of the ledger, so that their numbers are not those of the request.
        return (replace(one, location=one.table, row=None, count=1) for one in new or issues)
