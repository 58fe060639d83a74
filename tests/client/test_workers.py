"""A worker over HTTP: the same loop as beside the database, trusted with less."""

from collections.abc import Mapping
from typing import Any

import pytest

from agon.app.queue.progress import Progress
from agon.app.queue.source import REMOTE_KINDS, Assignment
from agon.app.worker.handlers import sandbox_runners, service_runners
from agon.app.worker.loop import Run, Worker, WorkResult
from agon.entities.jobs import JobKind
from agon.errors import Forbidden
from app.worker.contests import dojo, entries, gated, job_of, published, submitted
from client.conftest import Behind, client_of
from fakes.sandbox import FakeSandbox


def work(
    behind: Behind, runners: Mapping[JobKind, Run], *, role: str = "worker"
) -> list[WorkResult]:
    """Work over HTTP until there is nothing to do."""
    told: list[WorkResult] = []
    with client_of(behind, role) as client:
        source = client.job_source(worker="far", wait=lambda _: None)
        Worker(source, runners, on_result=told.append).work(idle=False)
    return told


@pytest.fixture
def problem(behind: Behind) -> int:
    """Hold the position of a published problem."""
    dojo(behind.service)
    return published(behind.service)


def judging(run: Run) -> dict[JobKind, Run]:
    """Run judge jobs by a function."""
    return {"judge": run}


def test_a_verdict_reached_far_away_is_recorded_in_the_house(behind: Behind, problem: int) -> None:
    """The program travels, the terms do not; the record names who ran it."""
    job = submitted(behind.service, problem)
    seen: list[Assignment] = []
    run = sandbox_runners(FakeSandbox())["judge"]

    def watched(assignment: Assignment, progress: Progress) -> Mapping[str, Any]:
        seen.append(assignment)
        return run(assignment, progress)

    (told,) = work(behind, judging(watched))
    assert told.end == "done"
    assert "361" not in str(seen[0])
    assert (job_of(behind.service, job).result or {})["verdict"] == "ok"
    row = entries(behind.service, "record-added")[-1]
    assert row.by.startswith("worker:")
    assert "far" in row.by


@pytest.mark.parametrize(
    "run",
    [
        {"outcome": "ok", "terms": ["1"] * 21, "mode": "bwrap", "runner": "r"},
        {"outcome": "ok", "terms": [1, 4, 9], "mode": "bwrap", "runner": "r"},
        {"outcome": "ok", "terms": ["1"], "mode": "none", "runner": "r"},
        {"verdict": "ok"},
        None,
    ],
    ids=["too many terms", "no text", "no wall", "a verdict of its own", "nothing"],
)
def test_an_outcome_that_no_run_gives_counts_for_nothing(
    behind: Behind, problem: int, run: Any
) -> None:
    """A worker nobody trusts chooses every byte of what it sends."""
    job = submitted(behind.service, problem)
    work(behind, judging(lambda _, __: {"run": run}))
    assert job_of(behind.service, job).state == "queued"
    rows = [one.body["table"] for one in entries(behind.service, "record-added")]
    assert rows == ["problems"]


def test_the_houses_own_jobs_are_not_given_out(behind: Behind) -> None:
    """A gate's program is an answer; a worker outside must not even hold it."""
    dojo(behind.service)
    job = gated(behind.service)
    runners = service_runners(behind.service) | sandbox_runners(FakeSandbox())
    remote = {kind: run for kind, run in runners.items() if kind in REMOTE_KINDS}
    assert work(behind, remote) == []
    with pytest.raises(Forbidden):
        work(behind, {"gate": runners["gate"]})
    assert job_of(behind.service, job).state == "queued"
