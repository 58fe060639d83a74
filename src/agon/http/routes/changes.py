"""Answer for change sets: propose, look, apply, cancel, roll back."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.changes import change_sets
from agon.http.auth import caller_of, sees
from agon.http.models.contests import ReasonAsked
from agon.http.models.judging import ApplyAsked, ChangeAsked, ChangePage, ChangeTold
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.routes.common import WRITES, Serves, new_router, refusals

router = new_router("changes")

ChangeId = Annotated[str, Path(alias="id", pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Manages = Annotated[View, sees("change.manage")]
_SETS = "/contests/{contest}/change-sets"


@router.get(_SETS, operation_id="listChangeSets", summary="Change sets")
def list_changes(
    request: Request,
    response: Response,
    view: Annotated[View, sees("change.read")],
    service: Serves,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ChangePage:
    """List change sets, oldest first."""
    found = change_sets.changes(service, view, after=after(cursor, kind=str), limit=limit + 1)
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=ChangeTold.model_validate)
    return ChangePage(**linked(request, response, page))


@router.post(_SETS, operation_id="proposeChangeSet", summary="Propose a change set",
             status_code=202, responses=refusals(*WRITES))  # fmt: skip
def propose(
    request: Request, response: Response, asked: ChangeAsked, view: Manages, service: Serves
) -> ChangeTold:
    """Propose a change; a dry run then tells who moves, how far, and which weights change."""
    made = change_sets.propose(
        service,
        view.contest.id,
        kind=asked.kind,
        params=asked.params,
        reason=asked.reason,
        by=caller_of(request),
    )
    response.headers["location"] = f"/api/v1/contests/{view.contest.id}/change-sets/{made.id}"
    return ChangeTold.model_validate(made)


@router.get(_SETS + "/{id}", operation_id="getChangeSet", summary="A change set")
def get_change(
    name: ChangeId, view: Annotated[View, sees("change.read")], service: Serves
) -> ChangeTold:
    """Tell of a change set, with the report of its dry run once there is one."""
    found = change_sets.change(service, view, name)
    told = ChangeTold.model_validate(found)
    return told.model_copy(update={"failed": change_sets.why_untried(service, found)})


@router.post(_SETS + "/{id}/apply", operation_id="applyChangeSet", summary="Apply a change set",
             responses=refusals(*WRITES))  # fmt: skip
def apply(
    request: Request,
    name: ChangeId,
    view: Manages,
    service: Serves,
    asked: ApplyAsked | None = None,
) -> ChangeTold:
    """Apply a change set as it was tried; those it moves are told."""
    wanted = asked or ApplyAsked()
    done = change_sets.apply(
        service,
        view.contest.id,
        name,
        by=caller_of(request),
        reason=wanted.reason,
        even_if_moved=wanted.even_if_moved,
    )
    return ChangeTold.model_validate(done)


@router.post(_SETS + "/{id}/cancel", operation_id="cancelChangeSet", summary="Drop a change set",
             responses=refusals(*WRITES))  # fmt: skip
def cancel(request: Request, name: ChangeId, view: Manages, service: Serves) -> ChangeTold:
    """Drop a change set that was not applied."""
    done = change_sets.cancel(service, view.contest.id, name, by=caller_of(request))
    return ChangeTold.model_validate(done)


@router.post(_SETS + "/{id}/rollback", operation_id="rollBackChangeSet",
             summary="Roll a change set back", responses=refusals(*WRITES))  # fmt: skip
def roll_back(
    request: Request, name: ChangeId, asked: ReasonAsked, view: Manages, service: Serves
) -> ChangeTold:
    """Take the effect from a change set's entries; they stay in the ledger."""
    caller = caller_of(request)
    done = change_sets.roll_back(service, view.contest.id, name, reason=asked.reason, by=caller)
    return ChangeTold.model_validate(done)
