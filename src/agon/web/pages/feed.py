"""The Atom feed of a contest: its newest published boards."""

from datetime import datetime
from itertools import islice
from typing import Final

from agon.app.charts.markup import element, words
from agon.web import addresses
from agon.web.page import Document, Visit
from agon.web.rendering import clock_text, number_text, phase_of

_ENTRIES: Final = 50


def feed(visit: Visit) -> Document:
    """Return the newest snapshots, the newest first (RFC 4287)."""
    contest = visit.contest()
    snapshots = list(islice(visit.api.snapshots.list(contest.id), _ENTRIES))
    own = visit.origin + addresses.feed(contest.id)
    home = visit.origin + addresses.contest(contest.id)
    newest = max((snapshot.published_at for snapshot in snapshots), default=contest.created_at)
    entries = []
    for snapshot in snapshots:
        address = visit.origin + addresses.board(contest.id, snapshot.board, as_of=snapshot.seq)
        unscored = number_text(snapshot.unscored_total)
        text = f"{number_text(snapshot.rows_total)} scored, {unscored} without a score"
        entries.append(
            element(
                "entry",
                [
                    element("id", [words(f"{address}#snapshot-{snapshot.snapshot}")]),
                    element("title", [words(f"{snapshot.board}: {text}")]),
                    element("updated", [_time(snapshot.published_at)]),
                    element("link", href=address),
                    element(
                        "summary",
                        [words(f"Board {snapshot.board_sha256}, position {snapshot.seq}")],
                    ),
                ],
            )
        )
    content = element(
        "feed",
        [
            element("id", [words(own)]),
            element("title", [words(contest.title)]),
            element("subtitle", [words(clock_text(contest))]),
            element("category", term=phase_of(contest)),
            element("updated", [_time(newest)]),
            element("author", [element("name", ["agon"])]),
            element("link", rel="self", href=own),
            element("link", href=home),
            *entries,
        ],
        xmlns="http://www.w3.org/2005/Atom",
    )
    return Document(
        content=f'<?xml version="1.0" encoding="utf-8"?>\n{content}\n'.encode(),
        media_type="application/atom+xml; charset=utf-8",
        contest=contest,
    )


def _time(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")
