"""For each kind of job, the function that runs it and the one that stores its result."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.rounds import advance, play
from agon.app.containers import Containers
from agon.app.garbage import gc_paused
from agon.app.queue.leases import Commit, StoreResult
from agon.app.sandbox import Sandbox
from agon.app.tasks.trials import Clock
from agon.app.webhooks.delivery import WebhookTransport
from agon.app.worker import boards, problem_gate, submissions, trials, webhook_delivery
from agon.app.worker.loop import Run
from agon.entities.jobs import Job, JobKind
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def store_round(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that moves a round on."""

    def finish(session: Session) -> Mapping[str, Any]:
        with gc_paused():
            return advance(service, session, job.payload, outcome, by=job.by)

    return finish


RESULT_HANDLERS: Final[Mapping[JobKind, StoreResult]] = MappingProxyType(
    {
        "publish": boards.store_publish,
        "rebuild": boards.store_outcome,
        "judge": submissions.store_judge,
        "gate": problem_gate.store_gate,
        "trial": trials.store_trial,
        "round": store_round,
        "dry-run": boards.store_outcome,
        "find": boards.store_outcome,
        "robustness": boards.store_outcome,
        "deliver": webhook_delivery.store_deliver,
    }
)
"""The function of each kind that stores what follows from an outcome; it runs in the service."""


def service_runners(service: "Service") -> dict[JobKind, Run]:
    """Return the functions of the kinds that need the database only."""
    return {
        "publish": boards.publish_runner(service),
        "rebuild": boards.rebuild_runner(service),
        "dry-run": boards.dry_run_runner(service),
        "find": boards.findings_runner(service),
        "robustness": boards.robustness_runner(service),
    }


def sandbox_runners(sandbox: Sandbox) -> dict[JobKind, Run]:
    """Return the functions of the kinds that need a sandbox."""
    return {"judge": submissions.judge(sandbox), "gate": problem_gate.gate(sandbox)}


def trial_runners(
    tasks: Path, containers: Containers, make_agent: trials.MakeAgent, *, now: Clock
) -> dict[JobKind, Run]:
    """Return the functions of the kinds that need tasks and containers."""
    return {"trial": trials.trial(tasks, containers, make_agent, now=now)}


def post_runners(service: "Service", post: WebhookTransport) -> dict[JobKind, Run]:
    """Return the functions of the kinds that need the network."""
    return {"deliver": webhook_delivery.deliver(service, post)}


def round_runners(service: "Service", ports: ArenaPorts) -> dict[JobKind, Run]:
    """Return the functions of the kinds that play the rounds of arenas."""
    return {"round": play(service, ports)}
