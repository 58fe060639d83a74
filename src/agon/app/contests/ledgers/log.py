"""A contest's ledger in words: what was decided about it, when and by whom, without its records."""

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import last_readable_seq, position
from agon.app.service import Service
from agon.entities.ledgers import LogEntry
from agon.errors import Unreadable, did_you_mean
from agon.kernel.bidi import closed_text
from agon.ledger.transitions import SHOWN_IN_FREEZE

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


_PUBLIC: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], str]]]] = {
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

_STAFF: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], str]]]] = {
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
        before: the position to end before: that of the last entry, to continue; None: the newest.
        limit: maximum number of entries.
        only: the kinds of entries to return; empty: all that the caller may see.

    Raises:
        Unreadable: ``as_of`` is neither a position nor a time, or the log has no such kind.
    """
    kinds = {**_PUBLIC, **_STAFF} if view.staff else _PUBLIC
    for name in only:
        if name not in kinds:
            raise Unreadable(f"the log has no kind {name[:80]!r}: {did_you_mean(name[:80], kinds)}")
    kinds = {name: kinds[name] for name in only or kinds}
    entries = []
    with service.store.read() as session:
        last = last_readable_seq(view) if as_of is None else position(session, view, as_of)
        if before is not None:
            last = before - 1 if last is None else min(last, before - 1)
        stored = list(session.entries.of_kind(view.contest.no, kinds, until=last))
        if as_of is None and before is None and view.until is not None:
            # The next page begins before the position of the last entry, so none of these is last.
            always = SHOWN_IN_FREEZE & kinds.keys()
            later = session.entries.of_kind(view.contest.no, always, after=view.until)
            last_few = deque(later, maxlen=max(0, limit - 2))
            stored += [replace(each, seq=view.until) for each in last_few]
    for each in reversed(stored):
        entry = orjson.loads(each.line)
        if view.is_earlier_secret(entry["kind"], entry["body"]):
            continue
        fields, words = kinds[entry["kind"]]
        body = {name: entry["body"][name] for name in fields}
        entries.append(
            LogEntry(
                seq=each.seq,
                at=datetime.fromisoformat(entry["at"]),
                by=entry["by"],
                kind=entry["kind"],
                text=words({name: _close(value) for name, value in body.items()}),
                content=body,
            )
        )
        if len(entries) == limit:
            break
    return entries
