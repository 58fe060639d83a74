"""Create small, complete values for the tests of databases; arguments make them differ."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from agon.editions import edition
from agon.entities.contests import Contest, NewEntry, Snapshot
from agon.entities.jobs import NewJob
from agon.ledger.entry import Draft, Entry, encode_entry, genesis

NOON = datetime(2026, 11, 22, 12, 0, 0, 123456, tzinfo=UTC)


def later(seconds: float) -> datetime:
    """Return a time after noon."""
    return NOON + timedelta(seconds=seconds)


def contest(name: str = "spring", **changed: Any) -> Contest:
    """Return a contest that is not stored."""
    made = Contest(
        no=0, id=name, discipline="arena", title="Spring", description="", visibility="public",
        series=None, season=None, state="draft", edition="arena/sentience-1", overrides={},
        boards=("models",), created_at=NOON, seq=0, head=genesis(name),
    )  # fmt: skip
    return replace(made, **changed)


def new(seq: int, **changed: Any) -> NewEntry:
    """Return an entry that satisfies the rules of the table only."""
    made = NewEntry(
        seq=seq, kind="record-added", at=later(seq), line=b'{"seq":%d}' % seq,
        sha256=sha256(b"%d" % seq).digest(), table="votes", record=f"votes/m{seq}",
    )  # fmt: skip
    return made._replace(**changed)


def created(name: str, *, at: datetime = NOON) -> Draft:
    """Draft the first entry of a ledger."""
    body: dict[str, Any] = {
        "contest": name, "discipline": "arena", "title": "Spring", "edition": "arena/sentience-1",
        "overrides": {}, "series": None, "season": None, "visibility": "public",
        "description": "", "boards": ["models"],
    }  # fmt: skip
    return Draft(kind="contest-created", body=body, at=at, by="user:ada")


def opened(*, at: datetime = NOON) -> Draft:
    """Draft the opening."""
    return Draft(kind="contest-opened", body={}, at=at, by="user:ada")


def vote(number: int, *, at: datetime = NOON) -> Draft:
    """Draft a record."""
    body = {"table": "votes", "row": {"match": f"m{number}"}}
    return Draft(kind="record-added", body=body, at=at, by="user:ada", external_id=f"x{number}")


def chained(
    drafts: Iterable[Draft], *, previous: bytes, seq: int = 0
) -> tuple[list[NewEntry], bytes, int]:
    """Chain drafts to a ledger; return the entries, the head and the position after them."""
    entries = []
    for draft in drafts:
        entry = encode_entry(draft, seq=seq + 1, previous=previous)
        seq, previous = entry.seq, entry.sha256
        entries.append(_stored(entry, draft))
    return entries, previous, seq


def _stored(entry: Entry, draft: Draft) -> NewEntry:
    return NewEntry(
        seq=entry.seq, kind=entry.kind, at=entry.at, line=entry.line, sha256=entry.sha256,
        table=draft.body.get("table"), external_id=draft.external_id,
        record=f"votes/{draft.body['row']['match']}" if "row" in draft.body else None,
    )  # fmt: skip


RULES = {
    "edition": "arena/sentience-1",
    "overrides": {},
    "rules_sha256": edition("arena/sentience-1").rules_sha256,
}
"""The rules that a snapshot's manifest records."""


def snapshot(contest_no: int, *, rows: int, unscored: int = 0, **changed: Any) -> Snapshot:
    """Return a snapshot that is not stored."""
    made = Snapshot(
        no=0, contest_no=contest_no, board="models", seq=7, at=NOON, published_at=later(1),
        manifest={"seq": 7, "board": "models", **RULES}, signature="ab" * 64,
        board_sha256="cd" * 32, rows=rows, unscored=unscored, stored=True,
    )  # fmt: skip
    return replace(made, **changed)


def job(name: str, **changed: Any) -> NewJob:
    """Return a job that is not in the queue."""
    return replace(NewJob(id=name, kind="judge", payload={"submission": name}), **changed)
