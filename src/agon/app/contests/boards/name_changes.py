"""Store the names of participants when boards are published: those that changed since."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from agon.app.replay.replica import ContestReplica
from agon.app.service import Service
from agon.disciplines import Discipline, Names, discipline
from agon.entities.contests import Contest
from agon.kernel.text.names import shown_name
from agon.ledger.spans import Integers, Spans
from agon.records import Schema
from agon.records.raw import quote

MAX_NAMES_PER_TRANSACTION: Final = 50_000
"""Maximum number of names stored together, which bounds how long other writers wait."""


def store_names(
    service: Service, contest: Contest, replica: ContestReplica, *, stored: int | None, seq: int
) -> int | None:
    """Store the names of a contest as its records have them at a position.

    A contest that hides names has none stored. While it is frozen its names are those of the
    freeze, since the public sees nothing later. If another publisher or an organizer changes
    something meanwhile, or the process ends, the rest is left to the next publication, which
    compares with the last position whose names are all stored.

    Args:
        service: the service.
        contest: the contest.
        replica: its records, read to that position.
        stored: the position at which its names were stored (``session.names.position``).
        seq: the position.

    Returns:
        The position at which they are stored now; None: they are not.
    """
    if not contest.shows_names:
        if stored is not None:
            _clear(service, contest)
        return None
    until = seq if contest.frozen_at is None else min(seq, contest.frozen_at)
    chosen = discipline(contest.discipline)
    after, is_partial = abs(stored or 0), stored is not None and stored <= 0
    changes = _changes(chosen, replica, after, until, every=is_partial) if until > after else {}
    ids, done = list(changes), 0
    while done < len(ids):
        part = ids[done : done + MAX_NAMES_PER_TRANSACTION]
        with service.store.write() as session:
            locked = session.contests.lock(contest.id)
            if (
                (locked.names, locked.frozen_at) != (contest.names, contest.frozen_at)
                or session.names.position(contest.no) != stored
            ):  # fmt: skip
                break
            if not done and stored == 0:  # what an interruption of the first time left
                session.names.clear(contest.no)
            names = {name: changes[name] for name in part if changes[name]}
            session.names.replace(contest.no, part, names, at=until)
            done += len(part)
            stored = until if done == len(ids) else -after
            session.names.set_position(contest.no, stored)
    return stored


def _clear(service: Service, contest: Contest) -> None:
    with service.store.write() as session:
        if not session.contests.lock(contest.id).shows_names:
            session.names.clear(contest.no)


def _changes(
    discipline: Discipline, replica: ContestReplica, after: int, until: int, *, every: bool
) -> dict[str, str]:
    """Return the participants whose names differ between two positions, with the later ones.

    With ``every``, all whose records changed between: a part of them may have been stored.
    """
    if discipline.names is None:
        return {}
    table, spans = discipline.names.table, replica.state.spans
    rows = _changed_records(spans, table, after, until)
    referred = {key.other_table for key in discipline.schema.table(table).foreign_keys}
    if any(len(_changed_records(spans, other, after, until)) for other in referred):
        rows = spans.record[_of_table(spans, table)]  # which of them are seen may have changed
    if not len(rows):
        return {}
    before = _names_at(discipline.schema, discipline.names, replica, after, rows) if after else {}
    now = _names_at(discipline.schema, discipline.names, replica, until, rows)
    return {
        name: now.get(name, "")
        for name in sorted(before.keys() | now.keys())
        if every or before.get(name, "") != now.get(name, "")
    }


def _changed_records(spans: Spans, table: str, after: int, until: int) -> Integers:
    """Return the records of a table that were added, replaced, voided or brought back since."""
    begun = (spans.since > after) & (spans.since <= until)
    ended = (spans.until > after) & (spans.until <= until)
    changed: Integers = np.unique(spans.record[_of_table(spans, table) & (begun | ended)])
    return changed


def _of_table(spans: Spans, table: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    number = spans.tables.index(table) if table in spans.tables else -1
    of_table: np.ndarray[Any, np.dtype[np.bool_]] = spans.table == number
    return of_table


def _names_at(
    schema: Schema, names: Names, replica: ContestReplica, seq: int, rows: Integers
) -> Mapping[str, str]:
    """Return the names that some records give at a position, by participant."""
    table, column = names.table, names.column.partition(".")[2]
    [key] = schema.table(table).key
    values = replica.records(seq).sql(
        f"SELECT _row, {quote(key)}::VARCHAR AS id, {quote(column)} AS name "
        f"FROM {quote(table)} WHERE {quote(column)} IS NOT NULL ORDER BY _row"
    )
    selected = values.filter(pa.array(np.isin(values["_row"].to_numpy(), rows)))
    pairs = zip(selected["id"].to_pylist(), selected["name"].to_pylist(), strict=True)
    return {name: shown for name, text in pairs if (shown := shown_name(text))}
