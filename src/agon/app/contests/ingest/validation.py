"""Validate a request's records batch by batch: their rows, keys, references and JSON.

Requests of a million records take this path. Records of one table with the same columns are
validated together, column by column; row by row only where the columns are not plainly valid.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from agon.app.contests.ingest.batches import Batch, columns_of, groups_of
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.private_data import without_addresses
from agon.app.contests.ingest.references import References
from agon.disciplines import Discipline
from agon.errors import did_you_mean
from agon.kernel.text.plain_json import MAX_DEPTH, is_plain, split_together, write_together
from agon.ledger.entry import write_row
from agon.ledger.issues import InvalidEntry
from agon.ledger.keys import MAX_ID_BYTES, id_issues, record_key
from agon.records import Kind, RowIssue, Table
from agon.records.conditions import Columns
from agon.records.rows import RowChecker, row_checker

Row = Mapping[str, Any]
KeyFunction = Callable[[Columns, int], list[str | None]]
"""Returns the keys of so many rows, given as columns."""

_PLAIN: Final = frozenset({Kind.ID, Kind.TEXT})
_NUL: Final = b"\\u0000"


@dataclass(frozen=True, slots=True)
class ValidatedBatch:
    """Valid records as columns: their lines, tables, rows as JSON, keys and external ids."""

    lines: Sequence[int]
    tables: Sequence[str]
    written: Sequence[bytes]
    keys: Sequence[str | None]
    external_ids: Sequence[str | None] | None

    def only(self, indexes: Sequence[int]) -> "ValidatedBatch":
        """Return the records at some indexes."""
        names = self.external_ids
        return ValidatedBatch(
            [self.lines[index] for index in indexes],
            [self.tables[index] for index in indexes],
            [self.written[index] for index in indexes],
            [self.keys[index] for index in indexes],
            None if names is None else [names[index] for index in indexes],
        )


@dataclass(frozen=True)
class _TableTools:
    """A table with the names of its columns, its row checker and its key function."""

    table: Table
    columns: frozenset[str]
    checker: RowChecker
    keys: KeyFunction


class RecordValidator:
    """Validates the records of one request, batch by batch; issues go to an error collector.

    ``people`` are the ids of people in the rows of the newest batch.
    """

    def __init__(
        self,
        discipline: Discipline,
        references: References,
        errors: ErrorCollector,
        *,
        key: bytes,
    ) -> None:
        """Prepare for a discipline's tables; ``key`` is what addresses are hashed with."""
        self.people: set[str] = set()
        self._people_in, self._people_columns = discipline.people_in, discipline.people_columns
        self._addresses = discipline.personal.addresses
        self._references = references
        self._errors = errors
        self._network_key = key
        self._tables = {
            table.name: _TableTools(
                table,
                frozenset(column.name for column in table.columns),
                row_checker(table),
                keys_of(table),
            )
            for table in discipline.schema
        }

    def validate(self, batch: Batch) -> ValidatedBatch:
        """Return the valid records of a batch; add all issues of the others to the errors."""
        issues: list[RowIssue] = []
        self.people = set()
        batch = self._known_rows(batch, issues)
        rows, lines = list(batch.rows), batch.lines
        sent = rows if batch.sent is None else batch.sent  # what a person reads in an issue
        keys: list[str | None] = [None] * len(rows)
        is_valid = [True] * len(rows)
        groups = groups_of(batch.tables, rows) if batch.groups is None else batch.groups
        flat = True  # whether all values are known to be plain ones
        before = batch.written
        for group in groups:
            name, table = group.table, self._tables[group.table]
            indexes, columns = group.indexes, group.columns
            flat = flat and table.columns.issuperset(group.keys)
            if not table.checker.accepts(columns, len(indexes), is_normal=group.is_normal):
                flat = False
                for index in indexes:
                    row_issues = table.checker.issues(sent[index], lines[index])
                    is_valid[index] = not row_issues
                    issues += row_issues
                self._references.add_invalid(
                    name, [rows[index] for index in indexes if not is_valid[index]]
                )
                indexes = [index for index in indexes if is_valid[index]]
                columns = columns_of(group.keys, rows, indexes)
            _set_at(keys, indexes, table.keys(columns, len(indexes)))
            self._references.gather(name, columns, lines, indexes)
            people = self._people_columns.get(name, ())
            ids = {column: set(columns.get(column, ())) for column in people}
            self.people |= self._people_in(name, ids)
            if addresses := self._addresses.get(name):
                flat, before = False, None
                for index in indexes:
                    rows[index] = without_addresses(
                        name, rows[index], addresses, line=lines[index], key=self._network_key,
                        errors=self._errors,
                    )  # fmt: skip
        written = _rows_as_json(batch, rows, is_valid, issues, before=before, flat=flat)
        for index in _with_suspect_ids(written):
            if is_valid[index]:
                key = keys[index]
                checked_table = self._tables[batch.tables[index]].table
                id_faults = id_issues(checked_table, rows[index], key, number=lines[index])
                is_valid[index] = not id_faults
                issues += id_faults
        for issue in sorted(issues, key=lambda item: item.row or 0):
            self._errors.add(issue)
        valid = ValidatedBatch(lines, batch.tables, written, keys, batch.external_ids)
        return valid if all(is_valid) else valid.only([*compress(range(len(rows)), is_valid)])

    def _known_rows(self, batch: Batch, issues: list[RowIssue]) -> Batch:
        """Return the rows of known tables; of the others there are issues."""
        tables, rows, names = batch.tables, batch.rows, batch.external_ids
        groups = batch.groups or ()
        if sum(len(group.indexes) for group in groups) == len(rows) and all(
            group.table in self._tables for group in groups
        ):
            return batch  # what is in a group is a row
        if not (self._tables.keys() >= set(tables) and {dict}.issuperset(map(type, rows))):
            is_row = [
                table in self._tables and type(row) is dict
                for table, row in zip(tables, rows, strict=True)
            ]
            self._references.add_unreadable()
            for index in [index for index, fits in enumerate(is_row) if not fits]:
                row = rows[index]
                issues.append(
                    row if isinstance(row, RowIssue)
                    else not_a_row(tables[index], row, batch.lines[index], self._tables)
                )  # fmt: skip
            return Batch(
                [*compress(tables, is_row)],
                [*compress(rows, is_row)],
                None if names is None else [*compress(names, is_row)],
                [*compress(batch.lines, is_row)],
                None if batch.sent is None else [*compress(batch.sent, is_row)],
            )
        return batch


