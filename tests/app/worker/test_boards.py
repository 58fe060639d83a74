"""Test the automatic integrity scan after publishing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.cases.findings import CHANGED, findings
from agon.app.contests.ledgers import events
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.queue.jobs import service_job
from agon.app.queue.source import Assignment, Progress
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
    """Return a clock that tests turn."""
    return Clock()


@pytest.fixture
def looking(tmp_path: Path, clock: Clock) -> Iterator[Service]:
    """Open a service that looks for findings by itself."""
    opened = replace(service_at(tmp_path, clock=clock), scan_pause=PAUSE)
    yield opened
    opened.store.close()


def looks(service: Service, *states: JobState) -> list[Job]:
    """List the jobs that look for findings, newest first."""
    with service.store.read() as session:
        return session.queue.page(kinds=["find"], states=states)


def worked(service: Service) -> None:
    """Do whatever is to be done now."""
    work(service, service_runners(service))


def test_new_boards_are_scanned_automatically(looking: Service) -> None:
    """Organisers learn of gaming without having thought of asking."""
    spring(looking)
    worked(looking)
    found = findings(looking, view(looking, ORGANISER))
    (job,) = looks(looking)
    assert found.findings
    assert (job.state, job.result) == ("done", {"seq": found.seq, "findings": len(found.findings)})


def test_the_next_look_waits_for_the_pause(looking: Service, clock: Clock) -> None:
    """Records that never cease must not keep a worker looking for ever."""
    spring(looking)
    worked(looking)
    seen = findings(looking, view(looking, ORGANISER)).seq
    for number in (9, 10, 11):
        play(looking, number, number)
        worked(looking)
    assert findings(looking, view(looking, ORGANISER)).seq == seen
    (waits,) = looks(looking, "queued")
    (done,) = looks(looking, "done")
    assert done.ended_at is not None
    assert waits.not_before - done.ended_at == PAUSE
    clock.at += PAUSE
    worked(looking)
    newest = findings(looking, view(looking, ORGANISER)).seq
    assert newest == view(looking, ORGANISER).contest.seq > seen


def test_looking_takes_no_more_than_a_twentieth_of_the_time(looking: Service, clock: Clock) -> None:
    """A look through a large contest takes minutes, and boards have to wait for a lone worker."""
    looking = replace(looking, scan_pause=timedelta(seconds=1))
    spring(looking)
    run = service_runners(looking)

    def slow(assignment: Assignment, progress: Progress, quick: Run = run["find"]) -> Any:
        clock.at += timedelta(minutes=3)
        return quick(assignment, progress)

    work(looking, {**run, "find": slow})
    play(looking, 9, 9)
    worked(looking)
    (done,) = looks(looking, "done")
    (waits,) = looks(looking, "queued")
    assert done.started_at is not None
    assert done.ended_at is not None
    assert waits.not_before - done.ended_at == 19 * (done.ended_at - done.started_at)


def test_boards_come_before_the_look(looking: Service) -> None:
    """Clients wait for a board, but not for a scan."""
    spring(looking)
    done: list[str] = []

    def noting(run: Run) -> Run:
        def noted(assignment: Assignment, progress: Progress) -> Mapping[str, Any]:
            done.append(assignment.kind)
            return run(assignment, progress)

        return noted

    with looking.store.write() as session:
        contest = session.contests.get("spring")
        asked = service_job("dry-run", contest, id="d", payload={"change": "none"})
        session.queue.add(asked, now=looking.clock())
    work(looking, {kind: noting(run) for kind, run in service_runners(looking).items()})
    assert done == ["publish", "dry-run", "find"]


def test_an_organiser_who_asks_does_not_wait_for_the_pause(looking: Service) -> None:
    """What comes by itself in ten minutes is no answer to who wants to know now."""
    spring(looking)
    worked(looking)
    play(looking, 9, 9)
    worked(looking)
    with looking.store.write() as session:
        contest = session.contests.get("spring")
        asked = service_job("find", contest, id="asked", dedupe="find", by="user:olga")
        assert session.queue.add(asked, now=looking.clock()).id == "asked"
    worked(looking)
    assert findings(looking, view(looking, ORGANISER)).seq == contest.seq
    assert looks(looking, "done")[0].id == "asked"


def test_only_organizers_are_notified_and_only_of_changes(looking: Service, clock: Clock) -> None:
    """Findings are for organizers only, and repeated notifications are ignored."""
    spring(looking)
    worked(looking)
    clock.at += PAUSE
    with looking.store.write() as session:
        contest = session.contests.get("spring")
        session.queue.add(service_job("find", contest, id="again"), now=looking.clock())
    worked(looking)
    heard = events.events(looking, view(looking, ORGANISER)).events
    told = [one for one in heard if one.kind == CHANGED]
    found = findings(looking, view(looking, ORGANISER)).findings
    assert [one.body for one in told] == [
        {
            "findings": len(found),
            "new": len(found),
            "severities": {
                name: sum(one["severity"] == name for one in found)
                for name in ("info", "warning", "error")
            },
        }
    ]
    public = events.events(looking, view(looking, ANONYMOUS)).events
    assert CHANGED not in [one.kind for one in public]


def test_an_empty_contest_is_not_scanned(looking: Service) -> None:
    """Its first records would have to wait for the pause after a look at nothing."""
    new = NewContest(id="autumn", discipline="arena", title="Autumn")
    create(looking, new, by=ORGANISER)
    open_contest(looking, "autumn", by=ORGANISER)
    worked(looking)
    assert looks(looking) == []


def test_automatic_scans_can_be_switched_off(service: Service) -> None:
    """With the setting at 0 contests are scanned on request only."""
    spring(service)
    worked(service)
    assert looks(service) == []
