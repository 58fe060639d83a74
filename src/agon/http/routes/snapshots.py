"""Answer for published states: snapshots, and people across all boards."""

from typing import Annotated, Any

import orjson
from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.boards.pages import proof_fields
from agon.app.contests.boards.participants import participant, participants
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.contests.ledgers.positions import reach
from agon.entities.contests import Snapshot
from agon.errors import NotFound
from agon.http.auth import sees
from agon.http.models.boards import (
    ParticipantPage,
    ParticipantTold,
    SnapshotPage,
    SnapshotTold,
)
from agon.http.models.jobs import JobTold
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.rebuilding import rebuild_answer
from agon.http.routes.common import Participant, Serves, new_router

router = new_router("snapshots")

Reads = Annotated[View, sees("contest.read")]
_REBUILDING: dict[int | str, dict[str, Any]] = {
    202: {"model": JobTold, "description": "Rows are being rebuilt; ask again after the job."}
}


@router.get("/contests/{contest}/snapshots", operation_id="listSnapshots", summary="Snapshots")
def list_snapshots(
    request: Request,
    response: Response,
    view: Reads,
    service: Serves,
    board: Annotated[str | None, Query(min_length=1, max_length=200, pattern=r"^[^\x00]+$")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SnapshotPage:
    """List what was published, newest first, as far as the caller may see."""
    with service.store.read() as session:
        found = session.snapshots.page(
            view.contest.no,
            board=board,
            until=reach(view),
            before=after(cursor, kind=int),
            limit=limit + 1,
        )
    page = page_of(found, limit=limit, key=lambda one: one.no, shown=_told)
    return SnapshotPage(**linked(request, response, page))


@router.get("/contests/{contest}/snapshots/{no}", operation_id="getSnapshot",
            summary="A snapshot")  # fmt: skip
def get_snapshot(
    no: Annotated[int, Path(ge=1, lt=1 << 62)], view: Reads, service: Serves
) -> SnapshotTold:
    """Tell of a snapshot: its signed manifest, and whether its rows are at hand."""
    limit = reach(view)
    with service.store.read() as session:
        try:
            found = session.snapshots.get(no)
        except NotFound:
            found = None
    # What is hidden and what is not there are refused in the same words.
    if (
        found is None
        or found.contest_no != view.contest.no
        or (limit is not None and found.seq > limit)
    ):
        raise NotFound(f"{view.contest.id} has no snapshot {no}; see the list of snapshots")
    return _told(found)


@router.get("/contests/{contest}/participants", operation_id="listParticipants",
            summary="Participants", response_model=ParticipantPage,
            responses=_REBUILDING)  # fmt: skip
def list_participants(
    request: Request,
    response: Response,
    view: Reads,
    service: Serves,
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response | ParticipantPage:
    """List who takes part, in the order of the default board, the unscored last."""
    try:
        found = participants(service, view, cursor=cursor, limit=limit)
    except NotStored as missing:
        return rebuild_answer(request, view, missing)
    page = {"items": [orjson.loads(line) for line in found.lines], "next": found.next}
    return ParticipantPage(**linked(request, response, page))


@router.get("/contests/{contest}/participants/{id}", operation_id="getParticipant",
            summary="A participant", response_model=ParticipantTold,
            responses=_REBUILDING)  # fmt: skip
def get_participant(
    request: Request, name: Participant, view: Reads, service: Serves
) -> Response | ParticipantTold:
    """Show somebody on every board."""
    try:
        return ParticipantTold(**participant(service, view, name))
    except NotStored as missing:
        return rebuild_answer(request, view, missing)


def _told(snapshot: Snapshot) -> SnapshotTold:
    return SnapshotTold(
        **proof_fields(snapshot),
        manifest=dict(snapshot.manifest),
        signature=snapshot.signature,
        stored=snapshot.stored,
    )
