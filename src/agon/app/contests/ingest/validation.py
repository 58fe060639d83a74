"""Look at a batch of a request's records: what is amiss, what each is called and what it says.

This is the way a million records take. Records of one table that give the same columns are looked
at together, column by column; only where something is amiss does each row get a look of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import orjson

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.private_data import without_addresses
from agon.app.contests.ingest.references import References
from agon.disciplines import Discipline
from agon.entities.access import Caller
from agon.errors import Forbidden, did_you_mean
from agon.ledger.entry import write_row
from agon.ledger.keys import record_key
from agon.records import Kind, RowIssue, Table
from agon.records.conditions import Columns
from agon.records.rows import RowChecker, row_checker

Row = Mapping[str, Any]
Keyed = Callable[[Columns, Sequence[Row]], Sequence[str | None]]

_PLAIN: Final = frozenset({Kind.ID, Kind.TEXT})
_LINE_END: Final = orjson.Fragment(b"\n")
_BETWEEN: Final = b",\n,"
"""Between rows written together. JSON has no line end of its own: in a text it is escaped."""


@dataclass(frozen=True, slots=True)
class ValidatedBatch:
    """Hold records without fault as columns: their lines, tables, rows as JSON, keys and names."""

    lines: Sequence[int]
    tables: Sequence[str]
    written: Sequence[bytes]
    keys: Sequence[str | None]
    external_ids: Sequence[str | None] | None

    def only(self, places: Sequence[int]) -> "ValidatedBatch":
        """Return those at some places."""
        names = self.external_ids
        return ValidatedBatch(
            [self.lines[place] for place in places],
            [self.tables[place] for place in places],
            [self.written[place] for place in places],
            [self.keys[place] for place in places],
            None if names is None else [names[place] for place in places],
        )


@dataclass(frozen=True)
class _TableWork:
    """Hold what the rows of one table need."""

    checker: RowChecker
    keys: Keyed


class RecordValidator:
    """Look at the records of one request, batch by batch."""

    def __init__(
        self,
        of: Discipline,
        references: References,
        errors: ErrorCollector,
        *,
        by: Caller,
        key: bytes,
    ) -> None:
        """Prepare for a discipline's tables; ``key`` is what addresses are hashed with."""
        self._addresses = of.addresses
        self._references = references
        self._refusals = errors
        self._by = by
        self._network_key = key
        self._works = {
            table.name: _TableWork(row_checker(table), keys_of(table)) for table in of.schema
        }

    def at(self, batch: Batch) -> ValidatedBatch:
        """Note everything that is wrong with a batch, and return what is right.

        Raises:
            Forbidden: a judge gives something else than votes of its own.
            InvalidEntry: a number is none.
        """
        issues: list[RowIssue] = []
        batch = self._rows_of_tables(batch, issues)
        rows, lines = list(batch.rows), batch.lines
        keys: list[str | None] = [None] * len(rows)
        good = [True] * len(rows)
        for (name, names), alike in _by_shape(batch).items():
            work, places = self._works[name], alike
            columns = _columns(names, rows, places)
            if not work.checker.accepts(columns, len(places)):
                for place in places:
                    found = work.checker.issues(rows[place], lines[place])
                    good[place] = not found
                    issues += found
                places = [place for place in places if good[place]]
                columns = _columns(names, rows, places)
            named = work.keys(columns, [rows[place] for place in places])
            for place, key in zip(places, named, strict=True):
                keys[place] = key
                if key is not None and "\x00" in key:
                    good[place] = False
                    issues.append(_unnameable(name, lines[place]))
            self._references.gather(name, columns, [lines[place] for place in places])
            if addresses := self._addresses.get(name):
                for place in places:
                    rows[place] = without_addresses(
                        name, rows[place], addresses, line=lines[place], key=self._network_key,
                        errors=self._refusals,
                    )  # fmt: skip
        written = _written(batch, rows, good, issues)
        for issue in sorted(issues, key=lambda one: one.row or 0):
            self._refusals.add(issue)
        looked = ValidatedBatch(lines, batch.tables, written, keys, batch.external_ids)
        return looked if all(good) else looked.only([*compress(range(len(rows)), good)])

    def _rows_of_tables(self, batch: Batch, issues: list[RowIssue]) -> Batch:
        """Leave out what is no row of a table; refuse a judge what is no vote of its own."""
        tables, rows, names = batch.tables, batch.rows, batch.external_ids
        if not (self._works.keys() >= set(tables) and {dict}.issuperset(map(type, rows))):
            fit = [
                table in self._works and type(row) is dict
                for table, row in zip(tables, rows, strict=True)
            ]
            for place in [place for place, fits in enumerate(fit) if not fits]:
                row = rows[place]
                issues.append(
                    row if isinstance(row, RowIssue)
                    else _no_row(tables[place], row, batch.lines[place], self._works)
                )  # fmt: skip
            batch = Batch(
                [*compress(tables, fit)],
                [*compress(rows, fit)],
                None if names is None else [*compress(names, fit)],
                [*compress(batch.lines, fit)],
            )
        if self._by.role == "judge":
            for table, row in zip(batch.tables, batch.rows, strict=True):
                _expect_own_vote(table, row, self._by)
        return batch


