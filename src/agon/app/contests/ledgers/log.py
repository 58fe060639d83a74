"""A contest's ledger in words: what was decided about it, when and by whom; or a single entry."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import last_readable_seq, resolve_as_of
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.ledgers import LogEntry
from agon.errors import NotFound, Unreadable, did_you_mean
from agon.kernel.text.bidi import closed_text
from agon.ledger.keys import record_key
from agon.ledger.transitions import SHOWN_IN_FREEZE

_Kinds = Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], str]]]
"""By kind of an entry: the fields that are shown, and the function that returns the words."""

_NAMES_SHOWN: Final = 5


def _names(values: list[str]) -> str:
    more = len(values) - _NAMES_SHOWN
    text = ", ".join(values[:_NAMES_SHOWN]) or "no participant"
    return f"{text} and {more} more" if more > 0 else text


def _close(value: Any) -> Any:
    """Return a value in which each text closes the controls of direction that it opens."""
    if isinstance(value, list):
        return [_close(each) for each in value]
    return closed_text(value) if isinstance(value, str) else value


def _time(text: str | None, otherwise: str) -> str:
    return otherwise if text is None else f"{text[:16].replace('T', ' ')} UTC"


def _rules(body: Mapping[str, Any]) -> str:
    changed = ", ".join(f"{name} = {value}" for name, value in sorted(body["overrides"].items()))
    return f"{body['edition']} with {changed}" if changed else str(body["edition"])


_PUBLIC: Final[_Kinds] = {
    "contest-created": (("edition", "overrides"), lambda body: f"created under {_rules(body)}"),
    "contest-edited": (
        ("title", "visibility", "starts_at", "ends_at"),
        lambda body: (
            f"details set: {body['title']}, {body['visibility']}, from "
            f"{_time(body['starts_at'], 'the opening')} until "
            f"{_time(body['ends_at'], 'the final result')}"
        ),
    ),
    "contest-opened": ((), lambda _: "opened for records"),
    "contest-frozen": ((), lambda _: "boards frozen for the public"),
    "contest-unfrozen": (("reason",), lambda body: f"boards shown again: {body['reason']}"),
    "contest-finalised": ((), lambda _: "final boards published"),
    "contest-unfinalised": (
        ("reason",),
        lambda body: f"final result taken back: {body['reason']}",
    ),
    "contest-voided": (("reason",), lambda body: f"the contest is void: {body['reason']}"),
    "contest-restored": (
        ("reason",),
        lambda body: f"the contest counts again: {body['reason']}",
    ),
    "edition-adopted": (
        ("edition", "overrides", "change", "reason"),
        lambda body: f"rules set to {_rules(body)}: {body['reason']}",
    ),
    "problem-published": (("problem",), lambda body: f"problem {body['problem']} published"),
    "problem-revealed": (("problem",), lambda body: f"answer of {body['problem']} revealed"),
}
"""Kinds that the public reads: the fields of the body, and the function that returns the words."""

_STAFF: Final[_Kinds] = {
    "records-voided": (
        ("seqs", "subjects", "change", "reason"),
        lambda body: (
            f"{len(body['seqs']):,} records of {_names(body['subjects'])} voided: {body['reason']}"
        ),
    ),
    "adjustment-made": (
        ("board", "id", "points", "change", "reason"),
        lambda body: (
            f"{body['points']:+g} points for {body['id']} on {body['board']}: {body['reason']}"
        ),
    ),
    "decision-made": (
        ("case", "decision", "subjects", "reason"),
        lambda body: (
            f"decision about {_names(body['subjects'])}: {body['decision']}: {body['reason']}"
        ),
    ),
    "change-rolled-back": (
        ("change", "reason"),
        lambda body: f"change set {body['change']} rolled back: {body['reason']}",
    ),
}
"""Kinds that organizers and operators read as well, as their events."""

_RECORDS: Final[Mapping[str, str]] = {"record-added": "added", "record-replaced": "replaced"}
"""Kinds that hold records, with what happened to the record."""


def log(
    service: Service,
    view: View,
    *,
    as_of: str | None = None,
    before: int | None = None,
    limit: int = 100,
    only: Collection[str] = (),
) -> list[LogEntry]:
    """Return the entries that are decisions about a contest, the newest first.

    Of a contest that became public later, the public sees no details from before. That it is void,
    or counts again, is read during a freeze as well, at the position of the freeze.

    Args:
        service: the service.
        view: what the caller may see.
        as_of: the position or time up to which entries are returned; None: the newest.
        before: the position to end before: :func:`continues_before` of the last entry, to
            continue; None: the newest.
        limit: maximum number of entries.
        only: the kinds of entries to return; empty: all that the caller may see.

    Raises:
        Unreadable: ``as_of`` is neither a position nor a time, or the log has no such kind.
    """
    kinds = _kinds(view)
    for name in only:
        if name not in kinds:
            raise Unreadable(f"the log has no kind {name[:80]!r}: {did_you_mean(name[:80], kinds)}")
    kinds = {name: kinds[name] for name in only or kinds}
    entries: list[LogEntry] = []
    with service.store.read() as session:
        last = last_readable_seq(view) if as_of is None else resolve_as_of(session, view, as_of)
        if before is not None:
            last = before - 1 if last is None else min(last, before - 1)
        no, newest_of_kind = view.contest.no, session.entries.newest_of_kind
        stored = newest_of_kind(no, kinds, until=last, batch=limit)
        if as_of is None and before is None and view.until is not None:
            # They share a position, so the next page has none of them: this one has the last few.
            always = SHOWN_IN_FREEZE & kinds.keys()
            later = newest_of_kind(no, always, after=view.until, batch=limit)
            last_few = islice(later, max(1, limit - 2))
            stored = chain((replace(each, seq=view.until) for each in last_few), stored)
        for each in stored:
            entry = orjson.loads(each.line)
            if view.is_earlier_secret(entry["kind"], entry["body"]):
                continue
            entries.append(_decision(each.seq, entry, kinds))
            if len(entries) == limit:
                break
    return entries


def continues_before(view: View, entry: LogEntry) -> int:
    """Return the position before which the next page of a log begins, after an entry.

    An entry that is read during a freeze stands at the position of the freeze, which follows it.
    """
    return entry.seq + (entry.seq == view.until and entry.kind in SHOWN_IN_FREEZE)


def entry_at(service: Service, view: View, seq: int, *, records: bool = False) -> LogEntry | None:
    """Return the entry at a position of the ledger; None: the caller may not see what it holds.

    Of records the table and the row are returned, of all other entries that are no decisions the
    kind alone.

    Args:
        service: the service.
        view: what the caller may see.
        seq: the position.
        records: whether the caller may read entries that are no decisions.

    Raises:
        NotFound: the ledger has no such position, as far as the caller may see.
    """
    until = last_readable_seq(view)
    with service.store.read() as session:
        last = view.contest.seq if until is None else min(view.contest.seq, until)
        if not 1 <= seq <= last:
            raise NotFound(f"the ledger has no entry {seq}; give one from 1 to {last}")
        [stored] = session.entries.after(view.contest.no, seq - 1, until=seq)
    entry, kinds = orjson.loads(stored.line), _kinds(view)
    if view.is_earlier_secret(entry["kind"], entry["body"]):
        return None
    if entry["kind"] in kinds:
        return _decision(seq, entry, kinds)
    if not records:
        return None
    return _other(view, seq, entry)


def _kinds(view: View) -> _Kinds:
    """Return the kinds of entries that are decisions which the caller may read."""
    return {**_PUBLIC, **_STAFF} if view.staff else _PUBLIC


def _decision(seq: int, entry: Mapping[str, Any], kinds: _Kinds) -> LogEntry:
    """Return a decision in words, with the fields that its readers see."""
    fields, words = kinds[entry["kind"]]
    body = {name: entry["body"][name] for name in fields}
    text = words({name: _close(value) for name, value in body.items()})
    return _log_entry(seq, entry, text=text, content=body)


def _other(view: View, seq: int, entry: Mapping[str, Any]) -> LogEntry:
    """Return an entry that is no decision: a record with its row, others by their kind."""
    body, kind = entry["body"], str(entry["kind"])
    if kind not in _RECORDS:
        return _log_entry(seq, entry, text=kind.replace("-", " "), content={})
    tables = {table.name: table for table in discipline(view.contest.discipline).schema}
    key = record_key(tables[body["table"]], body["row"]) or f"one of {body['table']} without a key"
    content = {"table": body["table"], "row": body["row"]}
    return _log_entry(
        seq, entry, text=f"record {closed_text(key)} {_RECORDS[kind]}", content=content
    )


def _log_entry(
    seq: int, entry: Mapping[str, Any], *, text: str, content: Mapping[str, Any]
) -> LogEntry:
    return LogEntry(
        seq=seq,
        at=datetime.fromisoformat(entry["at"]),
        by=entry["by"],
        kind=entry["kind"],
        text=text,
        content=content,
    )
