"""The page of a contest's log: the published boards, the signed head, and how to verify them."""

from itertools import islice
from typing import Final

from agon.web import addresses
from agon.web.page import Page, Visit

SNAPSHOTS: Final = 100


def ledger(visit: Visit) -> Page:
    """Return the newest snapshots and the signed head."""
    contest = visit.contest()
    return Page(
        template="ledger.html",
        title=f"Ledger · {contest.title}",
        values={
            "contest": contest,
            "head": visit.api.ledgers.head(contest.id),
            "snapshots": list(islice(visit.api.snapshots.list(contest.id), SNAPSHOTS)),
            "shown": SNAPSHOTS,
        },
        data=addresses.api("contests", contest.id, "ledger", "head"),
    )
