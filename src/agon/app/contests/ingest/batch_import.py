"""Walk through the records of one request: look at them, compare with what is there, store them.

This is the way a million records take, so a batch of them goes through each step as columns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import orjson

from agon.app.contests.ingest.batches import batches_of
from agon.app.contests.ingest.cross_row_checks import CrossRowChecks
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.ndjson import Lines
from agon.app.contests.ingest.references import References
from agon.app.contests.ingest.validation import RecordValidator, ValidatedBatch
from agon.app.contests.ledgers.append import moved, not_before
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest, ExistingEntry, NewRecords
from agon.ledger.entry import seal_records
from agon.store.session import Session

BATCH_SIZE: Final = 1_000
"""So many records are looked up and stored together; memory grows with this, not the request.

Measured: 1,000 is a third faster than 10,000, which leaves the garbage collector more to walk.
"""

MAX_SEQS: Final = 1_000


@dataclass(frozen=True, kw_only=True)
class ImportSummary:
    """Hold what became of a request.

    Attributes:
        added: records that are new.
        repeated: records that were there already, word for word.
        replaced: records that supersede one of the same key.
        first_seq, last_seq: positions of the first and the last new entry; None without any, and
            for a judge while the contest is frozen.
        seqs: where the records stand in the ledger, those there already included; of the first
            thousand.
    """

    added: int = 0
    repeated: int = 0
    replaced: int = 0
    first_seq: int | None = None
    last_seq: int | None = None
    seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Existing:
    """Hold what is known under a key or a name: where it stands, and the record it says."""

    seq: int
    table: str | None
    written: bytes | None


class RecordImporter:
    """Take in one request's records in the session of a locked contest."""

    def __init__(
        self, service: Service, session: Session, contest: Contest, by: Caller, *, replace: bool
    ) -> None:
        self._service = service
        self._session = session
        self._contest = contest
        self._by = by
        self._replace = replace
        of = discipline(contest.discipline)
        self._refusals = ErrorCollector()
        self._references = References(session, contest, of.schema)
        self._contradictions = CrossRowChecks(session, contest, of.schema)
        self._looking = RecordValidator(
            of, self._references, self._refusals, by=by, key=service.network_key
        )
        self._touched: set[str] = set()
        self._all_new = True
        self._entering: tuple[ValidatedBatch, NewRecords, Callable[[], bool]] | None = None
        self._at = not_before(session, contest, service.clock())
        self._seq, self._head = contest.seq, contest.head
        self._repeated = self._replaced = 0
        self._seqs: list[int] = []

    def take(self, rows: Iterable[Sequence[Any]]) -> ImportSummary:
        """Enter all rows, or refuse with everything that is wrong with them.

        Raises:
            InvalidRecords, Conflict, Forbidden: as in :mod:`agon.app.contests.ingest.records`.
        """
        batches = rows.batches if isinstance(rows, Lines) else partial(batches_of, rows)
        try:
            for batch in batches(BATCH_SIZE):
                # While a batch is looked at, the database is busy with the one before it.
                looked = self._looking.at(batch)
                self._settle()
                self._begin(looked)
        except BaseException:
            if self._entering is not None:
                self._entering[-1]()  # else the session would end under the database's work
            raise
        self._settle()
        if not self._refusals:
            self._references.refuse(self._refusals)
            self._contradictions.refuse(self._touched, self._refusals)
        self._refusals.expect_none()
        return self._done()

    def _begin(self, looked: ValidatedBatch) -> None:
        """Begin to enter records, as if all were new if all were so far.

        Most requests hold new records alone. One that does not has more of them.
        """
        self._references.resolve()
        if self._all_new and not self._refusals:
            records = self._sealed(looked)
            done = self._session.entries.start_insert_new(self._contest.no, records)
            self._entering = looked, records, done
        else:
            self._enter_known(looked)

    def _settle(self) -> None:
        """Wait for the batch that is being entered; look closer if not all of it is new."""
        if self._entering is None:
            return
        (looked, records, done), self._entering = self._entering, None
        if done():
            self._note(range(records.seq, records.seq + len(records.lines)))
            self._after(records)
        else:
            self._all_new = False
            self._enter_known(looked)

    def _enter_known(self, looked: ValidatedBatch) -> None:
        """Leave out repetitions, note contradictions, and enter the rest.

        What is refused in the end is looked at to its end, but not stored.
        """
        places, replaces = self._fresh(looked)
        fresh = looked.only(places)
        if not self._refusals:
            records = self._sealed(fresh, replaces if any(replaces) else None)
            self._session.entries.insert(self._contest.no, records)
            self._after(records)

    def _fresh(self, looked: ValidatedBatch) -> tuple[list[int], list[int | None]]:
        """Return which records are not there yet, and what each of them supersedes."""
        no, known = self._contest.no, self._session.entries.existing
        given = looked.external_ids or [None] * len(looked.keys)
        keys = [key for key in looked.keys if key is not None]
        names = [name for name in given if name is not None]
        by_key = _by_name(known(no, records=keys)) if keys else {}
        by_name = _by_name(known(no, external_ids=names)) if names else {}
        places: list[int] = []
        replaces: list[int | None] = []
        for place, (key, name) in enumerate(zip(looked.keys, given, strict=True)):
            new = _Existing(
                self._seq + len(places) + 1, looked.tables[place], looked.written[place]
            )
            found = (by_key.get(key or ""), by_name.get(name or ""))
            there = [known for known in found if known is not None]
            if there and all(
                (known.table, known.written) == (new.table, new.written) for known in there
            ):
                self._repeated += 1
                self._note([there[0].seq])
                continue
            if there and (not self._replace or len({known.seq for known in there}) > 1):
                self._refusals.conflict(_conflict(looked, place, there, known=key in by_key))
                continue
            self._replaced += bool(there)
            places.append(place)
            replaces.append(there[0].seq if there else None)
            self._note([new.seq])
            if key is not None:
                by_key[key] = new
            if name is not None:
                by_name[name] = new
        return places, replaces

    def _note(self, seqs: Iterable[int]) -> None:
        self._seqs += islice(seqs, max(0, MAX_SEQS - len(self._seqs)))

    def _sealed(
        self, looked: ValidatedBatch, replaces: Sequence[int | None] | None = None
    ) -> NewRecords:
        lines, heads = seal_records(
            looked.written,
            tables=looked.tables,
            start_seq=self._seq + 1,
            previous_head=self._head,
            at=self._at,
            by=self._by.name,
            external_ids=looked.external_ids,
            replaces=replaces,
        )
        kinds = ["record-added"] * len(lines)
        if replaces is not None:
            kinds = ["record-added" if seq is None else "record-replaced" for seq in replaces]
        return NewRecords(
            seq=self._seq + 1, at=self._at, kinds=kinds, lines=lines, heads=heads,
            tables=looked.tables, records=looked.keys, external_ids=looked.external_ids,
        )  # fmt: skip

    def _after(self, records: NewRecords) -> None:
        """Stand where records that were stored leave the ledger."""
        if records.lines:
            self._seq += len(records.lines)
            self._head = records.heads[-1]
            self._touched.update(records.tables)

    def _done(self) -> ImportSummary:
        before, after = self._contest.seq, self._seq
        if after > before:
            moved(self._service, self._session, replace(self._contest, seq=after, head=self._head))
        return ImportSummary(
            added=after - before - self._replaced,
            repeated=self._repeated,
            replaced=self._replaced,
            first_seq=before + 1 if after > before else None,
            last_seq=after if after > before else None,
            seqs=tuple(self._seqs),
        )


def _by_name(known: Mapping[str, ExistingEntry]) -> dict[str, _Existing]:
    return {name: _there(one) for name, one in known.items()}


def _there(known: ExistingEntry) -> _Existing:
    """Read what the entry says that is known; only of a record is that a table's row."""
    body = orjson.loads(known.line)["body"]
    if "table" not in body or "row" not in body:
        return _Existing(known.seq, None, None)
    return _Existing(
        known.seq, body["table"], orjson.dumps(body["row"], option=orjson.OPT_SORT_KEYS)
    )


def _conflict(
    looked: ValidatedBatch, place: int, there: Sequence[_Existing], *, known: bool
) -> str:
    line = looked.lines[place]
    if len({one.seq for one in there}) > 1:
        seqs = " and ".join(str(one.seq) for one in there)
        return (
            f"line {line}: its key and its external id belong to two entries, {seqs}; "
            "send one of them"
        )
    names = looked.external_ids
    what = f"the record {looked.keys[place]}"
    if not known and names is not None:
        what = f"the external id {names[place]!r}"
    return (
        f"line {line}: {what} is entry {there[0].seq} with other content; leave it out, or "
        "ask to replace it"
    )
