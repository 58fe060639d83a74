"""Let a setter's program through its gate, and publish the problem when it passes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.contests.ledgers.append import append
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.lifecycle import problem_row, publication
from agon.app.dojo.problems import packaged_problem
from agon.app.dojo.setter_validation import validate_setter
from agon.app.queue.leases import Commit
from agon.app.queue.progress import Progress
from agon.app.queue.source import Assignment
from agon.app.sandbox import Sandbox
from agon.app.worker.outcome_records import position_of
from agon.entities.jobs import Job
from agon.errors import Conflict
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def gate(sandbox: Sandbox) -> Callable[[Assignment, Progress], dict[str, Any]]:
    """Return what runs setters: ``{"terms": […]}`` of one that passes, else its refusal is raised.

    Args:
        sandbox: the worker's.
    """

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        terms = validate_setter(packaged_problem(assignment.payload["package"]), sandbox)
        progress.check()
        return {"terms": list(terms)}

    return run


def store_gate(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Publish a problem whose setter passed: one entry with its answer, one row without."""
    answer = HiddenAnswer(packaged_problem(job.payload["package"]), tuple(outcome["terms"]))

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
