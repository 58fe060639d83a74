"""The epochs of a challenge on its desk: what is sent to the network, what the public sees."""

from typing import Final

import orjson

from agon.api.models.analysis import Epochs
from agon.api.models.boards import UnscoredPage
from agon.api.models.contests import Contest
from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.submissions.miners import missing_for_trials
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.disciplines import discipline
from agon.errors import NotFound, NotScorable
from agon.web import addresses
from agon.web.desk.layout import contest_page
from agon.web.page import SitePage, Visit

_SHOWN: Final = 20
"""Maximum number of epochs and of submissions without a score; other pages have the others."""


def epochs(visit: Visit) -> SitePage:
    """Return the newest epochs, the weights of the last one as the network takes them."""
    contest = visit.contest()
    paid = discipline(contest.discipline).epochs
    if paid is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no epochs")
    listed, reason = _epochs(visit.api, contest)
    newest = None if listed is None else visit.api.analysis.epoch(contest.id, listed.last)
    public, _ = _epochs(Api(LocalTransport(visit.service, ANONYMOUS)), contest)
    with visit.service.store.read() as session:
        stored = session.contests.get(contest.id)
        missing = list(missing_for_trials(visit.service, session, stored))
    values = {
        "missing": missing,
        "listed": listed,
        "reason": reason,
        "rows": [] if listed is None else listed.items[: -_SHOWN - 1 : -1],
        "newest": newest,
        "payload": "" if newest is None else orjson.dumps(newest.payload).decode(),
        "public": public,
        "unscored": None if listed is None else _first_rows(visit.api, contest, paid.submissions),
    }
    return contest_page(
        visit,
        contest,
        "epochs",
        values,
        data=None if listed is None else addresses.api("contests", contest.id, "epochs"),
    )


def _epochs(api: Api, contest: Contest) -> tuple[Epochs | None, str]:
    """Return the epochs as the caller sees them; None, and the reason, if there are none."""
    try:
        return api.analysis.epochs(contest.id), ""
    except (NotFound, NotScorable) as error:
        return None, str(error)


def _first_rows(api: Api, contest: Contest, board: str) -> UnscoredPage | None:
    """Return the first submissions without a score, with reasons; None: there is no such board."""
    if board not in contest.boards:
        return None
    page: UnscoredPage = api.boards.unscored(contest.id, board, limit=_SHOWN)
    return page
