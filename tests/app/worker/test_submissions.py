"""Test judging as jobs: the worker runs, the instance compares and records one verdict."""

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
    """Return the position of a published problem in the contest autumn."""
    dojo(service)
    return published(service)


def verdicts(service: Service) -> list[dict[str, Any]]:
    """Return the recorded submissions."""
    added = entries(service, "record-added", "record-replaced")
    return [dict(entry.body["row"]) for entry in added if entry.body["table"] == "submissions"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("source", "verdict", "matched", "text"),
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
def test_a_submission_gets_the_verdict_of_its_run(
    service: Service, problem: int, source: str, verdict: str, matched: int | None, text: str
) -> None:
    """The verdicts are those of ``agon dojo judge``, by a worker, in the ledger."""
    job = submitted(service, problem, source=source)
    work(service, sandbox_runners(FakeSandbox()))
    (row,) = verdicts(service)
    assert (row["id"], row["user_id"]) == ("s1", "ada")
    assert (row["verdict"], row["terms_matched"]) == (verdict, matched)
    assert text in row["reason"]
    assert row["source"] == source
    ended = job_of(service, job)
    assert (ended.state, ended.result and ended.result["verdict"]) == ("done", verdict)


def test_the_entry_names_the_worker_that_judged(service: Service, problem: int) -> None:
    """A reader who doubts a verdict can see which machine gave it."""
    submitted(service, problem)
    work(service, sandbox_runners(FakeSandbox()), worker="north-1")
    assert entries(service, "record-added")[-1].by == "worker:north-1"


def test_the_entry_of_a_verdict_cannot_be_guessed_by_its_hash(
    service: Service, problem: int
) -> None:
    """The head of the chain is public, and a solver knows all of the entry except the terms."""
    for name in ("s1", "s2"):
        submitted(service, problem, name=name)
    work(service, sandbox_runners(FakeSandbox()))
    salts = [entry.external_id for entry in entries(service, "record-added")[-2:]]
    assert None not in salts
    assert len(set(salts)) == 2


def test_no_job_carries_the_terms(service: Service, problem: int) -> None:
    """A worker must not learn the expected terms."""
    job = submitted(service, problem)
    assert "terms" not in job.payload
    assert "361" not in str(job.payload)


@pytest.mark.exhaustive
def test_a_sandbox_error_is_tried_again_and_then_recorded(service: Service, problem: int) -> None:
    """A defective machine must neither cost a point nor leave a submission without a verdict."""
    job = submitted(service, problem, source=RIGHT + "# outcome: sandbox_error")
    sandbox = FakeSandbox()
    for _ in range(20):
        work(service, sandbox_runners(sandbox))
    assert len(sandbox.ran) == MAX_SANDBOX_ERRORS
    assert [row["verdict"] for row in verdicts(service)] == ["sandbox_error"]
    assert [cause["cause"] for cause in job_of(service, job).causes] == [
        "sandbox_error: asked for"
    ] * 2


def test_a_second_job_for_a_judged_submission_records_nothing(
    service: Service, problem: int
) -> None:
    """A submission has one verdict, also if there are two jobs for it."""
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


@pytest.mark.exhaustive
def test_a_rejudge_replaces_the_verdict(service: Service, problem: int) -> None:
    """The earlier verdict stays in the ledger and does not count."""
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
    """Its lease expired and another worker sent a verdict: there must not be a second one."""
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


def test_an_outcome_without_a_run_is_rejected(service: Service, problem: int) -> None:
    """An untrusted worker cannot claim that a valid program was not run."""
    submitted(service, problem)
    job = leases.claim(service, ["judge"], worker="lazy")
    assert job is not None
    with pytest.raises(InvalidOutcome, match="was not run"):
        leases.complete(
            service, job.id, lease=job.lease or "", outcome={"run": None}, handlers=RESULT_HANDLERS
        )
    assert job_of(service, job).state == "queued"
    assert verdicts(service) == []


def test_too_many_terms_are_rejected(service: Service, problem: int) -> None:
    """An honest run gives no more terms than requested."""
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
    """Return a request for the same work."""
    from agon.entities.jobs import NewJob

    values: dict[str, Any] = {
        "kind": job.kind, "payload": job.payload, "contest_no": job.contest_no,
    }  # fmt: skip
    return NewJob(**(values | changed))


def test_a_program_is_judged_by_the_modules_and_the_depth_of_its_job(
    service: Service, problem: int
) -> None:
    """The worker and the check that records agree on the contest's rules."""
    requests: list[RunRequest] = []

    class Watching(FakeSandbox):
        def run(self, request: RunRequest) -> RunResult:
            requests.append(request)
            return super().run(request)

    source = f"import heapq\n{RIGHT}"
    submitted(service, problem, name="s1", source=source)
    allowed = {"allowed_modules": ("heapq",), "recursion_limit": 300}
    submitted(service, problem, name="s2", source=source, **allowed)
    work(service, sandbox_runners(Watching()))
    assert {row["id"]: row["verdict"] for row in verdicts(service)} == {
        "s1": "rejected_import", "s2": "ok",
    }  # fmt: skip
    assert [(request.name, request.recursion_limit) for request in requests] == [("s2", 300)]


def test_a_run_accepts_the_integers_that_its_job_names(service: Service, problem: int) -> None:
    """Only int is accepted unless the contest's rule says otherwise."""
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
