"""Take in records: check them, know repetitions, enter the rest; all of a request or nothing."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final, TypeAlias

from agon.app.access.authorising import allow, viewed
from agon.app.access.values import Caller
from agon.app.contests.appending import content_of, moved, not_before
from agon.app.contests.ports import Session
from agon.app.contests.private import without_addresses
from agon.app.contests.reading_ndjson import Given
from agon.app.contests.references import References
from agon.app.contests.refusals import Refusals
from agon.app.contests.service import Service
from agon.app.contests.values import Contest, Known, NewEntry
from agon.disciplines import discipline
from agon.errors import Conflict, Forbidden, did_you_mean
from agon.ledger.entry import seal_records
from agon.ledger.keys import record_key
from agon.records import Problem
from agon.records.single_rows import row_checker

_PORTION: Final = 10_000
"""So many records are looked up and stored together; memory grows with this, not the request."""

_SEQS_TOLD: Final = 1_000

_Looked: TypeAlias = tuple[int, str, Mapping[str, Any], str | None, str | None, bytes]
"""Line, table, row, external id, key and content of a row without fault."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Hold what became of a request.

    Attributes:
        added: records that are new.
        repeated: records that were there already, word for word.
        replaced: records that supersede one of the same key.
        first_seq, last_seq: positions of the first and the last new entry; None without any.
        seqs: where the records stand in the ledger, those there already included; of the first
            1,000.
    """

    added: int = 0
    repeated: int = 0
    replaced: int = 0
    first_seq: int | None = None
    last_seq: int | None = None
    seqs: tuple[int, ...] = ()


class _Undone(Exception):
    """Leave a session without keeping anything; what a dry run ends with."""


def record(
    service: Service,
    contest_id: str,
    rows: Iterable[Sequence[Any]],
    *,
    by: Caller,
    replace: bool = False,
    dry_run: bool = False,
) -> Recorded:
    """Enter records into a contest's ledger.

    A record whose key or external id is there with the same content is a repetition and not
    entered again; so a request can be sent twice.

    Args:
        service: the service.
        contest_id: the contest.
        rows: ``(table, row, external_id)``, what :func:`read_ndjson` gives. They are read while
            the contest is locked, so they must not wait for a client.
        by: who gives them. Judges may give their own votes alone.
        replace: whether a record with the key of another supersedes it.
        dry_run: look only; enter nothing.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see the contest.
        InvalidRecords: with what is wrong in all of them, each with its line.
        Conflict: keys or external ids are there with other content; or the contest is final.
    """
    recorded = Recorded()
    with suppress(_Undone), service.store.write() as session:
        contest = viewed(session, contest_id, by).contest
        allow(by, "vote.add" if by.role == "judge" else "records.add", contest=contest)
        contest = session.contests.lock(contest_id)
        expect_open(contest, by)
        recorded = _Recording(service, session, contest, by, replace=replace).take(rows)
        if dry_run:
            raise _Undone
    return recorded


def expect_open(contest: Contest, by: Caller) -> None:
    """Refuse records for a contest that takes none.

    Raises:
        Conflict: it is final, or a draft and ``by`` is no organiser.
    """
    if contest.state == "final":
        raise Conflict(
            f"{contest.id} is final and takes no records; propose a change set to correct it"
        )
    if contest.state == "draft" and by.role not in {"organiser", "operator"}:
        raise Conflict(f"{contest.id} is not open yet; wait until its organiser opens it")


@dataclass(frozen=True, slots=True)
class _New:
    """Hold a record that is to be entered."""

    table: str
    row: Mapping[str, Any]
    key: str | None
    external_id: str | None
    content: bytes
    replaces: int | None


class _Recording:
    """Walk through one request, portion by portion."""

    def __init__(
        self, service: Service, session: Session, contest: Contest, by: Caller, *, replace: bool
    ) -> None:
        self._service = service
        self._session = session
        self._contest = contest
        self._by = by
        self._replace = replace
        schema = discipline(contest.discipline).schema
        self._tables = {table.name: (table, row_checker(table)) for table in schema}
        self._references = References(session, contest, schema)
        self._refusals = Refusals()
        self._at = not_before(session, contest, service.clock())
        self._seq, self._head = contest.seq, contest.head
        self._repeated = self._replaced = 0
        self._seqs: list[int] = []

    def take(self, rows: Iterable[Sequence[Any]]) -> Recorded:
        """Enter all rows, or refuse with everything that is wrong with them."""
        numbered = _numbered(rows)
        while portion := list(islice(numbered, _PORTION)):
            looked = self._looked_at(portion)
            fresh = self._fresh(looked)
            if not self._refusals:
                self._store(fresh)
            by_table: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
            for line, table, row, *_ in looked:
                by_table.setdefault(table, []).append((line, row))
            for table, given in by_table.items():
                self._references.look(table, given)
        # Rows of a refused request are not entered, so that all references to them would fail.
        if not self._refusals:
            self._references.refuse(self._refusals)
        self._refusals.expect_none()
        return self._done()

    def _looked_at(self, portion: Iterable[Given]) -> list[_Looked]:
        """Check rows one by one; return those without fault, with key and content."""
        looked = []
        tables, refusals = self._tables, self._refusals
        own = self._by.role == "judge"
        for table, row, external_id, line in portion:
            if isinstance(row, Problem):
                refusals.add(row)
                continue
            known = tables.get(table)
            if known is None or not isinstance(row, Mapping):
                refusals.add(_no_row(table, row, line, tables))
                continue
            if own:
                _expect_own_vote(table, row, self._by)
            if problems := known[1](row, line):
                for problem in problems:
                    refusals.add(problem)
                continue
            if table == "owners":
                row = without_addresses(row, line, self._service.network_key, refusals)  # noqa: PLW2901 - the row as it is kept
            key = record_key(known[0], row)
            looked.append((line, table, row, external_id, key, content_of(table, row)))
        return looked

    def _fresh(self, looked: Sequence[_Looked]) -> list[_New]:
        """Leave out repetitions, and note contradictions."""
        entries, no = self._session.entries, self._contest.no
        keys = [one[4] for one in looked if one[4] is not None]
        external_ids = [one[3] for one in looked if one[3] is not None]
        by_key = entries.known(no, records=keys) if keys else {}
        by_id = entries.known(no, external_ids=external_ids) if external_ids else {}
        fresh: list[_New] = []
        for line, table, row, external_id, key, content in looked:
            there = [
                found
                for found in (by_key.get(key or ""), by_id.get(external_id or ""))
                if found is not None
            ]
            if there and all(one.content == content for one in there):
                self._repeated += 1
                self._note(there[0].seq)
                continue
            replaces = None
            if there:
                if not self._replace or len({one.seq for one in there}) > 1:
                    self._refusals.conflict(_told(line, key, external_id, there, by_key))
                    continue
                replaces = there[0].seq
                self._replaced += 1
            fresh.append(_New(table, row, key, external_id, content, replaces))
            now = Known(self._seq + len(fresh), content)
            self._note(now.seq)
            if key is not None:
                by_key[key] = now
            if external_id is not None:
                by_id[external_id] = now
        return fresh

    def _note(self, seq: int) -> None:
        if len(self._seqs) < _SEQS_TOLD:
            self._seqs.append(seq)

    def _store(self, fresh: Sequence[_New]) -> None:
        stored = list(self._sealed(fresh))
        if stored:
            self._session.entries.append(self._contest.no, stored)

    def _sealed(self, fresh: Sequence[_New]) -> Iterator[NewEntry]:
        for (table, replacing), group in groupby(
            fresh, key=lambda one: (one.table, one.replaces is not None)
        ):
            run = list(group)
            kind = "record-replaced" if replacing else "record-added"
            named = any(one.external_id is not None for one in run)
            sealed = seal_records(
                [one.row for one in run],
                table=table,
                kind=kind,
                start_seq=self._seq + 1,
                previous_head=self._head,
                at=self._at,
                by=self._by.name,
                external_ids=[one.external_id for one in run] if named else None,
                replaces=[one.replaces or 0 for one in run] if replacing else None,
            )
            for one, (seq, line, sha256) in zip(run, sealed, strict=True):
                self._seq, self._head = seq, sha256
                yield NewEntry(
                    seq=seq,
                    kind=kind,
                    at=self._at,
                    line=line,
                    sha256=sha256,
                    table=table,
                    record=one.key,
                    external_id=one.external_id,
                    content=one.content,
                )

    def _done(self) -> Recorded:
        before, after = self._contest.seq, self._seq
        if after > before:
            grown = dataclasses.replace(self._contest, seq=after, head=self._head)
            moved(self._service, self._session, grown)
        return Recorded(
            added=after - before - self._replaced,
            repeated=self._repeated,
            replaced=self._replaced,
            first_seq=before + 1 if after > before else None,
            last_seq=after if after > before else None,
            seqs=tuple(self._seqs),
        )


def _numbered(rows: Iterable[Sequence[Any]]) -> Iterator[Given]:
    """Give each row the line it came with, or else its number."""
    for number, row in enumerate(rows, start=1):
        yield row if isinstance(row, Given) else Given(row[0], row[1], row[2], number)


def _no_row(table: Any, row: Any, line: int, tables: Mapping[str, Any]) -> Problem:
    name = str(table)[:80]
    if name not in tables:
        value, reason, remedy = name, "is no table here", did_you_mean(name, tables)
    else:
        value, reason, remedy = str(row)[:80], "is no object", "give columns by name"
    return Problem("unknown-table" if name not in tables else "wrong-type", name, "records", line,
                   None, value, reason, remedy)  # fmt: skip


def _expect_own_vote(table: str, row: Mapping[str, Any], by: Caller) -> None:
    if table != "votes" or str(row.get("judge_id")) != by.user:
        raise Forbidden(
            f"a judge gives votes under the own id only; send rows of votes with judge_id {by.user}"
        )


def _told(
    line: int,
    key: str | None,
    external_id: str | None,
    there: Sequence[Known],
    by_key: Mapping[str, Known],
) -> str:
    what = f"the record {key}" if key in by_key else f"the external id {external_id!r}"
    if len({one.seq for one in there}) > 1:
        seqs = " and ".join(str(one.seq) for one in there)
        return f"line {line}: its key and its external id belong to two entries, {seqs}; send one"
    return (
        f"line {line}: {what} is entry {there[0].seq} with other content; leave it out, or ask "
        "to replace it"
    )