def keys_of(table: Table) -> Keyed:
    """Return what names rows as :func:`record_key` does, faster for columns of plain texts."""
    plain = bool(table.key) and _PLAIN.issuperset(table.column(name).kind for name in table.key)
    start = f"{table.name}/"

    def keys(columns: Columns, rows: Sequence[Row]) -> Sequence[str | None]:
        if not table.key:
            return [None] * len(rows)
        parts = [columns.get(name, ()) for name in table.key]
        if not (plain and all(map(_are_plain, parts))):
            return [record_key(table, row) for row in rows]
        if len(parts) == 1:
            return [start + part for part in parts[0]]
        return [start + "/".join(each) for each in zip(*parts, strict=True)]

    return keys


def _are_plain(values: Sequence[Any]) -> bool:
    """Say whether values are texts that a key holds as they are."""
    if not values or not {str}.issuperset(map(type, values)) or not all(values):
        return False
    text = "".join(values)
    return "/" not in text and "%" not in text and "\x00" not in text


def _by_shape(batch: Batch) -> Mapping[tuple[str, tuple[str, ...]], Sequence[int]]:
    """Group the places of rows by their table and the names of their columns."""
    shapes = list(zip(batch.tables, map(tuple, batch.rows), strict=True))
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {
        shape: [] for shape in dict.fromkeys(shapes)
    }
    if len(groups) == 1:
        return {shapes[0]: range(len(shapes))}
    for place, shape in enumerate(shapes):
        groups[shape].append(place)
    return groups


def _columns(names: Sequence[str], rows: Sequence[Row], places: Sequence[int]) -> Columns:
    """Turn rows that give the same columns, in the same order, into those columns."""
    alike = [rows[place].values() for place in places]
    return dict(zip(names, zip(*alike, strict=True), strict=False))


def _written(
    batch: Batch, rows: Sequence[Row], good: list[bool], issues: list[RowIssue]
) -> list[bytes]:
    """Write all rows as JSON with sorted keys; those that cannot be written are not good."""
    together = _written_together(rows)
    written = together[1:-1].split(_BETWEEN)
    if len(written) != len(rows):
        written = []
        for place, row in enumerate(rows):
            try:
                written.append(orjson.dumps(row, option=orjson.OPT_SORT_KEYS))
            except TypeError as error:
                written.append(b"")
                if good[place]:
                    issues.append(_unwritable(batch.tables[place], batch.lines[place], error))
                good[place] = False
    if b"null" in together or not together:
        for place, text in enumerate(written):
            # A null may hide a number that JSON has no word for.
            if b"null" in text and good[place]:
                write_row(rows[place])
    return written


def _written_together(rows: Sequence[Row]) -> bytes:
    """Write all rows by one call, many times faster than by one each; empty if one cannot be."""
    parts: list[Any] = [_LINE_END] * (2 * len(rows) - 1)
    parts[::2] = rows
    try:
        return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return b""


def _no_row(table: Any, row: Any, line: int, known: Mapping[str, Any]) -> RowIssue:
    name = str(table)[:80]
    if table not in known:
        return RowIssue("unknown-table", name, "records", line, None, name, "is no table here",
                       did_you_mean(name, known))  # fmt: skip
    return RowIssue("wrong-type", name, name, line, None, str(row)[:80], "is no object",
                   "give columns by name")  # fmt: skip


def _unwritable(table: str, line: int, error: TypeError) -> RowIssue:
    return RowIssue("wrong-type", table, table, line, None, None, f"cannot be written ({error})",
                   "give text, numbers, true, false, null, lists and objects")  # fmt: skip


def _unnameable(table: str, line: int) -> RowIssue:
    return RowIssue("wrong-type", table, table, line, None, None, "has a NUL character in its key",
                   "leave it out")  # fmt: skip


def _expect_own_vote(table: str, row: Mapping[str, Any], by: Caller) -> None:
    if table != "votes" or str(row.get("judge_id")) != by.user:
        raise Forbidden(
            f"a judge gives votes under the own id only; send rows of votes with judge_id {by.user}"
        )
