"""Jobs that publish and rebuild boards, run change sets dry and scan for integrity findings.

They store their results themselves, each board or report in one transaction, and repeating them
changes nothing. So their outcome is the job's result, and nothing else follows from it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.arena.report import round_findings
from agon.app.contests.boards import publish as boards
from agon.app.contests.cases import findings
from agon.app.contests.changes import dry_runs
from agon.app.queue.jobs import scan_job
from agon.app.queue.leases import Commit
from agon.app.queue.source import Assignment, Progress
from agon.app.worker.loop import Run
from agon.entities.contests import Contest, Snapshot
from agon.entities.jobs import Job
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

_PAUSE_PER_SCAN: Final = 19
"""The pause before a scan, as a multiple of the last one's duration: scans take 5 % of the time."""

_LAST_SCAN_WITHIN: Final = timedelta(days=1)
"""An earlier scan delays no other."""


def publish(service: "Service") -> Run:
    """Return the function that publishes a contest's boards at its newest position."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        publication = boards.publish(
            service, assignment.payload["contest"], progress=progress.report
        )
        return {
            "snapshots": [_summary(snapshot) for snapshot in publication.snapshots],
            "unscorable": publication.unscorable,
        }

    return run


def rebuild(service: "Service") -> Run:
    """Return the function that restores the deleted rows of a board."""

    def run(assignment: Assignment, _: Progress) -> dict[str, Any]:
        payload = assignment.payload
        snapshot = boards.rebuild(
            service, payload["contest"], seq=payload["seq"], board=payload["board"]
        )
        return {"snapshot": None if snapshot is None else _summary(snapshot)}

    return run


def dry_run(service: "Service") -> Run:
    """Return the function that computes what a proposed change set would move."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        payload = assignment.payload
        change = dry_runs.dry_run(
            service, payload["contest"], payload["change"], progress=progress.report
        )
        return {"change": change.id, "dry_run_at": change.dry_run_at}

    return run


def find(service: "Service") -> Run:
    """Return the function that scans a contest for integrity findings."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        payload = assignment.payload
        scan = findings.scan(
            service,
            payload["contest"],
            unless_known=payload.get("unless_known", False),
            progress=progress.report,
            further=round_findings,
        )
        return {"seq": scan.seq, "findings": len(scan.findings)}

    return run


def store_publish(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that stores the outcome and queues an integrity scan of new boards.

    The scan is due when the configured pause since the last one has passed, and scans take at most
    5 % of the time.
    """

    def commit(session: Session) -> Mapping[str, Any]:
        # An empty contest is not scanned, so that its first records do not wait for the pause.
        scannable = (
            snapshot["seq"]
            for snapshot in outcome["snapshots"]
            if snapshot["rows"] or snapshot["unscored"]
        )
        newest = max(scannable, default=0)
        if service.scan_pause is not None and newest:
            contest = session.contests.get(job.payload["contest"])
            if newest > session.cases.scan_position(contest.no):
                now = service.clock()
                due = _scan_due(session, contest, pause=service.scan_pause, now=now)
                session.queue.add(scan_job(contest, id=service.new_id(), not_before=due), now=now)
        return dict(outcome)

    return commit


def _scan_due(session: Session, contest: Contest, *, pause: timedelta, now: datetime) -> datetime:
    """Return when a contest may be scanned again."""
    since = now - max(pause, _LAST_SCAN_WITHIN)
    last = session.queue.last_done("find", contest_no=contest.no, since=since)
    if last is None or last.ended_at is None or last.started_at is None:
        return now
    duration = last.ended_at - last.started_at
    return max(now, last.ended_at + max(pause, duration * _PAUSE_PER_SCAN))


def store_outcome(_: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:  # noqa: ARG001 - all kinds have the same signature
    """Return the function that stores the outcome as the job's result."""

    def commit(_: Session) -> Mapping[str, Any]:
        return dict(outcome)

    return commit


def _summary(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "no": snapshot.no,
        "board": snapshot.board,
        "seq": snapshot.seq,
        "board_sha256": snapshot.board_sha256,
        "rows": snapshot.rows,
        "unscored": snapshot.unscored,
    }
