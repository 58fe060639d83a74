"""The page of a contest's log: what happened, the published boards, the signed head."""

from datetime import datetime
from itertools import islice
from typing import Final

import orjson

from agon.web import addresses
from agon.web.page import SitePage, Visit

SNAPSHOTS: Final = 100
ENTRIES: Final = 100


def ledger(visit: Visit) -> SitePage:
    """Return the newest decisions in words, the newest snapshots and the signed head."""
    contest = visit.contest()
    head = visit.api.ledgers.head(contest.id)
    log = list(islice(visit.api.ledgers.log(contest.id, as_of=visit.as_of), ENTRIES))
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
                (entry, orjson.dumps(entry.content, option=orjson.OPT_INDENT_2).decode())
                for entry in log
            ],
            "as_of": visit.as_of,
            "is_listed": any(str(entry.seq) == visit.as_of for entry in log),
            "log_shown": ENTRIES,
        },
        data=addresses.api("contests", contest.id, "ledger", "head"),
    )
