"""Publish and rebuild boards, try changes, look for findings: work on what the ledger holds.

These store what they find by themselves, each board or report in a transaction of its own, and
doing it twice changes nothing; so their outcome is the job's result and nothing more follows.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.contests.boards import publication
from agon.app.contests.cases import findings
from agon.app.contests.changes import dry_runs
from agon.app.queue.jobs import look_job
from agon.app.queue.leases import Finish
from agon.app.queue.progress import Progress
from agon.app.queue.source import Assignment
from agon.app.worker.loop import Run
from agon.entities.contests import Contest, Snapshot
from agon.entities.jobs import Job
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

_RESTS: Final = 19
"""So many times as long as a look took, the next one waits at least."""

_REMEMBERED: Final = timedelta(days=1)
"""A look longer ago delays no other."""


def publish(service: "Service") -> Run:
    """Return what publishes a contest's boards at its newest position."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        done = publication.publication(
            service, assignment.payload["contest"], progress=progress.tell
        )
        return {
            "snapshots": [_told(one) for one in done.snapshots],
            "unscorable": done.unscorable,
        }

    return run


def rebuild(service: "Service") -> Run:
    """Return what brings back the rows of a board that are kept no longer."""

    def run(assignment: Assignment, _: Progress) -> dict[str, Any]:
        payload = assignment.payload
        snapshot = publication.rebuild(
            service, payload["contest"], seq=payload["seq"], board=payload["board"]
        )
        return {"snapshot": None if snapshot is None else _told(snapshot)}

    return run


def dry_run(service: "Service") -> Run:
    """Return what finds out what a proposed change set would move."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        payload = assignment.payload
        change = dry_runs.dry_run(
            service, payload["contest"], payload["change"], progress=progress.tell
        )
        return {"change": change.id, "dry_run_at": change.dry_run_at}

    return run


def find(service: "Service") -> Run:
    """Return what runs a contest's integrity checks."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        payload = assignment.payload
        found = findings.look(
            service,
            payload["contest"],
            unless_known=payload.get("unless_known", False),
            progress=progress.tell,
        )
        return {"seq": found.seq, "findings": len(found.findings)}

    return run


def settle_publish(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Finish:
    """Take the outcome for the job's result, and see to it that new boards are looked through.

    The look comes once the pause the house allows itself has gone by since the last one, and never
    so that looking takes more than a twentieth of the time.
    """

    def finish(session: Session) -> Mapping[str, Any]:
        told = [session.snapshots.get(one["no"]) for one in outcome["snapshots"]]
        # An empty contest is nothing to look at, and what comes soon must not wait for the pause.
        newest = max((one.seq for one in told if one.rows or one.unscored), default=0)
        contest = session.contests.get(job.payload["contest"])
        if service.look_pause is not None and newest > session.cases.scan_position(contest.no):
            now = service.clock()
            due = _look_due(session, contest, pause=service.look_pause, now=now)
            session.queue.add(look_job(contest, id=service.new_id(), not_before=due), now=now)
        return dict(outcome)

    return finish


def _look_due(session: Session, contest: Contest, *, pause: timedelta, now: datetime) -> datetime:
    """Say when a contest may be looked through again."""
    since = now - max(pause, _REMEMBERED)
    last = session.queue.last_done("find", contest_no=contest.no, since=since)
    if last is None or last.ended_at is None or last.started_at is None:
        return now
    return max(now, last.ended_at + max(pause, (last.ended_at - last.started_at) * _RESTS))


def settle_as_told(_: "Service", job: Job, outcome: Mapping[str, Any]) -> Finish:  # noqa: ARG001 - every kind is settled by the same call
    """Take the outcome for the job's result."""

    def finish(_: Session) -> Mapping[str, Any]:
        return dict(outcome)

    return finish


def _told(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "no": snapshot.no,
        "board": snapshot.board,
        "seq": snapshot.seq,
        "board_sha256": snapshot.board_sha256,
    }
