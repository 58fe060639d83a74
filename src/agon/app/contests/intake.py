"""Walk through the records of one request: check, compare with what is there, seal, store.

This is the way a million records take, so its loops do little for each: what depends on the table
alone is worked out once, and a row is written as JSON once.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

import orjson

from agon.app.access.values import Caller
from agon.app.contests.appending import moved, not_before
from agon.app.contests.contradictions import Contradictions
from agon.app.contests.ports import Session
from agon.app.contests.private import without_addresses
from agon.app.contests.reading_ndjson import Given
from agon.app.contests.references import References
from agon.app.contests.refusals import Refusals
from agon.app.contests.service import Service
from agon.app.contests.values import Contest, Known, NewEntry
from agon.disciplines import discipline
from agon.errors import Forbidden, did_you_mean
from agon.ledger.entry import seal_records
from agon.ledger.keys import record_key
from agon.records import Kind, Problem, Table
from agon.records.single_rows import RowChecker, row_checker

PORTION: Final = 1_000
"""So many records are looked up and stored together; memory grows with this, not the request.

Measured: 1,000 is a third faster than 10,000, which leaves the garbage collector more to walk.
"""

SEQS_TOLD: Final = 1_000

Keyed = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, kw_only=True)
class Recorded:
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


class _Looked(NamedTuple):
    """Hold a row without fault; ``written`` is what is entered, ``replaces`` what it supersedes."""

    line: int
    table: str
    written: Any
    external_id: str | None
    key: str | None
    content: bytes
    replaces: int | None = None


@dataclass
class _Work:
    """Hold what the rows of one table need; ``asked`` gathers what a portion refers to."""

    table: Table
    check: RowChecker
    key: Keyed
    prefix: bytes
    asked: list[tuple[str, dict[Any, int], set[Any]]] = field(default_factory=list)


class Intake:
    """Take in one request's records in the session of a locked contest."""

    def __init__(
        self, service: Service, session: Session, contest: Contest, by: Caller, *, replace: bool
    ) -> None:
        self._service = service
        self._session = session
        self._contest = contest
        self._by = by
        self._replace = replace
        schema = discipline(contest.discipline).schema
        self._references = References(session, contest, schema)
        self._work = {table.name: self._worked_out(table) for table in schema}
        self._contradictions = Contradictions(session, contest, schema)
        self._touched: set[str] = set()
        self._refusals = Refusals()
        self._at = not_before(session, contest, service.clock())
        self._seq, self._head = contest.seq, contest.head
        self._repeated = self._replaced = 0
        self._seqs: list[int] = []

    def take(self, rows: Iterable[Sequence[Any]]) -> Recorded:
        """Enter all rows, or refuse with everything that is wrong with them.

        Raises:
            InvalidRecords, Conflict, Forbidden: see :func:`agon.app.contests.recording.record`.
        """
        numbered = _numbered(rows)
        while portion := list(islice(numbered, PORTION)):
            fresh = self._fresh(self._looked_at(portion))
            # What is refused in the end is looked at to its end, but not stored.
            if self._contradictions.tables:
                self._touched.update(one.table for one in fresh)
            if not self._refusals:
                self._session.entries.append(self._contest.no, self._sealed(fresh))
            for name, work in self._work.items():
                self._references.resolve(name, work.asked)
        if not self._refusals:
            self._references.refuse(self._refusals)
            self._contradictions.refuse(self._touched, self._refusals)
        self._refusals.expect_none()
        return self._done()

    def _worked_out(self, table: Table) -> _Work:
        return _Work(
            table=table,
            check=row_checker(table),
            key=_keyed(table),
            prefix=table.name.encode() + b"\n",
            asked=self._references.asked_by(table.name),
        )

    def _looked_at(self, portion: Iterable[Given]) -> list[_Looked]:  # noqa: C901 - one loop: a call for each of a million rows costs
        """Check rows one by one; return those without fault."""
        looked: list[_Looked] = []
        works, refusals = self._work, self._refusals
        dumps, sha256, fragment = orjson.dumps, hashlib.sha256, orjson.Fragment
        add, make = looked.append, _Looked
        own = self._by.role == "judge"
        for table, row, external_id, line in portion:
            work = works.get(table)
            if work is None or type(row) is not dict:
                refusals.add(row if isinstance(row, Problem) else _no_row(table, row, line, works))
                continue
            if own:
                _expect_own_vote(table, row, self._by)
            if problems := work.check(row, line):
                for problem in problems:
                    refusals.add(problem)
                continue
            kept: Mapping[str, Any] = row
            if table == "owners":
                kept = without_addresses(row, line, self._service.network_key, refusals)
            try:
                written = dumps(kept, option=orjson.OPT_SORT_KEYS)
            except TypeError as error:
                refusals.add(_unwritable(table, line, error))
                continue
            for column, asked, seen in work.asked:
                value = row.get(column)
                if value is not None and value not in seen and value != "":
                    asked.setdefault(value, line)
            content = sha256(work.prefix + written).digest()
            # A null may hide a number that JSON has no word for; sealing looks closer at those.
            out = kept if b"null" in written else fragment(written)
            key = work.key(row)
            if key is not None and "\x00" in key:
                refusals.add(_unnameable(table, line))
                continue
            add(make(line, table, out, external_id, key, content))
        return looked

    def _fresh(self, looked: list[_Looked]) -> list[_Looked]:
        """Leave out repetitions, and note contradictions."""
        entries, no = self._session.entries, self._contest.no
        keys = [one.key for one in looked if one.key is not None]
        names = [one.external_id for one in looked if one.external_id is not None]
        by_key = entries.known(no, records=keys) if keys else {}
        by_name = entries.known(no, external_ids=names) if names else {}
        if not by_key and not names and len(set(keys)) == len(keys):
            self._note(range(self._seq + 1, self._seq + 1 + len(looked)))
            return looked
        fresh: list[_Looked] = []
        for one in looked:
            there = _there(one, by_key, by_name)
            if there and all(known.content == one.content for known in there):
                self._repeated += 1
                self._note([there[0].seq])
                continue
            if there and (not self._replace or len({known.seq for known in there}) > 1):
                self._refusals.conflict(_told(one, there, by_key))
                continue
            self._replaced += bool(there)
            fresh.append(one._replace(replaces=there[0].seq) if there else one)
            known = Known(self._seq + len(fresh), one.content)
            self._note([known.seq])
            if one.key is not None:
                by_key[one.key] = known
            if one.external_id is not None:
                by_name[one.external_id] = known
        return fresh

    def _note(self, seqs: Iterable[int]) -> None:
        self._seqs += islice(seqs, max(0, SEQS_TOLD - len(self._seqs)))

    def _sealed(self, fresh: Iterable[_Looked]) -> Iterator[NewEntry]:
        make, at = NewEntry, self._at
        for (table, replacing), group in groupby(fresh, key=lambda one: (one[1], bool(one[6]))):
            run = list(group)
            kind = "record-replaced" if replacing else "record-added"
            named = any(one.external_id is not None for one in run)
            sealed = seal_records(
                [one.written for one in run],
                table=table,
                kind=kind,
                start_seq=self._seq + 1,
                previous_head=self._head,
                at=at,
                by=self._by.name,
                external_ids=[one.external_id for one in run] if named else None,
                replaces=[one.replaces or 0 for one in run] if replacing else None,
            )
            for one, (seq, line, sha256) in zip(run, sealed, strict=True):
                self._seq, self._head = seq, sha256
                # In the order of its fields: names cost as much as the rest of the loop.
                yield make(
                    seq, kind, at, line, sha256, table, one.key, one.external_id, one.content
                )

    def _done(self) -> Recorded:
        before, after = self._contest.seq, self._seq
        if after > before:
            moved(self._service, self._session, replace(self._contest, seq=after, head=self._head))
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
        yield row if type(row) is Given else Given(row[0], row[1], row[2], number)


