"""Give the containers of a trial a network of their own, which leads nowhere.

A container of agon's own has the network: it runs one process, which waits, and which nothing in
the other containers can reach. So the network stays whatever happens to those.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from agon.app.containers import AgentTrial, Image, Limits, ServiceSpec
from agon.errors import Unavailable
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.first_process import PRIVATE
from agon.runners.containers.isolation import (
    isolation_flags,
    labels,
    network_of,
    passes_descriptors,
)
from agon.runners.containers.runs import ContainerRunner
from agon.runners.containers.trial_services import TrialServices

_DAY_S: Final = 86_400
_LIMITS: Final = Limits(timeout_s=7 * _DAY_S, memory_mib=64, storage_mib=1, processes=8)
_WAITING: Final = ("-c", f"exec {PRIVATE}/sleep {8 * _DAY_S}")


class TrialNetworks:
    """Opens networks of trials with one engine."""

    def __init__(
        self, engine: CommandLine, runner: ContainerRunner, lifeline: CleanupGuard
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._lifeline = lifeline

    @contextmanager
    def open(
        self, image: Image, trial: AgentTrial, services: Sequence[ServiceSpec], main: str
    ) -> Iterator[AgentTrial]:
        """Yield the trial with its network; at the end all containers in it are removed.

        Raises:
            Unavailable: the engine fails, or cannot keep servers; a service does not work.
        """
        if trial.servers_s > 0 and not passes_descriptors(self._engine.named):
            raise Unavailable(
                f"{self._engine.named.name} with the runtime {self._engine.named.runtime or '?'} "
                "cannot keep servers for the tests; use podman with runc or crun"
            )
        name = self._runner.new_name(trial.run)
        network = network_of(name)
        placed = replace(trial, network=network)
        running = TrialServices(self._engine, self._runner, placed)
        aliases = (alias for service in services for alias in (service.name, *service.aliases))
        try:
            self._runner.name_hosts(network, (*filter(None, (main,)), *aliases))
            try:
                self._start(name, image, trial)
            except EngineError as error:
                raise Unavailable(f"the network of the trial did not start: {error}") from None
            running.start(services)
            yield placed
        finally:
            self._runner.end_servers(network)
            running.end()
            self._runner.remove(name)
            self._runner.name_hosts(network, ())

    def _start(self, name: str, image: Image, trial: AgentTrial) -> None:
        flags = isolation_flags(
            self._engine.named,
            replace(image, user="", writable=()),
            _LIMITS,
            logs=False,
            system_calls=self._runner.system_calls["verifier", True],
        )
        self._engine.ask(
            *("run", "--detach", f"--name={name}"),
            *labels(trial, owner=self._runner.owner, phase="network"),
            *(flag for flag in flags if not flag.startswith("--cap-add")),
            *(image.reference, *_WAITING),
            inherited=(self._lifeline.inherited,),
        )
