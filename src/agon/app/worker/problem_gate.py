"""Validate a setter's program, and publish the problem when it is valid."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.contests.ledgers.append import append
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.lifecycle import problem_row, publication
from agon.app.dojo.problems import packaged_problem
from agon.app.dojo.setter_validation import SETTER_LIMITS, validate_setter
from agon.app.queue.leases import Commit, InvalidOutcome
from agon.app.queue.source import Assignment, Progress
from agon.app.sandbox import Sandbox
from agon.app.worker.outcome_records import position_of
from agon.app.worker.outcomes import read_terms
from agon.entities.jobs import Job
from agon.errors import Conflict
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def gate(sandbox: Sandbox) -> Callable[[Assignment, Progress], dict[str, Any]]:
    """Return the function that runs setters; its outcome is ``{"terms": […]}``, or it raises.

    Args:
        sandbox: the sandbox of the worker.
    """

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        terms = validate_setter(packaged_problem(assignment.payload["package"]), sandbox)
        progress.check()
        return {"terms": list(terms)}

    return run


def store_gate(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Publish a problem whose setter is valid: one entry with its answer, one row without.

    Raises:
        InvalidOutcome: the terms that were sent are not those of a setter.
    """
    problem = packaged_problem(job.payload["package"])
    n_check, digits = problem.n_check, SETTER_LIMITS.max_term_digits
    terms = read_terms(outcome.get("terms"), n_check=n_check, digits=digits)
    if len(terms) != n_check:
        raise InvalidOutcome(f"terms has {len(terms):,} items; send all {n_check:,}")
    answer = HiddenAnswer(problem, terms)

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        if contest.state == "final":
            raise Conflict(f"contest {contest.id} is final; publish the problem in another")
        drafts = publication(
            answer,
            replaces=position_of(session, contest, "problems", problem_row(answer.problem)),
            at=service.clock(),
            by=job.by,
        )
        seq = append(service, session, contest, drafts).seq
        return {"problem": answer.problem.id, "problem_seq": seq - 1, "seq": seq, "recorded": True}

    return finish
