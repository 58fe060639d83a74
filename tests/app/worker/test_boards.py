"""Test the automatic integrity scan after publishing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.arena.published_robustness import board_robustness, published_robustness
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.findings import CHANGED, findings
from agon.app.contests.ledgers import events
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.queue.jobs import service_job
from agon.app.queue.source import Assignment, JobProgress
from agon.app.service import Service
from agon.app.worker.handlers import service_runners
from agon.app.worker.loop import Run
from agon.entities.jobs import Job, JobState
from app.worker.contests import work
from fakes.service import ORGANISER, Clock, service_at
from fakes.spring import play, spring, view

PAUSE = timedelta(minutes=10)


@pytest.fixture
def clock() -> Clock:
    """Return a clock that tests control."""
    return Clock()


@pytest.fixture
def scanning(tmp_path: Path, clock: Clock) -> Iterator[Service]:
    """Open a service that scans for findings automatically."""
    opened = replace(service_at(tmp_path, clock=clock), scan_pause=PAUSE)
    yield opened
    opened.store.close()


def scans(service: Service, *states: JobState) -> list[Job]:
    """Return the jobs that scan for findings, newest first."""
    with service.store.read() as session:
        return session.queue.page(kinds=["find"], states=states)


def worked(service: Service) -> None:
    """Do all jobs that are due."""
    work(service, service_runners(service))


def test_new_boards_are_scanned_automatically(scanning: Service) -> None:
    """Organizers learn of gaming without a request."""
    spring(scanning)
    worked(scanning)
    report = findings(scanning, view(scanning, ORGANISER))
    (job,) = scans(scanning)
    assert report.findings
    assert (job.state, job.result) == (
        "done",
        {"seq": report.seq, "findings": len(report.findings)},
    )


def test_the_next_scan_waits_for_the_pause(scanning: Service, clock: Clock) -> None:
    """A steady stream of records must not make a worker scan all the time."""
    spring(scanning)
    worked(scanning)
    seen = findings(scanning, view(scanning, ORGANISER)).seq
    for number in (9, 10, 11):
        play(scanning, number, number)
        worked(scanning)
    assert findings(scanning, view(scanning, ORGANISER)).seq == seen
    (waiting,) = scans(scanning, "queued")
    (ended,) = scans(scanning, "done")
    assert ended.ended_at is not None
    assert waiting.not_before - ended.ended_at == PAUSE
    clock.at += PAUSE
    worked(scanning)
    newest = findings(scanning, view(scanning, ORGANISER)).seq
    assert newest == view(scanning, ORGANISER).contest.seq > seen


@pytest.mark.exhaustive
def test_scans_take_no_more_than_a_twentieth_of_the_time(scanning: Service, clock: Clock) -> None:
    """A scan of a large contest takes minutes, and boards wait if there is only one worker."""
    scanning = replace(scanning, scan_pause=timedelta(seconds=1))
    spring(scanning)
    run = service_runners(scanning)

    def slow(assignment: Assignment, progress: JobProgress, quick: Run = run["find"]) -> Any:
        clock.at += timedelta(minutes=3)
        return quick(assignment, progress)

    work(scanning, {**run, "find": slow})
    play(scanning, 9, 9)
    worked(scanning)
    (ended,) = scans(scanning, "done")
    (waiting,) = scans(scanning, "queued")
    assert ended.started_at is not None
    assert ended.ended_at is not None
    assert waiting.not_before - ended.ended_at == 19 * (ended.ended_at - ended.started_at)


@pytest.mark.exhaustive
def test_boards_come_before_the_scan(scanning: Service) -> None:
    """Clients wait for a board, but not for a scan."""
    spring(scanning)
    kinds: list[str] = []

    def recording(run: Run) -> Run:
        def recorded(assignment: Assignment, progress: JobProgress) -> Mapping[str, Any]:
            kinds.append(assignment.kind)
            return run(assignment, progress)

        return recorded

    with scanning.store.write() as session:
        contest = session.contests.get("spring")
        job = service_job("dry-run", contest, id="d", payload={"change": "none"})
        session.queue.add(job, now=scanning.clock())
    work(scanning, {kind: recording(run) for kind, run in service_runners(scanning).items()})
    assert kinds == ["publish", "dry-run", "find"]


@pytest.mark.exhaustive
def test_the_robustness_of_an_arenas_ranks_is_computed_after_publishing(scanning: Service) -> None:
    """Boards state how few matches would change a rank, and no page computes it."""
    spring(scanning, boards=None)
    assert board_robustness(scanning, view(scanning, ORGANISER)).seq is None
    worked(scanning)
    stated = board_robustness(scanning, view(scanning, ORGANISER))
    with scanning.store.read() as session:
        [job] = session.queue.page(kinds=["robustness"], states=["done"])
    assert job.result == {"seq": stated.seq}
    proved = published_robustness(scanning, view(scanning, ORGANISER))
    assert stated.is_computed
    assert [(rank.bot, rank.matches) for rank in stated.ranks] == [
        (rank.bot, rank.matches) for rank in proved.ranks
    ]
    play(scanning, 9, 9)
    publish(scanning, "spring")
    assert not board_robustness(scanning, view(scanning, ORGANISER)).is_computed


@pytest.mark.exhaustive
def test_a_requested_scan_does_not_wait_for_the_pause(scanning: Service) -> None:
    """An organizer who requests findings wants them now, not in ten minutes."""
    spring(scanning)
    worked(scanning)
    play(scanning, 9, 9)
    worked(scanning)
    with scanning.store.write() as session:
        contest = session.contests.get("spring")
        job = service_job("find", contest, id="asked", dedupe="find", by="user:olga")
        assert session.queue.add(job, now=scanning.clock()).id == "asked"
    worked(scanning)
    assert findings(scanning, view(scanning, ORGANISER)).seq == contest.seq
    assert scans(scanning, "done")[0].id == "asked"


def test_only_organizers_are_notified_and_only_of_changes(scanning: Service, clock: Clock) -> None:
    """Findings are for organizers only, and repeated notifications are ignored."""
    spring(scanning)
    worked(scanning)
    clock.at += PAUSE
    with scanning.store.write() as session:
        contest = session.contests.get("spring")
        session.queue.add(service_job("find", contest, id="again"), now=scanning.clock())
    worked(scanning)
    heard = events.events(scanning, view(scanning, ORGANISER)).events
    changes = [item for item in heard if item.kind == CHANGED]
    rows = findings(scanning, view(scanning, ORGANISER)).findings
    assert [item.body for item in changes] == [
        {
            "findings": len(rows),
            "new": len(rows),
            "severities": {
                name: sum(item["severity"] == name for item in rows)
                for name in ("info", "warning", "error")
            },
        }
    ]
    public = events.events(scanning, view(scanning, ANONYMOUS)).events
    assert CHANGED not in [item.kind for item in public]


def test_an_empty_contest_is_not_scanned(scanning: Service) -> None:
    """Its first records would wait for the pause after a scan without records."""
    new = NewContest(id="autumn", discipline="arena", title="Autumn")
    create(scanning, new, by=ORGANISER)
    open_contest(scanning, "autumn", by=ORGANISER)
    worked(scanning)
    assert scans(scanning) == []


@pytest.mark.exhaustive
def test_automatic_scans_can_be_switched_off(service: Service) -> None:
    """With the setting at 0 contests are scanned on request only."""
    spring(service)
    worked(service)
    assert scans(service) == []
