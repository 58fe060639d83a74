"""Jobs of boards: publish, rebuild, run change sets dry, scan for findings, state robustness.

They store their results themselves, each board or report in one transaction, and repeating them
changes nothing. So their outcome is the job's result, and nothing else follows from it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.arena.published_robustness import decides_ranks, store_robustness
from agon.app.arena.report import round_findings
from agon.app.contests.boards import publish as boards
from agon.app.contests.cases import findings
from agon.app.contests.changes import dry_runs
from agon.app.queue.jobs import robustness_job, scan_job
from agon.app.queue.leases import Commit
from agon.app.queue.source import Assignment, JobProgress
from agon.app.worker.loop import Run
from agon.entities.contests import Contest, Snapshot
from agon.entities.jobs import Job, JobKind
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

_PAUSE_PER_RUN: Final = 19
"""The pause before a background job, as a multiple of the last one's duration: such jobs take 5 %
of the time."""

_LOOK_BACK: Final = timedelta(days=1)
"""Runs older than this do not delay the next one."""


def publish_runner(service: "Service") -> Run:
    """Return the function that publishes a contest's boards at its newest position."""

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        publication = boards.publish(
            service, assignment.payload["contest"], progress=progress.report
        )
        return {
            "snapshots": [_summary(snapshot) for snapshot in publication.snapshots],
            "unscorable": publication.unscorable,
        }

    return run


def rebuild_runner(service: "Service") -> Run:
    """Return the function that restores the deleted rows of a board."""

    def run(assignment: Assignment, _: JobProgress) -> dict[str, Any]:
        payload = assignment.payload
        snapshot = boards.rebuild(
            service, payload["contest"], seq=payload["seq"], board=payload["board"]
        )
        return {"snapshot": None if snapshot is None else _summary(snapshot)}

    return run


def dry_run_runner(service: "Service") -> Run:
    """Return the function that computes what a proposed change set would move."""

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        payload = assignment.payload
        change = dry_runs.dry_run(
            service, payload["contest"], payload["change"], progress=progress.report
        )
        return {"change": change.id, "dry_run_at": change.dry_run_at}

    return run


def findings_runner(service: "Service") -> Run:
    """Return the function that scans a contest for integrity findings."""

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
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


def robustness_runner(service: "Service") -> Run:
    """Return the function that computes how few matches would change the first ranks."""

    def run(assignment: Assignment, _: JobProgress) -> dict[str, Any]:
        return {"seq": store_robustness(service, assignment.payload["contest"])}

    return run


def store_publish(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that stores the outcome and queues what is computed of new boards.

    An integrity scan is due when the configured pause since the last one has passed. Scans take at
    most 5 % of the time, and so does the robustness of an arena's ranks.
    """

    def commit(session: Session) -> Mapping[str, Any]:
        # An empty contest is not scanned, so that its first records do not wait for the pause.
        scannable = (
            snapshot["seq"]
            for snapshot in outcome["snapshots"]
            if snapshot["rows"] or snapshot["unscored"]
        )
        newest = max(scannable, default=0)
        contest, now = session.contests.get(job.payload["contest"]), service.clock()
        if (
            service.scan_pause is not None
            and newest
            and newest > session.cases.scan_position(contest.no)
        ):
            due = _due(session, contest, "find", pause=service.scan_pause, now=now)
            session.queue.add(scan_job(contest, id=service.new_id(), not_before=due), now=now)
        if decides_ranks(contest, {snapshot["board"] for snapshot in outcome["snapshots"]}):
            due = _due(session, contest, "robustness", pause=timedelta(), now=now)
            session.queue.add(robustness_job(contest, id=service.new_id(), not_before=due), now=now)
        return dict(outcome)

    return commit


def _due(
    session: Session, contest: Contest, kind: JobKind, *, pause: timedelta, now: datetime
) -> datetime:
    """Return when a background job of a kind may run again for a contest."""
    since = now - max(pause, _LOOK_BACK)
    last = session.queue.last_done(kind, contest_no=contest.no, since=since)
    if last is None or last.ended_at is None or last.started_at is None:
        return now
    duration = last.ended_at - last.started_at
    ended_at = min(last.ended_at, now)  # The clock may have run ahead then.
    return max(now, ended_at + max(pause, duration * _PAUSE_PER_RUN))


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
