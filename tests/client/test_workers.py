"""A worker over HTTP: the same loop as a local worker, with fewer permissions."""

from collections.abc import Mapping
from typing import Any

import pytest

from agon.app.queue.source import REMOTE_KINDS, Assignment, JobProgress
from agon.app.worker.handlers import sandbox_runners, service_runners
from agon.app.worker.loop import JobWorker, Run, WorkResult
from agon.entities.jobs import JobKind
from agon.errors import Forbidden
from app.worker.contests import dojo, entries, gated, job_of, published, submitted
from client.conftest import client_of
from fakes.instance import Instance
from fakes.sandbox import FakeSandbox


def work(
    instance: Instance, runners: Mapping[JobKind, Run], *, role: str = "worker"
) -> list[WorkResult]:
    """Run jobs over HTTP until the queue is empty."""
    result: list[WorkResult] = []
    with client_of(instance, role) as client:
        source = client.job_source(worker="far", wait=lambda _: None)
        JobWorker(source, runners, on_result=result.append).work(idle=False)
    return result


@pytest.fixture
def problem(instance: Instance) -> int:
    """Publish a problem and return its position."""
    dojo(instance.service)
    return published(instance.service)


def judging(run: Run) -> dict[JobKind, Run]:
    """Return handlers that run judge jobs with a function."""
    return {"judge": run}


def test_a_verdict_of_a_remote_worker_is_recorded(instance: Instance, problem: int) -> None:
    """The worker gets the program but no terms; the record names the runner."""
    job = submitted(instance.service, problem)
    assignments: list[Assignment] = []
    run = sandbox_runners(FakeSandbox())["judge"]

    def recording_run(assignment: Assignment, progress: JobProgress) -> Mapping[str, Any]:
        assignments.append(assignment)
        return run(assignment, progress)

    (result,) = work(instance, judging(recording_run))
    assert result.end == "done"
    assert "361" not in str(assignments[0])
    assert (job_of(instance.service, job).result or {})["verdict"] == "ok"
    row = entries(instance.service, "record-added")[-1]
    assert row.by.startswith("worker:")
    assert "far" in row.by


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "run",
    [
        {"outcome": "ok", "terms": ["1"] * 21, "mode": "bwrap", "runner": "r"},
        {"outcome": "ok", "terms": [1, 4, 9], "mode": "bwrap", "runner": "r"},
        {"outcome": "ok", "terms": ["1"], "mode": "none", "runner": "r"},
        {"verdict": "ok"},
        None,
    ],
    ids=["too many terms", "no text", "no wall time", "a verdict of its own", "nothing"],
)
def test_an_impossible_outcome_is_rejected(instance: Instance, problem: int, run: Any) -> None:
    """Remote workers are untrusted and can send any bytes."""
    job = submitted(instance.service, problem)
    work(instance, judging(lambda _, __: {"run": run}))
    assert job_of(instance.service, job).state == "queued"
    rows = [entry.body["table"] for entry in entries(instance.service, "record-added")]
    assert rows == ["problems"]


def test_service_jobs_are_not_assigned_to_remote_workers(instance: Instance) -> None:
    """A gate job contains the setter's program, which remote workers must not see."""
    dojo(instance.service)
    job = gated(instance.service)
    runners = service_runners(instance.service) | sandbox_runners(FakeSandbox())
    remote = {kind: run for kind, run in runners.items() if kind in REMOTE_KINDS}
    assert work(instance, remote) == []
    with pytest.raises(Forbidden):
        work(instance, {"gate": runners["gate"]})
    assert job_of(instance.service, job).state == "queued"
