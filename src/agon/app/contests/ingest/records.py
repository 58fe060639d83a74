"""Add records to a contest's ledger: all of a request, or none.

Requests of a million records take this path, so each step works on the columns of a batch.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as replaced
from functools import partial
from itertools import islice
from typing import Any, Final

import orjson

from agon.app.contests.ingest.batches import batches_of
from agon.app.contests.ingest.conflicts import ExistingRecord, conflict_text, is_same_record
from agon.app.contests.ingest.errors import ErrorCollector
from agon.app.contests.ingest.ndjson import Lines
from agon.app.contests.ingest.openness import require_open
from agon.app.contests.ingest.references import CrossRowChecks, References
from agon.app.contests.ingest.sent_rows import SentRows
from agon.app.contests.ingest.validation import RecordValidator, ValidatedBatch
from agon.app.contests.ingest.whole_columns import WholeIds
from agon.app.contests.ledgers.append import not_before, store_growth
from agon.app.garbage import gc_paused
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest, ExistingEntry, NewRecords
from agon.entities.ledgers import ImportSummary, RecordChange
from agon.ledger.entry import encode_records
from agon.records import InvalidRecords
from agon.store.session import Session

BATCH_SIZE: Final = 500
"""Number of records that are validated and stored together; memory grows with it.

