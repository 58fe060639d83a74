"""Correct values of records: new rows that supersede those with the same keys."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.references import References
from agon.app.contests.ingest.validation import RecordValidator
from agon.disciplines import discipline
from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unreadable, did_you_mean
from agon.ledger.keys import record_key
from agon.records import Table
from agon.records.normal import normal_form
from agon.store.session import Session

MAX_ROWS: Final = 10_000
_MAX_SHOWN: Final = 5


def check_correction(
    session: Session, contest: Contest, params: Mapping[str, Any], *, key: bytes
) -> dict[str, Any]:
    """Return the table and the complete rows of a correction.

    A row of the parameters has the columns of its key and those that change; the others stay as
    they are stored. What is compared and stored is the normal form of the whole row.

    Raises:
        Unreadable: ``table`` is no name, ``rows`` is no list of 1 to ``MAX_ROWS`` objects, a row
            has no key, or it names what is no column.
        NotFound: there is no such table or record.
        InvalidRecords: a corrected row is invalid, with all issues.
        Conflict: nothing differs from what is stored.
    """
    table_name, rows = params.get("table"), params.get("rows")
    if (
        not isinstance(table_name, str)
        or not isinstance(rows, list | tuple)
        or not all(isinstance(row, Mapping) for row in rows)
        or not 0 < len(rows) <= MAX_ROWS
    ):
        raise Unreadable(
            "a correction has table (a name) and rows (objects with the key and the columns that "
            f"change); give 1 to {MAX_ROWS:,} rows"
        )
    chosen = discipline(contest.discipline)
    tables = {table.name: table for table in chosen.schema}
    if table_name not in tables:
        raise NotFound(f"there is no table {table_name!r}: {did_you_mean(table_name, tables)}")
    form = normal_form(tables[table_name])
    rows = [form.rename(row) for row in rows]
    _require_columns(tables[table_name], rows)
    stored = stored_rows(session, contest, tables[table_name], rows)
    corrected = [form.row({**before, **row}) for before, row in zip(stored, rows, strict=True)]
    lines = [
        n for n, pair in enumerate(zip(corrected, stored, strict=True), 1) if pair[0] != pair[1]
    ]
    changed = [corrected[line - 1] for line in lines]
    if not changed:
        raise Conflict("every row is stored with these values, so there is nothing to change")
    errors = ErrorCollector()
    references = References(session, contest, chosen.schema)
    validator = RecordValidator(chosen, references, errors, key=key)
    valid = validator.validate(Batch([table_name] * len(changed), changed, None, lines))
    references.resolve()
    references.report_missing(errors)
    errors.raise_any()
    return {"table": table_name, "rows": [orjson.loads(row) for row in valid.written]}


def _require_columns(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise Unreadable with all names that are no columns; elsewhere they would be left out."""
    known = [column.name for column in table.columns]
    wrong = sorted({name for row in rows for name in row if name not in known})
    if wrong:
        raise Unreadable("; ".join(
            f"{table.name} has no column {name!r}: {did_you_mean(name, known)}"
            for name in wrong[:_MAX_SHOWN]
        ))  # fmt: skip


def stored_rows(
    session: Session, contest: Contest, table: Table, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the stored rows with the keys of some rows, in their order.

    Raises:
        Unreadable: a row has no complete key.
        NotFound: a record does not exist.
    """
    keys = [record_key(table, row) for row in rows]
    if None in keys or not table.key:
        columns = ", ".join(table.key) or "none: its records can be voided and added again"
        raise Unreadable(
            f"row {keys.index(None) + 1} has no complete key; give the columns of the key of "
            f"{table.name} ({columns})"
        )
    names = [str(key) for key in keys]
    if len(set(names)) < len(names):
        raise Unreadable("two rows have the same key; give each record once")
    existing = session.entries.existing(contest.no, records=names)
    missing = [name for name in names if name not in existing]
    if missing:
        raise NotFound(
            f"there is no record {', '.join(map(repr, missing[:_MAX_SHOWN]))}"
            f"{' and more' if len(missing) > _MAX_SHOWN else ''}; give keys of stored records"
        )
    stored: list[dict[str, Any]] = [
        orjson.loads(existing[name].line)["body"]["row"] for name in names
    ]
    return stored


def positions_of(
    session: Session, contest_no: int, table: Table, rows: Sequence[Mapping[str, Any]]
) -> list[int]:
    """Return the positions of the records that the rows of a correction supersede."""
    names = [str(record_key(table, row)) for row in rows]
    existing = session.entries.existing(contest_no, records=names)
    return [existing[name].seq for name in names]
