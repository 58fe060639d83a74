"""The page of a contest's log: what happened, the published boards, the signed head."""

from datetime import datetime
from itertools import islice
from typing import Final

import orjson

from agon.api.models.records import LogEntry
from agon.kernel.bidi import escape_controls
from agon.web import addresses
from agon.web.page import SitePage, Visit

SNAPSHOTS: Final = 100
ENTRIES: Final = 100


def ledger(visit: Visit) -> SitePage:
    """Return the newest decisions in words, the newest snapshots and the signed head."""
    contest = visit.contest()
    head = visit.api.ledgers.head(contest.id)
    every, chosen = _entries(visit), tuple(visit.texts("kind"))
    entries = _entries(visit, kinds=chosen) if chosen else every
    return SitePage(
        template="ledger.html",
        title=f"Ledger · {contest.title}",
        values={
            "contest": contest,
            "head": head,
            "head_at": datetime.fromisoformat(head.at),
            "snapshots": list(islice(visit.api.snapshots.list(contest.id), SNAPSHOTS)),
            "shown": SNAPSHOTS,
            "log": [
                (
                    entry,
                    escape_controls(
                        orjson.dumps(entry.content, option=orjson.OPT_INDENT_2).decode()
                    ),
                )
                for entry in entries
            ],
            "log_shown": ENTRIES,
            "kinds": sorted({*chosen, *(entry.kind for entry in every)}),
            "chosen": chosen,
            "as_of": visit.as_of,
        },
        data=addresses.api("contests", contest.id, "ledger", "head"),
    )


def _entries(visit: Visit, *, kinds: tuple[str, ...] = ()) -> list[LogEntry]:
    listed = visit.api.ledgers.log(visit.path["contest"], as_of=visit.as_of, kind=kinds)
    return list(islice(listed, ENTRIES))
