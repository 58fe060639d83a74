"""Decide which records a sender may add to a contest: one answer for every operation that adds.

In a live contest no sender adds what a protocol owns (``Discipline.written_by``). Judges send
votes of their own, on matches they can see and that are not their own bots'.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import orjson

from agon.app.contests.ingest.batches import Batch
from agon.disciplines import Discipline, discipline
from agon.disciplines.ownership import SENT, Ballot, LiveProtocol, Owner
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict, Forbidden
from agon.ledger.keys import MAX_KEY_BYTES, record_key
from agon.records import Table
from agon.records.normal import write_time
from agon.store.session import Session

_CORRECTION: Final = (
    "to change what is recorded, propose a change set: a correction or a void (agon contest void)"
)

_Row: TypeAlias = Mapping[str, Any]


class RecordSender:
    """The sender of one request's records, in a locked contest.

    Attributes:
        reach: the last position of the ledger that rows may refer to; None: all. A judge's votes
            on matches that a freeze hides get the answer of matches that do not exist.
    """

    def __init__(self, session: Session, contest: Contest, by: Caller) -> None:
        self._session = session
        self._contest = contest
        self._by = by
        self._of = discipline(contest.discipline)
        self._owned = _owned_tables(session, contest, self._of)
        self._ballot = self._of.ballot
        foreign = () if self._ballot is None else self._votes(self._ballot).foreign_keys
        self._referred = {key.other_table for key in foreign}
        self._stored: dict[str, _Row | None] = {}
        self.is_judge = by.role == "judge"
        self.reach = contest.public_until if self.is_judge else None

    def admit(self, batch: Batch, *, at: datetime) -> Batch:
        """Return the records as they are added; a judge's votes with the time of their entries.

        Raises:
            Conflict: a protocol owns them while the contest is live.
            Forbidden: a judge sends something else than their own votes, or one on an own bot.
        """
        ballot = self._require_own_votes(batch) if self.is_judge else None
        if not self._owned.keys().isdisjoint(batch.tables):
            self._require_not_owned(batch)
        return batch if ballot is None else self._as_votes(ballot, batch, at=write_time(at))

    def _votes(self, ballot: Ballot) -> Table:
        return self._of.schema.table(ballot.table)

    def _require_not_owned(self, batch: Batch) -> None:
        sent = batch.rows if batch.sent is None else batch.sent
        for table, read, as_sent, line in zip(
            batch.tables, batch.rows, sent, batch.lines, strict=True
        ):
            row = read if isinstance(read, Mapping) else as_sent
            protocol, owner = self._owned.get(table, (None, SENT))
            if protocol is not None and isinstance(row, Mapping) and owner.owns(row):
                rows = f" with {owner.column} {owner.value}" if owner.column else ""
                remedy = protocol.instead if self.is_judge else f"{protocol.instead}; {_CORRECTION}"
                raise Conflict(
                    f"line {line}: {self._contest.id} is live, and {table}{rows} are written by "
                    f"its {protocol.name} alone; {remedy}"
                )

    def _require_own_votes(self, batch: Batch) -> Ballot:
        ballot = self._ballot
        if ballot is None:
            raise Forbidden(
                f"a judge may add only their own votes, and {self._contest.id} is a "
                f"{self._contest.discipline} contest, which has none"
            )
        for table, row in _rows(batch):
            if table != ballot.table or str(row.get(ballot.voter)) != self._by.user:
                raise Forbidden(
                    f"a judge may add only their own votes; send rows of {ballot.table} with "
                    f"{ballot.voter} {self._by.user}"
                )
        return ballot

    def _as_votes(self, ballot: Ballot, batch: Batch, *, at: str) -> Batch:
        """Return a judge's votes with a time; a vote that is stored keeps its own.

        Raises:
            Forbidden: they may not vote on a match.
        """
        table, user = self._votes(ballot), str(self._by.user)
        self._look_up(table, batch.rows)
        for _, row in _rows(batch):
            obstacle = None if ballot.obstacle is None else ballot.obstacle(row, user, self._find)
            if obstacle is not None:
                raise Forbidden(f"a judge may not vote here: {obstacle}; leave that vote out")
        timed = [self._with_time(table, row, at) for row in batch.rows]
        return batch.with_rows(timed, sent=None)

    def _with_time(self, table: Table, row: Any, at: str) -> Any:
        if table.time is None or not isinstance(row, Mapping):
            return row
        timed = {**row, table.time: at}
        stored = self._stored.get(record_key(table, row) or "")
        if stored is not None and {**timed, table.time: stored.get(table.time)} == stored:
            return stored
        return timed

    def _look_up(self, table: Table, rows: Sequence[Any]) -> None:
        """Read the stored votes with the keys of some, and the rows that the votes refer to."""
        votes = [row for row in rows if isinstance(row, Mapping)]
        referred = [
            record_key(
                self._of.schema.table(foreign.other_table),
                {foreign.other_column: row.get(foreign.column)},
            )
            for row in votes
            for foreign in table.foreign_keys
        ]
        self._stored = {
            **self._read(referred, until=self.reach),
            **self._read([record_key(table, row) for row in votes], until=None),
        }

    def _find(self, table: str, name: str) -> Mapping[str, Any] | None:
        described = self._of.schema.table(table)
        key = record_key(described, {described.key[0]: name})
        if key is not None and key not in self._stored and table not in self._referred:
            self._stored |= {key: None, **self._read([key], until=None)}
        return self._stored.get(key or "")

    def _read(self, keys: Sequence[str | None], *, until: int | None) -> dict[str, _Row | None]:
        """Return the newest rows of keys up to a position."""
        storable = {key for key in keys if key and "\x00" not in key and len(key) <= MAX_KEY_BYTES}
        existing = self._session.entries.existing(
            self._contest.no, records=sorted(storable), until=until
        )
        return {key: orjson.loads(entry.line)["body"]["row"] for key, entry in existing.items()}


def _owned_tables(
    session: Session, contest: Contest, discipline: Discipline
) -> Mapping[str, tuple[LiveProtocol, Owner]]:
    """Return the tables of which protocols own records in a contest, as it is live now."""
    live = {
        protocol
        for protocol in discipline.protocols
        if next(session.entries.of_kind(contest.no, protocol.begins), None) is not None
    }
    return {
        table: (owner.protocol, owner)
        for table, owner in discipline.written_by.items()
        if owner.protocol in live and owner.protocol is not None
    }


def _rows(batch: Batch) -> Iterator[tuple[str, Mapping[str, Any]]]:
    pairs: Sequence[tuple[str, Any]] = list(zip(batch.tables, batch.rows, strict=True))
    return ((table, row) for table, row in pairs if isinstance(row, Mapping))
