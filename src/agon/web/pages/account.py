"""Sign in and out, and the visitor's account."""

from itertools import islice
from typing import Any, Final

from agon.api.models.bots import Bot
from agon.api.models.contests import Contest
from agon.app.access import sessions
from agon.disciplines import discipline
from agon.errors import AgonError, Forbidden, NotFound, TooMany, Unauthenticated
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit
from agon.web.pages.cases import contests_with_cases

_CONTESTS: Final = 100
_BOTS: Final = 500


def sign_in_form(visit: Visit) -> SitePage:
    """Show the form that takes a token, or a user and a password."""
    return _sign_in_page(visit, error=None, status=200)


def sign_in(visit: Visit) -> SitePage | Redirect:
    """Begin a session with a token, or with a user and a password; the former one ends."""
    token, user = (visit.form.get(name, "").strip() for name in ("token", "user"))
    network, former = visit.caller.network, visit.sent_session
    try:
        if token:
            session = sessions.sign_in_with_token(
                visit.service, token, network=network, former=former
            )
        else:
            session = sessions.sign_in_with_password(
                visit.service,
                user=user,
                password=visit.form.get("password", ""),
                network=network,
                former=former,
            )
    except (Unauthenticated, Forbidden) as error:
        return _sign_in_page(visit, error=error, status=401)
    except TooMany as error:
        return _sign_in_page(visit, error=error, status=429)
    return Redirect(address=addresses.local(visit.form.get("next", "")), session=session)


def sign_out(visit: Visit) -> Redirect:
    """End the session."""
    if visit.session is not None:
        sessions.sign_out(visit.service, visit.session, by=visit.caller)
    return Redirect(address=addresses.home(), session="")


def account(visit: Visit) -> SitePage:
    """Return who the visitor is, where the visitor stands, and what the visitor may do."""
    return SitePage(
        template="account.html",
        title="Account",
        values={
            "me": visit.api.access.me(),
            "scores": _own_scores(visit),
            "bots": _own_bots(visit),
            "cases": contests_with_cases(visit),
        },
        data=addresses.api("me"),
    )


def _own_scores(visit: Visit) -> list[tuple[Contest, str, dict[str, Any], int]]:
    """Return the visitor's rows, each with its contest, its board and how many rows that has."""
    if visit.caller.user is None:
        return []
    scores = []
    for contest in islice(visit.api.contests.list(), _CONTESTS):
        for board in contest.boards:
            try:
                page = visit.api.boards.page(contest.id, board, around=visit.caller.user, limit=1)
            except NotFound:  # the board is not published, or has no such row
                continue
            scores.append((contest, board, page.rows[0], page.rows_total))
    return scores


def _own_bots(visit: Visit) -> list[tuple[str, Bot]]:
    """Return the visitor's bots, each with its contest."""
    if visit.caller.user is None:
        return []
    return [
        (contest.id, bot)
        for contest in islice(visit.api.contests.list(), _CONTESTS)
        if discipline(contest.discipline).rounds
        for bot in islice(visit.api.bots.list(contest.id), _BOTS)
        if bot.owner == visit.caller.user
    ]


def _sign_in_page(visit: Visit, *, error: AgonError | None, status: int) -> SitePage:
    following = visit.form.get("next") or visit.query.get("next", "")
    values = {
        "error": None if error is None else str(error),
        "user": visit.form.get("user", ""),
        "next": addresses.local(following),
    }
    return SitePage(template="sign_in.html", title="Sign in", values=values, status=status)
