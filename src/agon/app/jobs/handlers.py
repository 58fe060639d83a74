"""List what is done for each kind of job: who runs it, and who settles what came of it."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from agon.app.containers import Containers
from agon.app.jobs import delivering, gating, judging, publishing, rounds, trials
from agon.app.jobs.leasing import Settle
from agon.app.jobs.values import JobKind
from agon.app.jobs.working import Run
from agon.app.ports import Sandbox
from agon.app.tasks.trials import Clock

if TYPE_CHECKING:
    from agon.app.contests.service import Service

SETTLERS: Final[Mapping[JobKind, Settle]] = MappingProxyType(
    {
        "publish": publishing.settle_publish,
        "rebuild": publishing.settle_as_told,
        "judge": judging.settle_judge,
        "gate": gating.settle_gate,
        "trial": trials.settle_trial,
        "round": rounds.settle_round,
        "dry-run": publishing.settle_as_told,
        "find": publishing.settle_as_told,
        "deliver": delivering.settle_deliver,
    }
)
"""Who settles each kind's outcomes, always in the house."""


def house_runners(service: "Service") -> dict[JobKind, Run]:
    """Return what runs the kinds that need the house's own data, and nothing but a processor."""
    return {
        "publish": publishing.publish(service),
        "rebuild": publishing.rebuild(service),
        "round": rounds.draw_round(service),
        "dry-run": publishing.dry_run(service),
        "find": publishing.find(service),
    }


def sandbox_runners(sandbox: Sandbox) -> dict[JobKind, Run]:
    """Return what runs the kinds that need a sandbox."""
    return {"judge": judging.judge(sandbox), "gate": gating.gate(sandbox)}


def trial_runners(
    tasks: Path, containers: Containers, make_agent: trials.MakeAgent, *, now: Clock
) -> dict[JobKind, Run]:
    """Return what runs the kinds that need tasks and containers."""
    return {"trial": trials.trial(tasks, containers, make_agent, now=now)}


def post_runners(service: "Service", post: delivering.Post) -> dict[JobKind, Run]:
    """Return what runs the kinds that need the network."""
    return {"deliver": delivering.deliver(service, post)}
