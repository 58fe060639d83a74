"""The page of a contest's log: what happened, the published boards, the signed head."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

import orjson

from agon.api.models.boards import Snapshot
from agon.api.models.records import LogEntry
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.kernel.text.bidi import escape_controls
from agon.web import addresses
from agon.web.page import SitePage, Visit

SNAPSHOTS: Final = 500
"""Maximum number of the newest snapshots that are read; the oldest publication may miss some."""

PUBLICATIONS: Final = 50
ENTRIES: Final = 100
_MAX_DIGITS: Final = 18


@dataclass(frozen=True)
class PublicationEntry:
    """The boards that were published of one position of the ledger.

    Attributes:
        seq: the position.
        at: when the first of them was published.
        snapshots: the newest of each board, by board.
    """

    seq: int
    at: datetime
    snapshots: tuple[Snapshot, ...]


def ledger(visit: Visit) -> SitePage:
    """Return the newest decisions in words, the newest snapshots and the signed head."""
    contest = visit.contest()
    head = visit.api.ledgers.head(contest.id)
    every, chosen = _entries(visit), tuple(visit.texts("kind"))
    entries = _entries(visit, kinds=chosen) if chosen else every
    linked = _linked_entry(visit)
    if linked is not None and linked not in entries:
        entries = [linked, *entries]
    snapshots = list(islice(visit.api.snapshots.list(contest.id), SNAPSHOTS))
    published = publications(snapshots)
    if len(snapshots) == SNAPSHOTS and len(published) > 1:
        published.pop()
    return SitePage(
        template="ledger.html",
        title=f"Ledger · {contest.title}",
        values={
            "contest": contest,
            "head": head,
            "head_at": datetime.fromisoformat(head.at),
            "publications": published[:PUBLICATIONS],
            "newest": _newest(published, contest.discipline),
            "more": len(published) > PUBLICATIONS or len(snapshots) == SNAPSHOTS,
            "log": [
                (
                    entry,
                    escape_controls(
                        orjson.dumps(entry.content, option=orjson.OPT_INDENT_2).decode()
                    ),
                )
                for entry in entries
            ],
            "as_of": visit.as_of,
            "hidden": _position(visit) if linked is None else None,
            "log_shown": ENTRIES,
            "kinds": sorted({*chosen, *(entry.kind for entry in every)}),
            "chosen": chosen,
        },
        data=addresses.api("contests", contest.id, "ledger", "head"),
    )


def _position(visit: Visit) -> int | None:
    """Return the position that the visitor asks for; None: a time, or nothing."""
    text = visit.as_of or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None


def _linked_entry(visit: Visit) -> LogEntry | None:
    """Return the entry that the visitor asks for, also a record; None: there is none to show."""
    seq = _position(visit)
    if not seq:
        return None
    try:
        found = islice(visit.api.ledgers.log(visit.path["contest"], seq=seq), 1)
        return next(found, None)
    except NotFound:
        return None


def publications(snapshots: Iterable[Snapshot]) -> list[PublicationEntry]:
    """Return the publications of snapshots, that of the last position first.

    A board that was published again at a position, as after its rows were rebuilt, counts once.

    Args:
        snapshots: the newest first.
    """
    by_seq: dict[int, dict[str, Snapshot]] = defaultdict(dict)
    first: dict[int, datetime] = {}
    for snapshot in snapshots:
        by_seq[snapshot.seq].setdefault(snapshot.board, snapshot)
        first[snapshot.seq] = snapshot.published_at
    return [
        PublicationEntry(
            seq, first[seq], tuple(by_seq[seq][board] for board in sorted(by_seq[seq]))
        )
        for seq in sorted(by_seq, reverse=True)
    ]


def _newest(published: Sequence[PublicationEntry], of: str) -> Snapshot | None:
    """Return the newest snapshot of a discipline's first board; None: it was not published."""
    board = discipline(of).boards[0]
    snapshots = (each for publication in published for each in publication.snapshots)
    return next((each for each in snapshots if each.board == board), None)


def _entries(visit: Visit, *, kinds: tuple[str, ...] = ()) -> list[LogEntry]:
    listed = visit.api.ledgers.log(visit.path["contest"], as_of=visit.as_of, kind=kinds)
    return list(islice(listed, ENTRIES))
