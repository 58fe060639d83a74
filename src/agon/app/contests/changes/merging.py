"""Merge two ids that are one person: the records of the one become those of the other."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from agon.app.contests.ledgers.positions import require_storable_name
from agon.app.replay.replica import ContestReplica
from agon.disciplines import Discipline, discipline
from agon.entities.contests import Change
from agon.errors import Conflict, Unreadable
from agon.ledger.keys import record_key
from agon.store.session import Session

DUPLICATE: Final = "duplicate"
INTO: Final = "into"


def check_merge(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the two ids of a merge.

    Raises:
        Unreadable: one is missing or no id, or both are the same person.
        NotFound: one cannot be an id.
    """
    duplicate, target = params.get(DUPLICATE), params.get(INTO)
    if not isinstance(duplicate, str) or not isinstance(target, str) or not duplicate or not target:
        raise Unreadable("a merge has duplicate and into, two ids; give both")
    for name in (duplicate, target):
        require_storable_name(name)
    if duplicate == target:
        raise Unreadable(f"{target!r} cannot be merged with itself; give two different ids")
    return {DUPLICATE: duplicate, INTO: target}


def merge_entries(
    session: Session, live: ContestReplica, change: Change
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield kind and body of the entries that make the records of one id those of another.

    A record whose key stays is replaced; another is voided, and added with its new key unless
    there is one (the person's own row, or a second vote on a match). What relates the two to each
    other, such as a match between them, is voided.

    Raises:
        Conflict: no record about one of the two counts.
    """
    duplicate, target = change.params[DUPLICATE], change.params[INTO]
    chosen = discipline(live.contest_state().discipline)
    columns = _columns(chosen)
    records = live.records()
    tables: dict[int, str] = {}
    known: set[str] = set()
    for table, names in columns.items():
        for column in names:
            known |= set(records.rows_where(table, column, [target]).values())
            about = records.rows_where(table, column, [duplicate])
            known |= set(about.values())
            tables |= dict.fromkeys(about, table)
    if missing := [name for name in (duplicate, target) if name not in known]:
        raise Conflict(f"no record about {missing[0]!r} counts; correct the id")
    schema = {table.name: table for table in chosen.schema}
    visible = set(live.state.spans.records(at=live.seq).tolist())
    voided: list[int] = []
    moved: list[tuple[str, dict[str, Any]]] = []
    taken: set[str] = set()
    for seq, table in sorted(tables.items()):
        [stored] = session.entries.after(change.contest_no, seq - 1, until=seq)
        row = orjson.loads(stored.line)["body"]["row"]
        people = {str(row[column]) for column in columns[table] if column in row}
        merged = row | {
            column: type(row[column])(target)
            for column in columns[table]
            if column in row and str(row[column]) == duplicate
        }
        body = {"table": table, "row": merged}
        key = record_key(schema[table], merged)
        if target in people:
            voided.append(seq)
        elif key is not None and key == record_key(schema[table], row):
            moved.append(("record-replaced", body | {"replaces": seq}))
        else:
            voided.append(seq)
            if key is None or not (key in taken or _counts(session, change, key, visible)):
                moved.append(("record-added", body))
                taken |= set() if key is None else {key}
    if voided:
        yield "records-voided", {"seqs": voided, "subjects": [duplicate]}
    yield from moved


def _columns(discipline: Discipline) -> dict[str, tuple[str, ...]]:
    """Return the columns with ids of people by table, with those that refer to them."""
    people = {
        f"{table}.{column}"
        for table, names in discipline.people_columns.items()
        for column in names
    }
    columns = {
        table.name: tuple(
            column.name
            for column in table.columns
            if f"{table.name}.{column.name}" in people or column.references in people
        )
        for table in discipline.schema
    }
    return {table: names for table, names in columns.items() if names}


def _counts(session: Session, change: Change, key: str, visible: set[int]) -> bool:
    """Return whether a record with this key counts now."""
    existing = session.entries.existing(change.contest_no, records=[key]).get(key)
    return existing is not None and existing.seq in visible
