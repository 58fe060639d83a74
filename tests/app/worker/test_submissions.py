"""Judging by jobs: the worker runs, the instance compares, and one verdict is recorded."""

from dataclasses import asdict
from typing import Any

import pytest

from agon.app.queue import leases
from agon.app.queue.leases import InvalidOutcome
from agon.app.queue.source import LeaseLost
from agon.app.sandbox import RunRequest, RunResult
from agon.app.service import Service
from agon.app.worker.handlers import RESULT_HANDLERS, sandbox_runners
from agon.app.worker.submissions import MAX_SANDBOX_ERRORS
from agon.entities.jobs import Job
from app.worker.contests import RIGHT, dojo, entries, job_of, published, submitted, work
from fakes.sandbox import FakeSandbox
from fakes.service import Clock

WRONG = "def solver():\n    return [1, 4, 8]\n"


@pytest.fixture
def problem(service: Service) -> int:
    """Hold the position of a published problem in the contest autumn."""
    dojo(service)
    return published(service)


def verdicts(service: Service) -> list[dict[str, Any]]:
    """List the recorded submissions."""
    added = entries(service, "record-added", "record-replaced")
    return [dict(one.body["row"]) for one in added if one.body["table"] == "submissions"]


@pytest.mark.parametrize(
    ("source", "verdict", "matched", "told"),
    [
        (RIGHT, "ok", 20, ""),
        (WRONG, "wrong_answer", 2, "term 3 is wrong"),
        ("import os\n" + RIGHT, "rejected_import", None, "line 1: import of os"),
        ("def solver(:", "syntax_error", None, "not Python"),
        (RIGHT + "# outcome: time_limit", "time_limit", None, "asked for"),
        (f"T = {list(range(121))}\n" + RIGHT, "rejected_policy", 20, "numeric literals"),
    ],
    ids=["right", "wrong", "forbidden import", "no Python", "too slow", "payload"],
)
def test_a_submission_gets_the_verdict_its_run_earns(
    service: Service, problem: int, source: str, verdict: str, matched: int | None, told: str
) -> None:
    """The same verdicts as ``agon dojo judge``, reached by a worker and recorded in the ledger."""
    job = submitted(service, problem, source=source)
    work(service, sandbox_runners(FakeSandbox()))
    (row,) = verdicts(service)
    assert (row["id"], row["user_id"]) == ("s1", "ada")
    assert (row["verdict"], row["terms_matched"]) == (verdict, matched)
    assert told in row["reason"]
    assert row["source"] == source
    done = job_of(service, job)
    assert (done.state, done.result and done.result["verdict"]) == ("done", verdict)


def test_the_worker_that_judged_is_named_by_the_entry(service: Service, problem: int) -> None:
    """Whoever doubts a verdict must find which machine gave it."""
    submitted(service, problem)
    work(service, sandbox_runners(FakeSandbox()), worker="north-1")
    assert entries(service, "record-added")[-1].by == "worker:north-1"


def test_a_verdicts_entry_cannot_be_found_by_hashing_what_it_may_say(
    service: Service, problem: int
) -> None:
    """The head of the chain is public, and a solver knows all of the entry but the terms."""
    for name in ("s1", "s2"):
        submitted(service, problem, name=name)
    work(service, sandbox_runners(FakeSandbox()))
    salts = [entry.external_id for entry in entries(service, "record-added")[-2:]]
    assert None not in salts
    assert len(set(salts)) == 2


def test_no_job_carries_the_terms(service: Service, problem: int) -> None:
    """What a worker is given must not hold the answer."""
    job = submitted(service, problem)
    assert "terms" not in job.payload
    assert "361" not in str(job.payload)


def test_a_fault_of_ours_is_repeated_and_then_recorded_as_ours(
    service: Service, problem: int
) -> None:
    """A sick machine must not cost a point; nor may it keep a submission without a verdict."""
    job = submitted(service, problem, source=RIGHT + "# outcome: sandbox_error")
    wall = FakeSandbox()
    for _ in range(20):
        work(service, sandbox_runners(wall))
    assert len(wall.ran) == MAX_SANDBOX_ERRORS
    assert [row["verdict"] for row in verdicts(service)] == ["sandbox_error"]
    assert [one["cause"] for one in job_of(service, job).causes] == ["sandbox_error: asked for"] * 2


