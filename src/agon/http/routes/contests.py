"""Answer for contests: create them, lead them through their lives."""

from itertools import islice
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View, view_of
from agon.app.contests.ledgers.append import edition_at
from agon.app.contests.lifecycle import creation, transitions
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.http.auth import caller_of, needs, sees
from agon.http.models.contests import (
    ContestAsked,
    ContestPage,
    ContestTold,
    FinalAsked,
    ReasonAsked,
    SeasonAsked,
)
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.routes.common import WRITES, Serves, new_router, refusals
from agon.store.session import Session

router = new_router("contests")

_PORTION = 501
"""So many are looked at at once, whatever is asked for: many may be nobody's to see."""

Managed = Annotated[View, sees("contest.manage")]


@router.get("/contests", operation_id="listContests", summary="Contests")
def list_contests(
    request: Request,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("contest.read")],
    limit: Limit = 50,
    cursor: Cursor = None,
    discipline: Annotated[str | None, Query(max_length=40, pattern=r"^[a-z-]+$")] = None,
    series: Annotated[str | None, Query(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")] = None,
) -> ContestPage:
    """List the contests the caller may see, in id order."""
    found: list[ContestTold] = []
    place = after(cursor, kind=str)
    with service.store.read() as session:
        while len(found) <= limit:
            listed = session.contests.page(
                after=place, limit=_PORTION, discipline=discipline, series=series
            )
            seen = (view for one in listed if (view := _seen(one, caller)))
            found += [told(session, view) for view in islice(seen, limit + 1 - len(found))]
            if len(listed) < _PORTION:
                break
            place = listed[-1].id
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=lambda one: one)
    return ContestPage(**linked(request, response, page))


@router.post("/contests", operation_id="createContest", summary="Create a contest",
             status_code=201, responses=refusals(*WRITES))  # fmt: skip
def create_contest(
    asked: ContestAsked,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("contest.create")],
) -> ContestTold:
    """Create a contest; it is a draft until it is opened."""
    made = creation.create(service, creation.NewContest(**asked.model_dump()), by=caller)
    return _made(service, made, caller, response)


@router.get("/contests/{contest}", operation_id="getContest", summary="A contest")
def get_contest(view: Annotated[View, sees("contest.read")], service: Serves) -> ContestTold:
    """Tell of a contest, no further than the caller may see."""
    with service.store.read() as session:
        return told(session, view)


@router.post("/contests/{contest}/next-season", operation_id="createNextSeason",
             summary="Create the next season", status_code=201,
             responses=refusals(*WRITES))  # fmt: skip
def create_season(
    request: Request, asked: SeasonAsked, response: Response, view: Managed, service: Serves
) -> ContestTold:
    """Create a contest of the same discipline, rules and boards, without records."""
    caller = caller_of(request)
    made = creation.next_season(service, view.contest.id, id=asked.id, by=caller)
    return _made(service, made, caller, response)


@router.post("/contests/{contest}/open", operation_id="openContest",
             summary="Open a contest", responses=refusals(*WRITES))  # fmt: skip
def open_contest(request: Request, view: Managed, service: Serves) -> ContestTold:
    """Open a draft: from now on records and submissions are taken."""
    caller = caller_of(request)
    return _after(service, transitions.open_contest(service, view.contest.id, by=caller), caller)


@router.post("/contests/{contest}/freeze", operation_id="freezeContest",
             summary="Freeze what the public sees", responses=refusals(*WRITES))  # fmt: skip
def freeze(request: Request, view: Managed, service: Serves) -> ContestTold:
    """Freeze: records are taken as before, and the public sees none of what they do."""
    caller = caller_of(request)
    return _after(service, transitions.freeze(service, view.contest.id, by=caller), caller)


@router.post("/contests/{contest}/unfreeze", operation_id="unfreezeContest",
             summary="Let the public see again", responses=refusals(*WRITES))  # fmt: skip
def unfreeze(request: Request, asked: ReasonAsked, view: Managed, service: Serves) -> ContestTold:
    """Lift a freeze, with the reason."""
    caller = caller_of(request)
    done = transitions.unfreeze(service, view.contest.id, reason=asked.reason, by=caller)
    return _after(service, done, caller)


@router.post("/contests/{contest}/finalize", operation_id="finalizeContest",
             summary="Make the result final", responses=refusals(*WRITES))  # fmt: skip
def finalize(
    request: Request, view: Managed, service: Serves, asked: FinalAsked | None = None
) -> ContestTold:
    """Publish the final boards; from then on changes only come as change sets, beside them."""
    caller = caller_of(request)
    force = asked is not None and asked.force
    done = transitions.finalize(service, view.contest.id, by=caller, force=force)
    return _after(service, done, caller)


def told(session: Session, view: View) -> ContestTold:
    """Tell of a contest as far as a view reaches; an edition adopted later is not told either."""
    contest = view.contest
    edition, overrides = contest.edition, contest.overrides
    if view.until is not None and contest.seq > view.until:
        edition, overrides = edition_at(session, contest, view.until)
    return ContestTold(
        id=contest.id,
        discipline=contest.discipline,
        title=contest.title,
        description=contest.description,
        visibility=contest.visibility,
        state=contest.state,
        series=contest.series,
        season=contest.season,
        edition=edition,
        overrides=dict(overrides),
        boards=contest.boards,
        created_at=contest.created_at,
        seq=contest.seq if view.until is None else min(contest.seq, view.until),
        frozen_at=contest.frozen_at,
        finalized_at=contest.finalized_at,
    )


def _seen(contest: Contest, caller: Caller) -> View | None:
    try:
        return view_of(contest, caller)
    except NotFound:
        return None


def _after(service: Serves, contest: Contest, caller: Caller) -> ContestTold:
    with service.store.read() as session:
        return told(session, view_of(contest, caller))


def _made(service: Serves, contest: Contest, caller: Caller, response: Response) -> ContestTold:
    response.headers["location"] = f"/api/v1/contests/{contest.id}"
    return _after(service, contest, caller)
