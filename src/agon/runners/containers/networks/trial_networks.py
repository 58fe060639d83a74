"""Give the containers of a trial a network of their own, which leads nowhere or where it may.

A container of agon's own has the network: it runs one process, which waits, and which nothing in
the other containers can reach. So the network stays whatever happens to those.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from agon.app.containers import AgentTrial, Image, Limits, ServiceSpec
from agon.errors import Unavailable
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.first_process import PRIVATE
from agon.runners.containers.images.base_image import import_base_image
from agon.runners.containers.isolation import (
    isolation_flags,
    labels,
    network_of,
    passes_descriptors,
)
from agon.runners.containers.networks.egress_networks import (
    create_network,
    only_route,
    outside,
    remove_network,
)
from agon.runners.containers.networks.service_collection import ServiceCollection
from agon.runners.containers.networks.trial_proxy import PORT, TrialProxy
from agon.runners.containers.networks.trial_services import TrialServices
from agon.runners.containers.runs import ContainerRunner

_DAY_S: Final = 86_400
_LIMITS: Final = Limits(timeout_s=7 * _DAY_S, memory_mib=64, storage_mib=1, processes=8)
_BARE: Final = Image(reference="", content="", user="", writable=(), cached=True, seconds=0.0)
"""No image of a task: the container that has the network has nothing else."""
_ROUTE_S: Final = 30.0
_ROUND_S: Final = 0.1


class TrialNetworks:
    """Opens networks of trials with one engine."""

    def __init__(
        self, engine: CommandLine, runner: ContainerRunner, lifeline: CleanupGuard, scratch: Path
    ) -> None:
        self._engine = engine
        self._runner = runner
        self._lifeline = lifeline
        self._scratch = scratch
        self._services: dict[str, TrialServices] = {}
        self._exits: dict[str, tuple[str, TrialProxy | None]] = {}

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
        aliases = (alias for service in services for alias in (service.name, *service.aliases))
        try:
            self._runner.name_hosts(network, (*filter(None, (main,)), *aliases))
            try:
                placed = self._start_network(name, image, placed)
            except EngineError as error:
                raise Unavailable(f"the network of the trial did not start: {error}") from None
            running = TrialServices(self._engine, self._runner, placed)
            self._services[network] = running
            try:
                running.start(services)
                yield placed
            finally:
                self._services.pop(network, None)
                self._runner.end_servers(network)
                running.end()
        finally:
            with suppress(Unavailable):  # the trial has ended already, for another reason
                self.close_egress(placed)
            self._runner.remove(name)
            self._runner.name_hosts(network, ())
            if trial.egress.mode == "allowlist":
                remove_network(self._engine, name)

    def collection(self, trial: AgentTrial, limits: Limits) -> ServiceCollection:
        """Return what collects from the services of a trial.

        Raises:
            Unavailable: the trial has no services.
        """
        if (services := self._services.get(trial.network)) is None:
            raise Unavailable("the trial has no services that run; collect within its network")
        return ServiceCollection(self._engine, services, trial, limits)

    def close_egress(self, trial: AgentTrial) -> None:
        """Cut a trial's network off from everything outside, once.

        Raises:
            Unavailable: the proxy had ended, or the engine fails.
        """
        if (way := self._exits.pop(trial.network, None)) is None:
            return
        joined, proxy = way
        try:
            if proxy is not None:
                proxy.end()
            holder = trial.network.partition(":")[2]
            self._engine.ask("network", "disconnect", "--force", joined, holder)
        except EngineError as error:
            raise Unavailable(f"the network of the trial cannot be closed: {error}") from None

    def _start_network(self, name: str, image: Image, trial: AgentTrial) -> AgentTrial:
        """Start the container that has the network; return the trial with its proxy.

        Raises:
            EngineError: the engine fails.
            Unavailable: the proxy does not start.
        """
        if trial.egress.mode == "none":
            self._start(name, image.reference, trial)
            return trial
        base = import_base_image(self._engine)
        if trial.egress.mode == "public":
            joined = outside(self._engine)
            self._exits[trial.network] = (joined, None)
            self._start(name, base, trial, network=joined)
            return trial
        create_network(self._engine, name, trial, owner=self._runner.owner)
        proxy = TrialProxy(
            self._engine, self._runner, self._lifeline, trial, self._scratch / f"proxy of {name}"
        )
        self._exits[trial.network] = (name, proxy)
        address = proxy.start(name, outside(self._engine))
        self._start(name, base, trial, network=name, before=only_route(address))
        self._require_route(name, address)
        return replace(trial, proxy=f"http://{address}:{PORT}")

    def _require_route(self, name: str, address: str) -> None:
        """Require that a network leads to its proxy and nowhere else.

        Raises:
            Unavailable: it does not.
        """
        deadline = time.monotonic() + _ROUTE_S
        while (routes := self._engine.ask("exec", name, "ip", "route").strip()) != (
            f"{address} dev eth0 scope link"
        ):
            if time.monotonic() > deadline:
                raise Unavailable(f"the network of the trial has other routes: {routes!r}")
            time.sleep(_ROUND_S)

    def _start(
        self,
        name: str,
        image: str,
        trial: AgentTrial,
        *,
        network: str = "none",
        before: str = "",
    ) -> None:
        flags = isolation_flags(
            self._engine.named,
            _BARE,
            _LIMITS,
            agent=True,
            system_calls=self._runner.system_calls["verifier", True],
            network=network,
        )
        own = ("--cap-add", "--security-opt=seccomp") if before else ("--cap-add",)
        sleep = f"exec {'sleep' if network != 'none' else f'{PRIVATE}/sleep'} {8 * _DAY_S}"
        self._engine.ask(
            *("run", "--detach", f"--name={name}"),
            *labels(trial, owner=self._runner.owner, phase="network"),
            *(flag for flag in flags if not flag.startswith(own)),
            *(("--cap-add=NET_ADMIN",) if before else ()),
            *(("--entrypoint=/bin/sh", "--read-only") if network != "none" else ()),
            *(image, "-c", before + sleep),
            inherited=(self._lifeline.inherited,),
        )
