"""The page on which people judge: two answers without names, and a choice."""

from typing import Any

from agon.api.models.contests import Contest
from agon.api.models.rounds import Match
from agon.api.models.work import HandInRequest
from agon.app.access.permissions import permits
from agon.app.arena.live.entrants.eligibility import asked_of_people
from agon.disciplines import discipline
from agon.errors import AgonError, Conflict, Gone, NotFound
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit
from agon.web.pages.live.arena import arena, votes_by_side


def vote(visit: Visit) -> SitePage:
    """Return the oldest match that waits for the visitor's vote; what comes next if none does."""
    return _vote_page(visit)


def cast(visit: Visit) -> SitePage | Redirect:
    """Hand in a vote; the same vote sent again is the same vote."""
    (contest, _), api = arena(visit), visit.api
    choice, match = (visit.form.get(name, "") for name in ("vote", "match"))
    try:
        api.work.hand_in(contest.id, visit.form.get("work", ""), HandInRequest(vote=choice))
    except (Gone, Conflict, NotFound) as error:
        return _vote_page(visit, error=error, status=409)
    return Redirect(address=addresses.vote(contest.id, after=match))


def _vote_page(visit: Visit, *, error: AgonError | None = None, status: int = 200) -> SitePage:
    contest, _ = arena(visit)
    may_judge = visit.caller.user is not None and permits(
        visit.caller, "work.judge", contest=contest
    )
    items = visit.api.work.of_judge(contest.id).items if may_judge else ()
    reasons = visit.api.work.eligibility(contest.id).reasons if may_judge and not items else ()
    votes = [item for item in items if item.kind == "vote"]
    before = _judged_before(visit, contest.id)
    return SitePage(
        template="vote.html",
        title=f"Vote · {contest.title}",
        values={
            "contest": contest,
            "people": asked_of_people(contest.edition, contest.overrides),
            "may_judge": may_judge,
            "reasons": reasons,
            "due": None if votes else visit.api.rounds.next(contest.id),
            "own": _own_row(visit, contest) if may_judge and not votes else None,
            "item": votes[0] if votes else None,
            "waiting": len(votes),
            "error": None if error is None else str(error),
            "choice": visit.form.get("vote", "") if error else "",
            "before": before,
            "panel": None if before is None else votes_by_side(before.votes or ()),
        },
        data=addresses.api("contests", contest.id, "judge", "work") if may_judge else None,
        status=status,
    )


def _own_row(visit: Visit, contest: Contest) -> dict[str, Any] | None:
    """Return the visitor's row on the board of judges; None: there is none yet."""
    user = visit.caller.user
    ids = discipline(contest.discipline).traits.ids
    board = next((name for name, column in ids.items() if column == "judges.id"), None)
    if user is None or board is None:
        return None
    try:
        page = visit.api.boards.page(contest.id, board, around=user, limit=1)
    except NotFound:
        return None
    row: dict[str, Any] = page.rows[0]
    return row


def _judged_before(visit: Visit, contest: str) -> Match | None:
    """Return the match that the visitor voted on before; None: there is none."""
    match = visit.query.get("after") or visit.form.get("match")
    if not match:
        return None
    try:
        judged: Match = visit.api.rounds.match(contest, match)
    except NotFound:
        return None
    return judged
