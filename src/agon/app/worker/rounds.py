"""Draw the rounds of contests whose discipline plans them, and record the draws.

A draw is recorded with its seed and a hash of its inputs, so that anyone with the ledger can repeat
it. Playing the matches is not part of agon.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agon.app.contests.ledgers.append import append
from agon.app.queue.leases import Commit
from agon.app.queue.source import Assignment, Progress
from agon.disciplines import discipline
from agon.entities.jobs import Job
from agon.errors import Conflict
from agon.ledger.entry import Draft
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def draw_round(service: "Service") -> Callable[[Assignment, Progress], dict[str, Any]]:
    """Return the function that draws a round from a contest's newest position."""

    def run(assignment: Assignment, progress: Progress) -> dict[str, Any]:
        contest_id = assignment.payload["contest"]
        with service.store.read() as session:
            contest = session.contests.get(contest_id)
        plan_round = discipline(contest.discipline).plan_round
        if plan_round is None:
            raise Conflict(
                f"{contest_id} is a {contest.discipline} contest, which has no rounds; name a "
                "contest whose matches are drawn"
            )
        with service.replicas.current(service.store, contest) as live:
            drawn = plan_round(
                live.result().scored,
                seed=service.random(16).hex(),
                name=assignment.id,
                at=service.clock(),
            )
        progress.check()
        return {**drawn, "seq": contest.seq}

    return run


def store_round(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that records the draw, even if the contest has further entries now."""
    body = {name: outcome[name] for name in ("purpose", "seed", "method", "inputs_sha256")}
    body["result"] = {**outcome["result"], "seq": outcome["seq"]}

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(job.payload["contest"])
        if contest.state == "final":
            raise Conflict(f"contest {contest.id} is final; no more rounds are drawn")
        draft = Draft(kind="draw-made", body=body, at=service.clock(), by=job.by)
        drawn = append(service, session, contest, [draft])
        matches = len(outcome["result"]["matches"])
        return {"seq": drawn.seq, "round": body["purpose"], "matches": matches}

    return finish