def _set_at(keys: list[str | None], indexes: Sequence[int], new: Sequence[str | None]) -> None:
    """Set the keys at ascending indexes, which are all of them in most batches."""
    if len(indexes) == len(keys):
        keys[:] = new
        return
    for index, key in zip(indexes, new, strict=True):
        keys[index] = key


def keys_of(table: Table) -> KeyFunction:
    """Return a function that gives the keys of rows, faster than :func:`record_key`."""
    plain = bool(table.key) and _PLAIN.issuperset(table.column(name).kind for name in table.key)
    start = f"{table.name}/"

    def keys(columns: Columns, count: int) -> list[str | None]:
        if not table.key:
            return [None] * count
        parts = [columns.get(name, ()) for name in table.key]
        parts = [list(map(str, part)) if _are_whole(part) else part for part in parts]
        if not (plain and all(map(_are_plain, parts))):
            values = [columns.get(name, (None,) * count) for name in table.key]
            rows = (dict(zip(table.key, row, strict=True)) for row in zip(*values, strict=True))
            return [record_key(table, row) for row in rows]
        if len(parts) == 1:
            return [start + part for part in parts[0]]
        return [start + "/".join(each) for each in zip(*parts, strict=True)]

    return keys


def _are_whole(values: Sequence[Any]) -> bool:
    return bool(values) and {int}.issuperset(map(type, values))


def _are_plain(values: Sequence[Any]) -> bool:
    """Return whether all values are texts that need no escapes in a key."""
    if not values or not {str}.issuperset(map(type, values)) or not all(values):
        return False
    text = "".join(values)
    return "/" not in text and "%" not in text and "\x00" not in text


def _rows_as_json(
    batch: Batch,
    rows: Sequence[Row],
    is_valid: list[bool],
    issues: list[RowIssue],
    *,
    before: Sequence[bytes] | None,
    flat: bool,
) -> list[bytes]:
    """Return all rows as JSON with sorted keys; a row that cannot be written becomes invalid.

    Args:
        batch: tables and lines of the rows.
        rows: the rows.
        is_valid: whether each is valid so far.
        issues: what is wrong, to which this adds.
        before: the rows as JSON, where they are written already.
        flat: whether all values are texts, finite numbers, Booleans or none.
    """
    written = _written_together(rows) if before is None else list(before)
    suspects: Iterable[int] = range(len(rows)) if written is None else _suspects(written)
    if written is not None and flat:
        suspects = ()
    written = written or [b""] * len(rows)
    for index in suspects:
        try:
            written[index] = write_row(rows[index])
        except InvalidEntry as error:
            if is_valid[index]:
                issues.append(_unwritable(batch.tables[index], batch.lines[index], error))
            is_valid[index] = False
    return written


def _written_together(rows: Sequence[Row]) -> list[bytes] | None:
    """Return all rows as JSON, many times faster than one by one; None if any cannot be written."""
    together = write_together(rows)
    if together is None:
        return None
    written = split_together(together)
    return written if len(written) == len(rows) else None


def _suspects(written: Sequence[bytes]) -> Iterator[int]:
    """Return the indexes of written rows that only :func:`write_row` can decide.

    They may hold NaN or infinity, which orjson writes as null, nest too far or have too many keys.
    """
    for index, text in enumerate(written):
        if b"null" in text or (len(text) > MAX_DEPTH and not is_plain(text)):
            yield index


def _with_suspect_ids(written: Sequence[bytes]) -> Sequence[int]:
    """Return the indexes of written rows that are long enough for too long an id, or hold NUL."""
    text = b"".join(written)
    # Looking for a sign takes a fraction of looking for a word, and few rows have a backslash.
    has_nul = b"\\" in text and _NUL in text
    if not has_nul and max(map(len, written), default=0) <= MAX_ID_BYTES:
        return ()
    return [index for index, text in enumerate(written) if len(text) > MAX_ID_BYTES or _NUL in text]


def not_a_row(table: Any, row: Any, line: int, columns: Mapping[str, Any]) -> RowIssue:
    """Return the issue of a line with an unknown table, or with something that is no row."""
    name = str(table)[:80]
    if table not in columns:
        return RowIssue("unknown-table", name, "records", line, None, name, "is not a table here",
                       did_you_mean(name, columns))  # fmt: skip
    return RowIssue("wrong-type", name, name, line, None, str(row)[:80], "is not an object",
                   "give columns by name")  # fmt: skip


def _unwritable(table: str, line: int, error: InvalidEntry) -> RowIssue:
    issue = error.issues[0]
    return RowIssue("wrong-type", table, table, line, None, None, issue.what, issue.remedy)
