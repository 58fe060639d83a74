"""List what is done for each kind of job: who runs it, and who settles what came of it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from agon.app.containers import Containers
from agon.app.queue.leases import Settle
from agon.app.sandbox import Sandbox
from agon.app.tasks.trials import Clock
from agon.app.worker import boards, problem_gate, rounds, submissions, trials, webhook_delivery
from agon.app.worker.loop import Run
from agon.entities.jobs import JobKind

if TYPE_CHECKING:
    from agon.app.service import Service

SETTLERS: Final[Mapping[JobKind, Settle]] = MappingProxyType(
    {
        "publish": boards.settle_publish,
        "rebuild": boards.settle_as_told,
        "judge": submissions.settle_judge,
        "gate": problem_gate.settle_gate,
        "trial": trials.settle_trial,
        "round": rounds.settle_round,
        "dry-run": boards.settle_as_told,
        "find": boards.settle_as_told,
        "deliver": webhook_delivery.settle_deliver,
    }
)
"""Who settles each kind's outcomes, always in the house."""


def house_runners(service: "Service") -> dict[JobKind, Run]:
    """Return what runs the kinds that need the house's own data, and nothing but a processor."""
    return {
        "publish": boards.publish(service),
        "rebuild": boards.rebuild(service),
        "round": rounds.draw_round(service),
        "dry-run": boards.dry_run(service),
        "find": boards.find(service),
    }


def sandbox_runners(sandbox: Sandbox) -> dict[JobKind, Run]:
    """Return what runs the kinds that need a sandbox."""
    return {"judge": submissions.judge(sandbox), "gate": problem_gate.gate(sandbox)}


def trial_runners(
    tasks: Path, containers: Containers, make_agent: trials.MakeAgent, *, now: Clock
) -> dict[JobKind, Run]:
    """Return what runs the kinds that need tasks and containers."""
    return {"trial": trials.trial(tasks, containers, make_agent, now=now)}


def post_runners(service: "Service", post: webhook_delivery.Post) -> dict[JobKind, Run]:
    """Return what runs the kinds that need the network."""
    return {"deliver": webhook_delivery.deliver(service, post)}