Measured: 250 to 500 take the least processor time; more of them leave the processor's cache
between two steps. It is the number of rows that one statement of SQLite inserts.
"""

_MAX_REMEMBERED: Final = 250_000
"""Maximum number of ids of people that were stored and are kept in memory."""

_MAX_CHANGES: Final = 100
"""Maximum number of changes of replaced records in a summary."""

MAX_SEQS: Final = 1_000
"""Maximum number of positions in a summary."""


class RecordImporter:
    """Imports one request's records in the session of a locked contest.

    Without ``sent`` they are those of a protocol of the service, which decides itself.
    """

    def __init__(
        self,
        service: Service,
        session: Session,
        contest: Contest,
        by: Caller,
        *,
        replace: bool,
        sent: SentRows | None = None,
    ) -> None:
        self._service = service
        self._session = session
        self._contest = contest
        self._by = by
        self._sent = sent
        self._votes = sent is not None and sent.are_votes
        self._replace = replace and not self._votes
        chosen = discipline(contest.discipline)
        self._errors = ErrorCollector()
        reach = None if sent is None else sent.reach
        self._references = References(session, contest, chosen.schema, until=reach)
        self._cross_row_checks = CrossRowChecks(session, contest, chosen.schema)
        self._validator = RecordValidator(
            chosen, self._references, self._errors, key=service.network_key
        )
        self._touched: set[str] = set()
        self._people: set[str] = set()
        self._all_new = True
        self._at = not_before(session, contest, service.clock())
        self._seq, self._head = contest.seq, contest.head
        self._repeated = self._replaced = 0
        self._seqs: list[int] = []
        self._changes: list[RecordChange] = []

    def run(self, rows: Iterable[Sequence[Any]]) -> ImportSummary:
        """Store all rows, or none and raise everything that is wrong with them.

        Raises:
            InvalidRecords, Conflict, Forbidden: as in :mod:`agon.app.contests.ingest.records`.
        """
        batches = rows.batches if isinstance(rows, Lines) else partial(batches_of, rows)
        for batch in batches(BATCH_SIZE):
            admitted = batch if self._sent is None else self._sent.admit(batch, at=self._at)
            valid = self._validator.validate(admitted)
            if self._sent is not None:
                valid = self._sent.name(valid)
            self._insert(valid)
        # After a conflict, too: it must not show a judge a match that a freeze hides.
        self._references.report_missing(self._errors)
        if not self._errors:
            self._cross_row_checks.report(self._touched, self._errors)
        self._errors.raise_any()
        return self._finish()

    def _insert(self, valid: ValidatedBatch) -> None:
        """Insert records as if all were new while all were so far; else leave out repeated ones.

        Most requests hold only new records. One that has others usually has many.
        """
        self._references.resolve()
        self._store_people()
        if self._all_new and not self._errors:
            records = self._encode(valid)
            self._all_new = self._session.entries.insert_new(self._contest.no, records)
            if self._all_new:
                self._add_seqs(range(records.seq, records.seq + len(records.lines)))
                self._advance(records)
                return
        self._insert_rest(valid)

    def _store_people(self) -> None:
        """Store the ids of people in the newest batch that earlier batches did not have."""
        new = self._validator.people - self._people
        self._session.people.add(self._contest.no, new)
        if len(self._people) > _MAX_REMEMBERED:
            self._people.clear()
        self._people |= new

    def _insert_rest(self, valid: ValidatedBatch) -> None:
        """Leave out repeated records, collect conflicts, and insert the rest.

        With errors in the request nothing more is inserted, and the rest is still compared.
        """
        indexes, replaces = self._new_records(valid)
        new = valid.only(indexes)
        if not self._errors:
            records = self._encode(new, replaces if any(replaces) else None)
            self._session.entries.insert(self._contest.no, records)
            self._advance(records)

    def _new_records(self, valid: ValidatedBatch) -> tuple[list[int], list[int | None]]:
        """Return the indexes of new records, and the position that each supersedes or None."""
        no, known = self._contest.no, self._session.entries.existing
        external_ids = valid.external_ids or [None] * len(valid.keys)
        keys = [key for key in valid.keys if key is not None]
        names = [name for name in external_ids if name is not None]
        by_key = self._by_name(known(no, records=keys)) if keys else {}
        by_name = self._by_name(known(no, external_ids=names)) if names else {}
        indexes: list[int] = []
        replaces: list[int | None] = []
        for index, (key, name) in enumerate(zip(valid.keys, external_ids, strict=True)):
            new = ExistingRecord(
                self._seq + len(indexes) + 1, valid.tables[index], valid.written[index]
            )
            # A row may be known by its key, by its sender's name for it, or by both.
            candidates = (by_key.get(key or ""), by_name.get(name or ""))
            existing = [known for known in candidates if known is not None]
            if existing and all(
                (known.table, known.written) == (new.table, new.written) for known in existing
            ):
                self._repeated += 1
                if self._sent is not None:
                    self._sent.add_repeated(valid.tables[index], name)
                self._add_seqs([existing[0].seq])
                continue
            if existing and not (self._replace and is_same_record(existing, new)):
                shown = [] if self._votes else existing
                self._errors.conflict(conflict_text(valid, index, shown, known=key in by_key))
                continue
            if existing:
                self._replaced += 1
                self._add_change(key or str(name), existing[0].written, new.written)
            indexes.append(index)
            replaces.append(existing[0].seq if existing else None)
            self._add_seqs([new.seq])
            if key is not None:
                # Later rows of the same batch meet this one as they would a stored record.
                by_key[key] = new
            if name is not None:
                by_name[name] = new
        return indexes, replaces

    def _by_name(self, entries: Mapping[str, ExistingEntry]) -> dict[str, ExistingRecord]:
        return {name: self._existing_record(entry) for name, entry in entries.items()}

    def _existing_record(self, entry: ExistingEntry) -> ExistingRecord:
        """Read an existing entry, whose row may be stored in another form than the normal one.

        Only an entry of a record has a table and a row.
        """
        body = orjson.loads(entry.line)["body"]
        if "table" not in body or "row" not in body:
            return ExistingRecord(entry.seq, None, None)
        table, row = body["table"], body["row"]
        if self._sent is not None:
            row = self._sent.normal_row(table, row)
        return ExistingRecord(entry.seq, table, orjson.dumps(row, option=orjson.OPT_SORT_KEYS))

    def _add_change(self, record: str, before: bytes | None, after: bytes | None) -> None:
        if len(self._changes) < _MAX_CHANGES and before is not None and after is not None:
            old, new = orjson.loads(before), orjson.loads(after)
            differ = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            self._changes.append(
                RecordChange(
                    record=record,
                    before={name: old[name] for name in differ if name in old},
                    after={name: new[name] for name in differ if name in new},
                )
            )

    def _add_seqs(self, seqs: Iterable[int]) -> None:
        self._seqs += islice(seqs, max(0, MAX_SEQS - len(self._seqs)))

    def _encode(
        self, valid: ValidatedBatch, replaces: Sequence[int | None] | None = None
    ) -> NewRecords:
        lines, heads = encode_records(
            valid.written,
            tables=valid.tables,
            start_seq=self._seq + 1,
            previous_head=self._head,
            at=self._at,
            by=self._by.name,
            external_ids=valid.external_ids,
            replaces=replaces,
        )
        kinds = ["record-added"] * len(lines)
        if replaces is not None:
            kinds = ["record-added" if seq is None else "record-replaced" for seq in replaces]
        return NewRecords(
            seq=self._seq + 1, at=self._at, kinds=kinds, lines=lines, heads=heads,
            tables=valid.tables, records=valid.keys, external_ids=valid.external_ids,
        )  # fmt: skip

    def _advance(self, records: NewRecords) -> None:
        """Advance position and head by the stored records."""
        if records.lines:
            self._seq += len(records.lines)
            self._head = records.heads[-1]
            self._touched.update(records.tables)

    def _finish(self) -> ImportSummary:
        before, after = self._contest.seq, self._seq
        if after > before:
            store_growth(
                self._service, self._session, replaced(self._contest, seq=after, head=self._head)
            )
        return ImportSummary(
            added=after - before - self._replaced,
            repeated=self._repeated,
            replaced=self._replaced,
            first_seq=before + 1 if after > before else None,
            last_seq=after if after > before else None,
            seqs=tuple(self._seqs),
            notes=() if self._sent is None else self._sent.notes,
            warnings=() if self._sent is None else self._sent.warnings,
            changes=tuple(self._changes),
        )


class _DryRun(Exception):
    """Ends the session of a dry run, so that nothing is stored."""


def record(
    service: Service,
    contest_id: str,
    rows: Iterable[Sequence[Any]],
    *,
    by: Caller,
    replace: bool = False,
    dry_run: bool = False,
    ignore: Iterable[str] = (),
) -> ImportSummary:
    """Add records to a contest's ledger.

    A record whose key or external id exists with the same content is not added again, so a request
    can be sent twice.

    Args:
        service: the service.
        contest_id: the contest.
        rows: ``(table, row, external_id)``, or what :func:`read_ndjson` gives. They are read
            while the contest is locked, so they must not wait for a client.
        by: the caller. Judges add only their own votes, with the service's time, and never on an
            own bot or on what a freeze hides.
        replace: whether a record with the key of another supersedes it.
        dry_run: validate only; store nothing.
        ignore: names of keys that are not read, such as ``notes`` or ``prompts.notes``.

    Raises:
        NotFound: there is no such contest.
        InvalidRecords: with all issues of all records, each with its line.
        Conflict: keys or external ids exist with other content; the contest is final; or it is
            live, and the records are those of a protocol (``Discipline.written_by``).
        Forbidden: a judge sends something else than their own votes, or votes on an own bot.
    """

    def add(ids: WholeIds) -> ImportSummary:
        summary = ImportSummary()
        with suppress(_DryRun), gc_paused(), service.store.write() as session:
            contest = session.contests.lock(contest_id)
            require_open(service, session, contest, by)
            sent = SentRows(session, contest, by, ignore=ignore, ids=ids)
            importer = RecordImporter(service, session, contest, by, replace=replace, sent=sent)
            summary = _shown_to(by, contest, importer.run(rows))
            if dry_run:
                raise _DryRun
        return summary

    ids = WholeIds()
    try:
        while True:
            known = set(ids.texts)
            try:
                return add(ids)
            except InvalidRecords:
                if ids.texts == known or not isinstance(rows, Lines):
                    raise
            ids = WholeIds(ids.texts)
    finally:
        if isinstance(rows, Lines):
            rows.close()


def _shown_to(by: Caller, contest: Contest, summary: ImportSummary) -> ImportSummary:
    """Return what the sender may see of a summary.

    Positions would show a judge how many records there are, which is hidden during a freeze.
    """
    if contest.frozen_at is not None and by.role == "judge":
        return replaced(summary, first_seq=None, last_seq=None, seqs=())
    return summary
