"""Snapshots of boards, and participants across all boards."""

from typing import Annotated, Any

import orjson
from pydantic import Field

from agon.api.models.base import Page
from agon.api.models.boards import Participant, Snapshot
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest, page_of
from agon.api.parameters import FreeId, ParticipantId
from agon.api.transport import Noun
from agon.app.contests.boards.fields import proof_fields
from agon.app.contests.boards.participants import participant, participants
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.entities import contests as entities
from agon.errors import NotFound

_REBUILDING = {202: "Rows are being rebuilt; repeat the request when the job is done."}


@operation("GET", "/contests/{contest}/snapshots", id="listSnapshots",
           permission="contest.read", cost="quick", summary="List snapshots")  # fmt: skip
def list_snapshots(
    ctx: ContestContext, page: PageRequest, *, board: FreeId | None = None
) -> Page[Snapshot]:
    """Return the published snapshots that the caller may see, newest first."""
    with ctx.service.store.read() as session:
        stored = session.snapshots.page(
            ctx.contest.no,
            board=board,
            until=last_readable_seq(ctx.view),
            before=page.after(int),
            limit=page.sought,
        )
    return page.page(stored, key=lambda snapshot: snapshot.no, item=_snapshot)


@operation("GET", "/contests/{contest}/snapshots/{no}", id="getSnapshot",
           permission="contest.read", cost="quick", summary="Get a snapshot")  # fmt: skip
def get_snapshot(ctx: ContestContext, no: Annotated[int, Field(ge=1, lt=1 << 62)]) -> Snapshot:
    """Return a snapshot: its signed manifest, and whether its rows are stored."""
    limit = last_readable_seq(ctx.view)
    with ctx.service.store.read() as session:
        try:
            snapshot = session.snapshots.get(no)
        except NotFound:
            snapshot = None
    # A snapshot that is hidden and one that does not exist have the same error.
    if (
        snapshot is None
        or snapshot.contest_no != ctx.contest.no
        or (limit is not None and snapshot.seq > limit)
    ):
        raise NotFound(f"{ctx.contest.id} has no snapshot {no}; see the list of snapshots")
    return _snapshot(snapshot)


@operation("GET", "/contests/{contest}/participants", id="listParticipants",
           permission="contest.read",
           cost="quick", summary="List participants", also=_REBUILDING)  # fmt: skip
def list_participants(ctx: ContestContext, page: PageRequest) -> Page[dict[str, Any]]:
    """Return participants in the order of the default board, those without a score last.

    If the contest shows names, those who have one have it as ``name``.
    """
    listed = participants(ctx.service, ctx.view, cursor=page.cursor, limit=page.limit)
    rows = map(orjson.loads, listed.lines)
    named = ({"name": listed.names[row["id"]], **row} if row["id"] in listed.names else row
             for row in rows)  # fmt: skip
    return page_of(named, next=listed.next)


@operation("GET", "/contests/{contest}/participants/{id}", id="getParticipant",
           permission="contest.read",
           cost="reads", summary="Get a participant", also=_REBUILDING)  # fmt: skip
def get_participant(ctx: ContestContext, participant_id: ParticipantId) -> Participant:
    """Return a participant on every board."""
    return Participant.model_validate(participant(ctx.service, ctx.view, participant_id))


class Snapshots(Noun):
    """Snapshots of boards, and participants."""

    list = list_snapshots
    get = get_snapshot
    participants = list_participants
    participant = get_participant


def _snapshot(snapshot: entities.Snapshot) -> Snapshot:
    return Snapshot(
        **proof_fields(snapshot),
        manifest=dict(snapshot.manifest),
        signature=snapshot.signature,
        stored=snapshot.stored,
    )