def _keyed(table: Table) -> Keyed:
    """Return :func:`record_key` of one table, faster for plain texts."""
    plain = {Kind.ID, Kind.TEXT}
    if not table.key or any(table.column(name).kind not in plain for name in table.key):
        return lambda row: record_key(table, row)
    names, start = table.key, f"{table.name}/"
    first, second = names[0], names[-1]

    def by_one(row: Mapping[str, Any]) -> str | None:
        value = row.get(first)
        if type(value) is str and value and "/" not in value and "%" not in value:
            return start + value
        return record_key(table, row)

    def by_two(row: Mapping[str, Any]) -> str | None:
        one, two = row.get(first), row.get(second)
        if type(one) is str and type(two) is str and one and two:
            both = one + two
            if "/" not in both and "%" not in both:
                return f"{start}{one}/{two}"
        return record_key(table, row)

    by_more: Keyed = lambda row: record_key(table, row)  # noqa: E731 - beside its like
    return {1: by_one, 2: by_two}.get(len(names), by_more)


def _there(one: _Looked, by_key: Mapping[str, Known], by_name: Mapping[str, Known]) -> list[Known]:
    found = (by_key.get(one.key or ""), by_name.get(one.external_id or ""))
    return [known for known in found if known is not None]


def _no_row(table: Any, row: Any, line: int, known: Mapping[str, Any]) -> Problem:
    name = str(table)[:80]
    if table not in known:
        return Problem("unknown-table", name, "records", line, None, name, "is no table here",
                       did_you_mean(name, known))  # fmt: skip
    return Problem("wrong-type", name, name, line, None, str(row)[:80], "is no object",
                   "give columns by name")  # fmt: skip


def _unwritable(table: str, line: int, error: TypeError) -> Problem:
    return Problem("wrong-type", table, table, line, None, None, f"cannot be written ({error})",
                   "give text, numbers, true, false, null, lists and objects")  # fmt: skip


def _unnameable(table: str, line: int) -> Problem:
    return Problem("wrong-type", table, table, line, None, None, "has a NUL character in its key",
                   "leave it out")  # fmt: skip


def _expect_own_vote(table: str, row: Mapping[str, Any], by: Caller) -> None:
    if table != "votes" or str(row.get("judge_id")) != by.user:
        raise Forbidden(
            f"a judge gives votes under the own id only; send rows of votes with judge_id {by.user}"
        )


def _told(one: _Looked, there: Sequence[Known], by_key: Mapping[str, Known]) -> str:
    if len({known.seq for known in there}) > 1:
        seqs = " and ".join(str(known.seq) for known in there)
        return (
            f"line {one.line}: its key and its external id belong to two entries, {seqs}; "
            "send one of them"
        )
    known = one.key is not None and one.key in by_key
    what = f"the record {one.key}" if known else f"the external id {one.external_id!r}"
    return (
        f"line {one.line}: {what} is entry {there[0].seq} with other content; leave it out, or "
        "ask to replace it"
    )
