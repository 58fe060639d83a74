"""Give a trial the network that its task's services and servers need, and collect from services."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Final, Protocol

from agon.app.containers import AgentRun, AgentTrial, Containers, Image, Limits, Outputs
from agon.app.containers.collection import ServiceCommand
from agon.app.tasks.servers import keeps_servers
from agon.app.tasks.services import service_specs
from agon.app.tasks.task import Task

_HAND_OVER_S: Final = 300.0
"""Seconds besides its command that an agent or a verifier may take."""


class InNetwork(Protocol):
    """Give a trial its network: :func:`in_network`, or that of a trial with steps."""

    def __call__(
        self, task: Task, containers: Containers, image: Image, trial: AgentTrial, network: str, /
    ) -> AbstractContextManager[AgentTrial]:
        """Return a context that yields the trial with its network."""


def agent_limits(task: Task) -> Limits:
    """Return the limits of an agent's container."""
    bounds = task.settings.bounds
    return Limits(
        timeout_s=bounds.agent_s,
        memory_mib=bounds.memory_mb,
        storage_mib=bounds.storage_mb,
        cpus=bounds.cpus,
    )


def in_network(
    task: Task, containers: Containers, image: Image, trial: AgentTrial, network: str
) -> AbstractContextManager[AgentTrial]:
    """Return a context that yields the trial, with a network of its own if it has servers.

    Tests that get a network to download something get no server: both would give the agent one.
    """
    keeps = network == "none" and keeps_servers(task, allowed=trial.keep_servers)
    if not keeps and not task.files.services and trial.egress.mode == "none":
        return nullcontext(trial)
    verifying_s = 2 * (task.settings.bounds.verifier_s + _HAND_OVER_S)
    return _open(task, containers, image, replace(trial, servers_s=verifying_s if keeps else 0.0))


@contextmanager
def networks_of_steps(whole: Task, in_whole: AgentTrial) -> Iterator[InNetwork]:
    """Yield what gives each step of a trial its network, which is the trial's if it has services.

    Its first step starts the services; they go on to the end of the last, with what they store.
    """
    with ExitStack() as stack:
        opened: list[AgentTrial] = []

        def in_trial(
            task: Task, containers: Containers, image: Image, trial: AgentTrial, network: str
        ) -> AbstractContextManager[AgentTrial]:
            if not whole.files.services:
                return in_network(task, containers, image, trial, network)
            if not opened:
                opened.append(stack.enter_context(_open(whole, containers, image, in_whole)))
            return nullcontext(replace(trial, network=opened[0].network))

        yield in_trial


def _open(
    task: Task, containers: Containers, image: Image, trial: AgentTrial
) -> AbstractContextManager[AgentTrial]:
    bounds = task.settings.bounds
    own = [(step.agent_s, step.verifier_s) for step in task.settings.steps] or [(None, None)]
    seconds = sum(
        (agent_s or bounds.agent_s) + (verifier_s or bounds.verifier_s) + 2 * _HAND_OVER_S
        for agent_s, verifier_s in own
    )
    return containers.open_network(
        image,
        trial=trial,
        services=service_specs(task, containers, 2 * seconds),
        main=task.files.main,
    )


def network_of_servers(task: Task, run: AgentRun) -> str:
    """Return whose network the tests join, in a trial with a network of its own."""
    if task.files.services:
        return "services"
    return "agent" if run.servers else "none"


def collect_from_services(
    task: Task, left: Outputs, containers: Containers, trial: AgentTrial
) -> Outputs:
    """Add the files that a task collects from its services to an agent's outputs."""
    if not task.settings.services_collected:
        return left
    commands = tuple(
        ServiceCommand(
            service=one.service,
            command=("sh", "-c", one.command),
            timeout_s=one.timeout_s,
            user=one.user,
        )
        for one in task.settings.collected
        if one.service
    )
    return containers.collect(
        left,
        trial=trial,
        limits=agent_limits(task),
        commands=commands,
        paths=task.settings.service_outputs,
    )
