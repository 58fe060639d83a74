"""Setter validation by a job: a problem is published when its setter is valid, not before."""

from typing import Any

import pytest

from agon.app.queue.leases import InvalidOutcome
from agon.app.service import Service
from agon.app.worker.handlers import sandbox_runners
from agon.app.worker.problem_gate import store_gate
from app.worker.contests import PACKAGE, PROBLEM, dojo, entries, gated, job_of, work
from fakes.sandbox import FakeSandbox


@pytest.fixture(autouse=True)
def contest(service: Service) -> None:
    """Return a service with the contest autumn."""
    dojo(service)


def test_a_setter_that_passes_publishes_its_problem(service: Service) -> None:
    """Only the ledger has the terms; the public row has the hash."""
    job = gated(service)
    assert entries(service, "problem-published") == []
    work(service, sandbox_runners(FakeSandbox()))
    (entry,) = entries(service, "problem-published")
    assert entry.body["problem"] == PROBLEM
    assert entry.body["package"]["terms"] == [str(n * n) for n in range(1, 21)]
    (row,) = [one.body["row"] for one in entries(service, "record-added")]
    assert row["id"] == row["p_hash"] == PROBLEM
    assert "source" not in row
    assert "361" not in str(row)
    done = job_of(service, job)
    assert (done.state, (done.result or {})["problem_seq"]) == ("done", entry.seq)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"source": "def seq(n):\n    return n + HASH_SEED\n"}, "differs between two runs"),
        ({"source": "def seq(n):\n    return 1 // 0\n"}, "the setter is not valid"),
        ({"source": "def seq(:\n"}, "not Python"),
        ({"N_check": 1}, "N_check is 1"),
    ],
    ids=["not deterministic", "crashes", "no Python", "too few terms"],
)
def test_a_setter_that_does_not_pass_publishes_nothing(
    service: Service, changed: dict[str, Any], cause: str
) -> None:
    """The setter gets the reason: another attempt would give the same."""
    job = gated(service, {**PACKAGE, **changed})
    work(service, sandbox_runners(FakeSandbox()))
    failed = job_of(service, job)
    assert failed.state == "failed"
    assert cause in failed.causes[-1]["cause"]
    assert entries(service, "problem-published", "record-added") == []


@pytest.mark.parametrize(
    "terms",
    [None, "1", ["1"] * 19, ["1"] * 21, [1] * 20, ["01"] * 20, ["9" * 5000] * 20],
    ids=["none", "text", "too few", "too many", "numbers", "no decimals", "too long"],
)
def test_impossible_terms_of_a_setter_are_rejected(service: Service, terms: Any) -> None:
    """They come from a worker, and every submission would be compared with them."""
    job = job_of(service, gated(service))
    with pytest.raises(InvalidOutcome, match="term"):
        store_gate(service, job, {"terms": terms})
    assert entries(service, "problem-published") == []
