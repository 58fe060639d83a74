"""Write records that were read from a source as the NDJSON that a contest takes.

Rows are in their normal form, tables that others refer to come first, and rows without a key are
named by what they say: a source that is sent again, at any door, adds nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import orjson

from agon.app.contests.ingest.identities import RowIdentities
from agon.app.contests.ingest.ndjson import MAX_LINE_BYTES, too_long
from agon.records import InvalidRecords, Records, Schema, Table
from agon.records.normal import normal_form

_ROWS = 10_000
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC


def record_lines(records: Records, *, steps: int = 1) -> Iterator[list[bytes]]:
    """Yield records in steps, each as parts of NDJSON with an envelope on every line.

    The first step has the tables that others refer to. Of the other tables each step has an equal
    share, in the order of the source.

    Raises:
        InvalidRecords: with every row of a table that is longer than a contest takes.
    """
    referenced = {name for table in records.schema for name in _referenced_tables(table)}
    tables = [table for table in _in_order(records.schema) if records.has(table.name)]
    identities = RowIdentities()
    for step in range(steps):
        parts = []
        for table in tables:
            rows = records.arrow(table.name, [column.name for column in table.columns])
            start = 0
            if table.name not in referenced:
                start, end = (rows.num_rows * index // steps for index in (step, step + 1))
                rows = rows.slice(start, end - start)
            elif step:
                continue
            long: list[int] = []
            for batch in rows.to_batches(_ROWS):
                lines = _lines(table, batch.to_pydict(), identities, repeat(None))
                parts.append(b"".join(_noting_long(lines, start, long)))
                start += len(batch)
            _require_short(records, table.name, long)
        yield parts


def table_lines(
    records: Records,
    name: str,
    *,
    external_ids: Iterable[str | None] = repeat(None),
    bare: bool = False,
) -> Iterator[bytes]:
    """Yield the rows of one table in the order of the source, a line each.

    Args:
        records: the records.
        name: the table.
        external_ids: the sender's own id of each row, where it has one.
        bare: the rows alone, without table and external id.

    Raises:
        InvalidRecords: with every row that is longer than a contest takes.
    """
    table, identities, names = records.schema.table(name), RowIdentities(), iter(external_ids)
    rows = records.arrow(name, [column.name for column in table.columns])
    start, long = 0, list[int]()
    for batch in rows.to_batches(_ROWS):
        lines = _lines(table, batch.to_pydict(), identities, names, bare=bare)
        yield from _noting_long(lines, start, long)
        start += len(batch)
    _require_short(records, name, long)


def _noting_long(lines: Iterable[bytes], start: int, long: list[int]) -> Iterator[bytes]:
    """Yield lines; add to ``long`` the place of each that is longer than a contest takes."""
    for place, line in enumerate(lines, start):
        if len(line) > MAX_LINE_BYTES:
            long.append(place)
        yield line


def _require_short(records: Records, name: str, long: Sequence[int]) -> None:
    """Raise if rows are too long; the contest would count lines within one request."""
    if not long:
        return
    numbers = records.arrow(name, ["_row"]).column(0)
    rows = [numbers[place].as_py() for place in long]
    lines_of = records.lines.get(name)
    lines = {} if lines_of is None else lines_of(set(rows))
    raise InvalidRecords([too_long(name, name, row, lines.get(row)) for row in rows])


def _lines(
    table: Table,
    columns: dict[str, list[Any]],
    identities: RowIdentities,
    external_ids: Iterator[str | None],
    *,
    bare: bool = False,
) -> Iterator[bytes]:
    """Yield rows as NDJSON; times are as the engine has them, in UTC without a zone."""
    filled = {name: values for name, values in columns.items()
              if values.count(None) < len(values)}  # fmt: skip
    form = normal_form(table)
    names = list(filled)
    has_key = bool(table.key) and set(table.key) <= set(filled)
    for values in zip(
        *(form.of_typed(name, column) for name, column in filled.items()), strict=True
    ):
        row = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if bare:
            yield orjson.dumps(row, option=_SORTED | orjson.OPT_APPEND_NEWLINE)
            continue
        line = {"table": table.name, "row": row}
        if (external_id := next(external_ids)) is not None:
            line["external_id"] = external_id
        elif not has_key or not row.keys() >= set(table.key):
            line["external_id"] = identities.of(table.name, orjson.dumps(row, option=_SORTED))
        yield orjson.dumps(line, option=_SORTED | orjson.OPT_APPEND_NEWLINE)


def _in_order(schema: Schema) -> list[Table]:
    """Return tables in an order in which each comes after those it refers to."""
    remaining, ordered = list(schema), list[Table]()
    while remaining:
        names = {table.name for table in remaining}
        ready = [
            table for table in remaining if not _referenced_tables(table) & (names - {table.name})
        ] or remaining[:1]
        ordered += ready
        remaining = [table for table in remaining if table not in ready]
    return ordered


def _referenced_tables(table: Table) -> set[str]:
    return {
        column.references.partition(".")[0]
        for column in table.columns
        if column.references is not None
    }
