"""Run the services of a trial: containers in its network, from its beginning to its end."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Final

from agon.app.containers import AgentTrial, Condition, ContainerGone, HealthCheck, ServiceSpec
from agon.app.containers.collection import ServiceCommand
from agon.errors import Unavailable
from agon.runners.containers.driver import ContainerShell
from agon.runners.containers.engine import CommandLine, last_line
from agon.runners.containers.first_process import LINKS
from agon.runners.containers.run_specs import ContainerRun, RunSpec
from agon.runners.containers.runs import ContainerRunner

_ROUND_S: Final = 0.5
_ROUNDS: Final = 120


@dataclass(frozen=True)
class _RunningService:
    spec: ServiceSpec
    name: str
    shell: ContainerShell
    running: "Future[ContainerRun]"


class TrialServices:
    """The containers of a task's services, on a network of one trial alone."""

    def __init__(self, engine: CommandLine, runner: ContainerRunner, trial: AgentTrial) -> None:
        """Start nothing yet.

        Args:
            engine: the container engine.
            runner: runs the containers.
            trial: the trial, with its network.
        """
        self._engine = engine
        self._runner = runner
        self._trial = replace(trial, servers_s=0.0)
        self._pool: ThreadPoolExecutor | None = None
        self._services: dict[str, _RunningService] = {}

    def start(self, services: Sequence[ServiceSpec]) -> None:
        """Start services in their order; return when those with a health check work.

        Raises:
            Unavailable: one does not start, or does not work in time, with the end of its stderr.
        """
        if not services:
            return
        self._pool = ThreadPoolExecutor(len(services), thread_name_prefix="service")
        for spec in services:
            for name, condition in spec.depends_on:
                self._wait(self._services[name], condition)
            self._services[spec.name] = self._start(self._pool, spec)
        for service in self._services.values():
            self._wait(service, "healthy" if service.spec.health else "started")

    def container(self, service: str) -> str:
        """Return the name of a service's container."""
        return self._services[service].name

    def execute(self, command: ServiceCommand) -> None:
        """Run a command in a service; its exit code and output are not read.

        Raises:
            ContainerGone: the service has ended.
        """
        self._services[command.service].shell.execute(
            command.command, timeout_s=command.timeout_s, user=command.user
        )

    def end(self) -> None:
        """Remove the services' containers, and wait until their clients have ended."""
        for _ in range(_ROUNDS):
            left = [each for each in self._services.values() if not each.running.done()]
            if not left:
                break
            for service in left:
                self._runner.remove(service.name)
            wait([service.running for service in left], timeout=_ROUND_S)
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self, pool: ThreadPoolExecutor, service: ServiceSpec) -> _RunningService:
        trial = replace(self._trial, folder=self._trial.folder / "services" / service.name)
        trial.folder.mkdir(parents=True)
        spec = RunSpec(
            phase="agent",
            image=service.image,
            command=service.command,
            trial=trial,
            limits=service.limits,
            environment=service.environment,
            handed=(LINKS,),
            archive="outputs.tar",
            network=trial.network,
        )
        name = self._runner.new_name(trial.run)
        shell = ContainerShell(self._engine, name, self._runner.account_of(name), spec)
        running = pool.submit(self._runner.once, spec, number=1, name=name)
        shell.follow(running)
        return _RunningService(service, name, shell, running)

    def _wait(self, service: _RunningService, condition: Condition) -> None:
        """Wait until a service is as another needs it.

        Raises:
            Unavailable: it is not, in time.
        """
        try:
            if condition == "completed":
                _wait_until_completed(service)
            elif condition == "started" or service.spec.health is None:
                _wait_until_started(service)
            else:
                _wait_until_healthy(service.shell, service.spec.health)
        except (ContainerGone, TimeoutError):
            cause = f" ({text})" if (text := _cause(service)) else ""
            raise Unavailable(
                f"the service {service.spec.name} is not {condition}{cause}; correct it in the "
                "compose file"
            ) from None


def _cause(service: _RunningService) -> str:
    """Return the end of what a service that has ended printed, or why it ended."""
    if not service.running.done():
        return ""
    ended = service.running.result()
    return last_line(ended.account.stderr.path.read_bytes()) or ended.diagnosis.reason


def _wait_until_started(service: _RunningService) -> None:
    """Wait until a service has begun; it may have ended since.

    Raises:
        ContainerGone: it did not begin.
    """
    try:
        service.shell.wait_until_begun()
    except ContainerGone:
        if service.running.result().report is None:
            raise


def _wait_until_completed(service: _RunningService) -> None:
    """Wait until a service has ended with 0.

    Raises:
        ContainerGone: it ended otherwise.
        TimeoutError: it does not end in time.
    """
    ended = service.running.result(timeout=service.spec.limits.timeout_s)
    if ended.report is None or ended.report.exit_code:
        raise ContainerGone


def _wait_until_healthy(shell: ContainerShell, health: HealthCheck) -> None:
    """Wait until a health check passes.

    Raises:
        ContainerGone: the service has ended.
        TimeoutError: it does not pass in time.
    """
    deadline = time.monotonic() + health.patience_s
    while shell.execute(health.command, timeout_s=health.timeout_s).exit_code:
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(min(_ROUND_S, health.interval_s))