def test_a_second_job_for_a_judged_submission_records_nothing(
    service: Service, problem: int
) -> None:
    """However a job comes to be there twice, a submission has one verdict."""
    submitted(service, problem)
    work(service, sandbox_runners(FakeSandbox()))
    with service.store.write() as session:
        first = session.queue.page(kinds=["judge"])[0]
        again = leasing_copy(first, id="again")
        session.queue.add(again, now=service.clock())
    work(service, sandbox_runners(FakeSandbox()))
    assert len(verdicts(service)) == 1
    with service.store.read() as session:
        assert (session.queue.get("again").result or {})["recorded"] is False


def test_judging_again_replaces_the_verdict_where_that_was_asked_for(
    service: Service, problem: int
) -> None:
    """A rejudge is a correction: the earlier verdict stays in the ledger and no longer counts."""
    submitted(service, problem)
    work(service, sandbox_runners(FakeSandbox()))
    with service.store.write() as session:
        first = session.queue.page(kinds=["judge"])[0]
        payload = {**first.payload, "replace": True}
        session.queue.add(leasing_copy(first, id="again", payload=payload), now=service.clock())
    work(service, sandbox_runners(FakeSandbox()))
    replaced = entries(service, "record-replaced")
    assert len(replaced) == 1
    assert replaced[0].body["replaces"] == entries(service, "record-added")[-1].seq


def test_a_late_worker_stores_nothing(service: Service, problem: int) -> None:
    """Its lease ran out and another reached the verdict: its own must not be there beside it."""
    submitted(service, problem)
    slow = leases.claim(service, ["judge"], worker="slow")
    assert slow is not None
    clock = service.clock
    assert isinstance(clock, Clock)
    clock.at += 2 * service.lease_span
    work(service, sandbox_runners(FakeSandbox()), worker="quick")
    before = len(entries(service))
    with pytest.raises(LeaseLost):
        leases.complete(
            service,
            slow.id,
            lease=slow.lease or "",
            outcome={"run": None},
            handlers=RESULT_HANDLERS,
        )
    assert len(entries(service)) == before
    assert entries(service, "record-added")[-1].by == "worker:quick"


def test_a_run_that_was_not_made_is_refused(service: Service, problem: int) -> None:
    """An untrusted worker cannot say of a sound program that there was nothing to run."""
    submitted(service, problem)
    job = leases.claim(service, ["judge"], worker="lazy")
    assert job is not None
    with pytest.raises(InvalidOutcome, match="was not run"):
        leases.complete(
            service, job.id, lease=job.lease or "", outcome={"run": None}, handlers=RESULT_HANDLERS
        )
    assert job_of(service, job).state == "queued"
    assert verdicts(service) == []


def test_terms_beyond_the_wanted_ones_are_refused(service: Service, problem: int) -> None:
    """No honest run gives more terms than were asked for."""
    submitted(service, problem)
    job = leases.claim(service, ["judge"], worker="odd")
    assert job is not None
    run = RunResult(outcome="ok", terms=("1",) * 21, mode="bwrap", runner="r")
    with pytest.raises(InvalidOutcome, match="21 items"):
        leases.complete(
            service, job.id, lease=job.lease or "", outcome={"run": asdict(run)},
            handlers=RESULT_HANDLERS,
        )  # fmt: skip
    assert verdicts(service) == []


def leasing_copy(job: Job, **changed: Any) -> Any:
    """Ask for the same work again."""
    from agon.entities.jobs import NewJob

    values: dict[str, Any] = {
        "kind": job.kind, "payload": job.payload, "contest_no": job.contest_no,
    }  # fmt: skip
    return NewJob(**(values | changed))


def test_a_run_accepts_the_integers_that_its_job_names(service: Service, problem: int) -> None:
    """Strict unless the contest's rule says otherwise."""
    requests: list[RunRequest] = []

    class Watching(FakeSandbox):
        def run(self, request: RunRequest) -> RunResult:
            requests.append(request)
            return super().run(request)

    submitted(service, problem, name="s1")
    submitted(service, problem, name="s2", exact_integers=True)
    work(service, sandbox_runners(Watching()))
    assert {request.name: request.exact_integers for request in requests} == {
        "s1": False, "s2": True,
    }  # fmt: skip
