"""The page of the cases about the visitor: decisions, reasons, and the form to appeal."""

from collections.abc import Mapping
from itertools import islice
from typing import Final

from pydantic import ValidationError

from agon.api.models.cases import Case, NoteRequest
from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.errors import Conflict, Unreadable
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit, error_texts

_CONTESTS: Final = 100


def own_cases(visit: Visit) -> SitePage:
    """Return the decided cases about the visitor, the newest first."""
    return _page(visit, errors={})


def appeal(visit: Visit) -> SitePage | Redirect:
    """Appeal against the decision of a case about the visitor."""
    contest, case = visit.contest(), visit.path["id"]
    try:
        request = NoteRequest(text=visit.form.get("text", ""))
        visit.api.cases.appeal(contest.id, case, request)
    except (Conflict, Unreadable, ValidationError) as error:
        return _page(visit, errors={case: "; ".join(error_texts(error))})
    return Redirect(address=addresses.cases(contest.id))


def cases_of(visit: Visit, contest: Contest) -> list[Case]:
    """Return the decided cases of a contest about the visitor, the newest first."""
    if visit.caller.user is None or not permits(visit.caller, "case.appeal", contest=contest):
        return []
    return list(reversed(visit.api.cases.own(contest.id).items))


def contests_with_cases(visit: Visit) -> list[tuple[str, int]]:
    """Return the contests that have decided cases about the visitor, with their number."""
    if visit.caller.user is None:
        return []
    numbers = (
        (contest.id, len(cases_of(visit, contest)))
        for contest in islice(visit.api.contests.list(), _CONTESTS)
    )
    return [(contest, number) for contest, number in numbers if number]


def _page(visit: Visit, *, errors: Mapping[str, str]) -> SitePage:
    contest = visit.contest()
    is_known = visit.caller.user is not None
    return SitePage(
        template="cases.html",
        title=f"Cases about you · {contest.title}",
        values={
            "contest": contest,
            "cases": cases_of(visit, contest),
            "is_known": is_known,
            "wrong": errors,
            "text": visit.form.get("text", ""),
        },
        data=addresses.api("contests", contest.id, "own-cases") if is_known else None,
        status=422 if errors else 200,
    )
