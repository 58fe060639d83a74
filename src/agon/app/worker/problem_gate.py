"""Let a setter's program through its gate, and publish the problem when it passes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.contests.ledgers.append import append
from agon.app.dojo.problems import Problem, problem_of
from agon.app.dojo.sealed_answers import Sealed
from agon.app.dojo.season import problem_row
from agon.app.dojo.setter_check import pass_gate
from agon.app.files import Fault, Unfit
from agon.app.queue.leases import Finish
from agon.app.queue.progress import Progress
from agon.app.queue.source import Assignment
from agon.app.sandbox import Sandbox
from agon.app.worker.outcome_records import record_once
from agon.entities.jobs import Job
from agon.errors import Conflict
from agon.ledger.entry import Draft
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def gate(sandbox: Sandbox) -> Callable[[Assignment, Progress], dict[str, Any]]:
    """Return what runs setters: ``{"terms": […]}`` of one that passes, else its refusal is raised.

    Args:
        sandbox: the worker's.
    """

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        terms = pass_gate(packaged(assignment.payload["package"]), sandbox)
        progress.check()
        return {"terms": list(terms)}

    return run


def settle_gate(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Finish:
    """Publish a problem whose setter passed: one entry with its answer, one row without."""
    package = job.payload["package"]
    problem = packaged(package)
    terms = tuple(outcome["terms"])

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        if contest.state == "final":
            raise Conflict(f"contest {contest.id} is final; publish the problem in another")
        row = problem_row(Sealed(problem, terms))
        at = service.clock()
        body = {"problem": problem.id, "package": {**package, "terms": list(terms)}}
        draft = Draft(kind="problem-published", body=body, at=at, by=job.by)
        published = append(service, session, contest, [draft])
        recorded = record_once(
            service, session, published, table="problems", row=row, by=job.by, replace=True
        )
        return {"problem": problem.id, "problem_seq": published.seq, **recorded}

    return finish


def packaged(package: Mapping[str, Any]) -> Problem:
    """Read a setter's package as a job carries it.

    Raises:
        Unfit: with everything that is wrong with it.
    """
    faults: list[Fault] = []
    declared = {name: value for name, value in package.items() if name not in {"source", "terms"}}
    problem = problem_of(
        declared,
        str(package["source"]).encode(),
        faults=faults,
        declaration="problem.json",
        setter="setter.py",
    )
    if problem is None:
        raise Unfit(*faults)
    return problem
