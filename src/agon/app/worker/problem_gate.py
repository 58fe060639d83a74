"""Validate a setter's program: to publish its problem, or to judge its submissions again."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.contests.changes.rejudge import queue_dry_run
from agon.app.contests.ledgers.append import append
from agon.app.contests.ledgers.slugs import require_free_slug
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.lifecycle import PUBLISHED, PublishedProblem, problem_row, publication
from agon.app.dojo.problems import packaged_problem
from agon.app.dojo.setter_validation import (
    SETTER_LIMITS,
    InvalidSetter,
    require_same_terms,
    validate_setter,
)
from agon.app.queue.leases import Commit, InvalidOutcome
from agon.app.queue.source import Assignment, JobProgress
from agon.app.sandbox import Sandbox
from agon.app.worker.outcome_records import entry_at, position_of
from agon.app.worker.outcomes import read_terms
from agon.entities.jobs import Job
from agon.errors import CheckFailed
from agon.ledger.transitions import require_not_over
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def gate(sandbox: Sandbox) -> Callable[[Assignment, JobProgress], dict[str, Any]]:
    """Return the function that runs setters; its outcome is ``{"terms": […]}``, or it raises.

    For a rejudge, an invalid setter has the outcome ``{"error": …}``: the change set reports it.

    Args:
        sandbox: the sandbox of the worker.
    """

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        problem = packaged_problem(assignment.payload["package"])
        try:
            terms = validate_setter(problem, sandbox)
        except InvalidSetter as error:
            if "change" not in assignment.payload:
                raise
            return {"error": str(error)}
        progress.check()
        return {"terms": list(terms)}

    return run


def store_gate(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Publish a problem whose setter is valid: one entry with its answer, one row without.

    For a rejudge nothing is published: the result says whether the terms are those of before.

    Raises:
        InvalidOutcome: the terms that were sent are not those of a setter.
    """
    problem = packaged_problem(job.payload["package"])
    if "change" in job.payload and isinstance(outcome.get("error"), str):
        return _confirmation(service, job, error=outcome["error"])
    n_check, digits = problem.n_check, SETTER_LIMITS.max_term_digits
    terms = read_terms(outcome.get("terms"), n_check=n_check, digits=digits)
    if len(terms) != n_check:
        raise InvalidOutcome(f"terms has {len(terms):,} items; send all {n_check:,}")
    answer = HiddenAnswer(problem, terms)
    if "change" in job.payload:
        return _confirmation(service, job, error=_difference(service, job, terms))

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        require_not_over(contest, remedy="publish the problem in another contest")
        require_free_slug(session, contest, problem.slug, problem_id=problem.id)
        drafts = publication(
            answer,
            replaces=position_of(session, contest, "problems", problem_row(answer.problem)),
            at=service.clock(),
            by=job.by,
        )
        seq = append(service, session, contest, drafts).seq
        return {"problem": answer.problem.id, "problem_seq": seq - 1, "seq": seq, "recorded": True}

    return finish


def _difference(service: "Service", job: Job, terms: tuple[str, ...]) -> str | None:
    """Return how terms differ from those of the ledger, None if they are the same."""
    with service.store.read() as session:
        no = session.contests.get(job.payload["contest"]).no
        entry = entry_at(session, no, job.payload["problem_seq"], kind=PUBLISHED)
    try:
        require_same_terms(PublishedProblem.of(entry, freeze=None).answer, terms)
    except CheckFailed as error:
        return str(error)
    return None


def _confirmation(service: "Service", job: Job, *, error: str | None) -> Commit:
    """Return the function that stores whether a setter gives the terms of before."""

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        queue_dry_run(service, session, contest, job.payload["change"])
        return {"problem": job.payload["problem"], "error": error}

    return finish
