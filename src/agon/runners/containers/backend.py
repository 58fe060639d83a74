"""Implement :class:`agon.app.containers.Containers` with an engine's command line."""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from agon.app.containers import (
    AGENT_LOGS,
    AgentRun,
    AgentTrial,
    CleanupSummary,
    ContainerEngine,
    Image,
    ImageSpec,
    Limits,
    Mount,
    Outputs,
    ServiceSpec,
    Shell,
    TaskTests,
    TrialVerification,
)
from agon.app.containers.collection import ServiceCommand, ServicePath
from agon.app.containers.egress import Egress
from agon.app.containers.home_settings import replaced_paths
from agon.errors import NotFound, Unavailable
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.driver import WAITING, drive
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.first_process import (
    OUTPUTS,
    OUTPUTS_OWNERS,
    require_command,
    shell_command,
)
from agon.runners.containers.images.image_folders import require_outputs, require_target, within
from agon.runners.containers.images.images import Images
from agon.runners.containers.images.proxy_image import require_egress
from agon.runners.containers.images.unfinished_builds import remove_unfinished_builds
from agon.runners.containers.isolation import (
    LABEL,
    BindMount,
    is_root,
    name_pattern,
    passes_descriptors,
)
from agon.runners.containers.networks.egress_networks import proxy_variables, remove_networks
from agon.runners.containers.networks.trial_networks import TrialNetworks
from agon.runners.containers.remover import ContainerRemover
from agon.runners.containers.run_specs import ContainerRun, RunSpec, agent_run, verification_of
from agon.runners.containers.runs import ContainerRunner
from agon.runners.containers.staging import StagingFolder
from agon.runners.containers.state_archives import select_outputs, write_owners, write_start
from agon.runners.containers.tests_variables import MODULES, variables_of_tests

_KEEPING_OWNER: Final = (("TAR_OPTIONS", "--no-same-owner"),)
"""Root of a container may not write to the files of others, so unpacked archives stay its own."""
_MAX_LINE_BYTES: Final = 256
_CLEANUP_ROUNDS: Final = 6
_TEST: Final = "/tests/test.sh"
_START: Final = "start.tar"
_OWNERS: Final = "start.owners"
"""What an agent's container begins with, in the trial's folder while it runs."""
_MODULE: Final = Path(__file__).with_name("inside") / "sitecustomize.py"


class CommandLineContainers:
    """Run agents and tests with ``podman`` or ``docker``.

    A separate process removes the containers if this one is killed.
    """

    def __init__(self, engine: CommandLine, *, build_network: str = "none") -> None:
        """Create the temporary folder and the cleanup process.

        Args:
            engine: an engine that works.
            build_network: the network that Dockerfiles have while they are built.
        """
        self._engine = engine
        self._owner = f"agon-{secrets.token_hex(6)}"
        self._scratch = Path(tempfile.mkdtemp(prefix=f"{self._owner}-"))
        pattern = name_pattern(self._owner)
        try:
            (self._scratch / "stage").mkdir()
            self._lifeline = CleanupGuard(engine, pattern=pattern, folder=self._scratch)
        except BaseException:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise
        self._removals = ContainerRemover(engine)
        self._images = Images(engine, network=build_network, owner=self._owner)
        self._stage = StagingFolder(self._scratch / "stage")
        self._attempts = ContainerRunner(
            engine, owner=self._owner, scratch=self._scratch, lifeline=self._lifeline,
            removals=self._removals,
        )  # fmt: skip
        self._networks = TrialNetworks(engine, self._attempts, self._lifeline, self._scratch)

    @property
    def engine(self) -> ContainerEngine:
        """The engine, as every result records it."""
        return self._engine.named

    @property
    def build_network(self) -> str:
        """The network of builds."""
        return self._images.network

    def build(self, recipe: ImageSpec) -> Image:
        """Return a task's image, built or cached by the hash of its content."""
        return self._images.build(recipe)

    def require_egress(self, egress: Egress) -> None:
        """Require the proxy, and an engine with networks of its own, where agents need them."""
        require_egress(self._engine, egress)

    def open_network(
        self,
        image: Image,
        *,
        trial: AgentTrial,
        services: Sequence[ServiceSpec] = (),
        main: str = "",
    ) -> AbstractContextManager[AgentTrial]:
        """Return a context that yields the trial with a network of its own."""
        self._require_open()
        return self._networks.open(image, trial, services, main)

    def close_egress(self, trial: AgentTrial) -> None:
        """Cut a trial's network off from everything outside."""
        self._networks.close_egress(trial)

    def collect(
        self,
        outputs: Outputs,
        *,
        trial: AgentTrial,
        limits: Limits,
        commands: Sequence[ServiceCommand] = (),
        paths: Sequence[ServicePath] = (),
    ) -> Outputs:
        """Run commands in services, and return the outputs with what the services have."""
        collection = self._networks.collection(trial, limits)
        collection.run(commands)
        return collection.add(outputs, paths)

    def select(
        self,
        outputs: Outputs,
        paths: Sequence[str],
        *,
        excluded: Sequence[tuple[str, tuple[str, ...]]] = (),
        folder: Path,
    ) -> Outputs:
        """Return a part of an agent's outputs, in an archive of its own."""
        return select_outputs(outputs, paths, excluded=excluded, target=folder / "selected.tar")

    def run_agent(
        self,
        image: Image,
        command: Sequence[str],
        *,
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run an agent that is a command in the container, and return its outputs."""
        spec = self._agent_order(image, command, trial, limits, outputs, mounts, environment)
        return self._finish(self._attempts.run(spec), spec)

    def drive_agent(
        self,
        image: Image,
        driver: Callable[[Shell], None],
        *,
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Run a driver on the host that acts in a container, and return its outputs."""
        spec = self._agent_order(image, WAITING, trial, limits, outputs, mounts, environment)
        return self._finish(drive(self._attempts, self._engine, spec, driver), spec)

    def verify(
        self,
        image: Image,
        outputs: Outputs,
        tests: TaskTests,
        *,
        trial: AgentTrial,
        limits: Limits,
    ) -> TrialVerification:
        """Run ``test.sh`` on an agent's outputs in a fresh container.

        Raises:
            NotFound: the outputs or the tests do not exist.
            Unavailable: the containers are closed.
        """
        self._require_open()
        for path in (outputs.path, tests.folder / "test.sh"):
            if not path.is_file():
                raise NotFound(f"{path} does not exist; it is needed to verify a trial")
        staged = self._stage.show(tests.folder)
        with (staged / "test.sh").open("rb") as script:
            command = shell_command(_TEST, script.readline(_MAX_LINE_BYTES))
        spec = RunSpec(
            phase="verifier",
            image=replace(
                image,
                reference=image.tests_reference or image.reference,
                user=trial.tests_user or image.user,
            ),
            user=trial.tests_user,
            command=command,
            trial=trial,
            limits=limits,
            binds=(
                *(() if image.has_tests else (BindMount(staged, "/tests"),)),
                BindMount(outputs.path.resolve(), OUTPUTS),
                BindMount(self._stage.show(_MODULE), f"{MODULES}/{_MODULE.name}"),
            ),
            environment=variables_of_tests(image, outputs.declared, tests.environment),
            replaced=replaced_paths(outputs.declared, image.home),
            unpacked=outputs.files,
            handed=("/logs",),
            archive="logs.tar",
            network=trial.network if tests.network == "none" else tests.network,
        )
        run = self._attempts.run(spec)
        verification, is_doubtful = verification_of(run, tests.pass_rule)
        if is_doubtful and run.account.attempts == 1:
            again = self._attempts.once(spec, number=2)
            verification, _ = verification_of(again, tests.pass_rule)
        return verification

    def clean(self, run: str | None = None, *, images: bool = False) -> CleanupSummary:
        """Remove the containers of a run, or of all runs, and on request the images built.

        Builds whose owner has ended are removed as well.

        Raises:
            Unavailable: the engine fails.
        """
        try:
            containers = self._remove_all(run) + remove_unfinished_builds(self._engine)
            remove_networks(self._engine, run)
            removed = self._images.remove_all() if images else 0
        except EngineError as wrong:
            raise Unavailable(f"{self.engine.name}: {wrong}") from None
        return CleanupSummary(containers=containers, images=removed)

    def _remove_all(self, run: str | None) -> int:
        """Remove a run's containers, or all, until none is left; return their number.

        One whose start was killed may resist the first time.

        Raises:
            EngineError: some cannot be removed.
        """
        label = f"{LABEL}.run" if run is None else f"{LABEL}.run={run}"
        removed: set[str] = set()
        cause = EngineError("some containers cannot be removed")
        for _ in range(_CLEANUP_ROUNDS):
            try:
                labeled = self._engine.containers(label)
                named = self._engine.containers_named(name_pattern(run=run))
                names = list(dict.fromkeys((*labeled, *named)))
                if run is None and removed:  # other runs may start further ones meanwhile
                    names = [name for name in names if name in removed]
                if not names:
                    return len(removed)
                removed.update(names)
                self._engine.remove(names)
            except EngineError as wrong:
                cause = wrong
        raise cause

    def close(self) -> None:
        """Remove this process's containers and temporary files; may be called twice."""
        if self._attempts.closed:
            return
        self._attempts.close()
        self._removals.close()
        self._lifeline.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _agent_order(  # what two public methods take, in their spec
        self,
        image: Image,
        command: Sequence[str],
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str],
        mounts: Sequence[Mount],
        environment: Sequence[tuple[str, str]],
    ) -> RunSpec:
        self._require_open()
        require_command(command)
        require_outputs(outputs, image)
        for mount in mounts:
            require_target(mount.target, image)
        leaves = self._leaves_root(image, trial)
        user = "" if leaves else trial.user
        outputs = (*outputs, *(path for path in AGENT_LOGS if path not in outputs))
        state, start = trial.state, self._start_of(trial)
        owners = _owners_of(trial, start) if leaves and state and start else None
        return RunSpec(
            phase="agent",
            image=replace(image, user=user or image.user),
            user=user,
            owned=leaves,
            command=tuple(command),
            trial=trial,
            limits=limits,
            binds=(
                *(BindMount(self._stage.show(mount.source), mount.target) for mount in mounts),
                *((BindMount(start.resolve(), OUTPUTS),) if start else ()),
                *((BindMount(owners.resolve(), OUTPUTS_OWNERS),) if owners else ()),
            ),
            replaced=replaced_paths(state.declared, image.home) if state else (),
            unpacked=max(1, state.files) if state else 0,  # one without entries is its doing too
            environment=(
                *(_KEEPING_OWNER if is_root(user or image.user) else ()),
                *(*proxy_variables(trial.proxy), *environment),
            ),
            handed=tuple(
                path for path in outputs if not any(within(path, other) for other in outputs)
            ),
            declared=tuple(outputs),
            archive="outputs.tar",
            network=trial.network,
        )

    def _start_of(self, trial: AgentTrial) -> Path | None:
        """Return the archive that an agent's container begins with; None: with the image alone."""
        state = trial.state.path if trial.state else None
        if not trial.laid:
            return state
        start = trial.folder / _START
        folders = [(self._stage.show(one.source), one.target) for one in trial.laid]
        write_start(start, state, folders)
        return start

    def _finish(self, run: ContainerRun, spec: RunSpec) -> AgentRun:
        """Return the agent's part; what only its container needed to begin is removed."""
        for name in (_START, _OWNERS):
            (spec.trial.folder / name).unlink(missing_ok=True)
        return agent_run(run, spec)

    def _leaves_root(self, image: Image, trial: AgentTrial) -> bool:
        """Return whether an agent with another user begins as root, which may change to it.

        So it does not get what the image keeps from it. Elsewhere its whole container has its user.
        """
        return (
            bool(trial.user)
            and not is_root(trial.user)
            and is_root(image.user)
            and passes_descriptors(self.engine)
        )

    def _require_open(self) -> None:
        if self._attempts.closed:
            raise Unavailable("the containers are closed; open them again")


def _owners_of(trial: AgentTrial, start: Path) -> Path:
    """Return the file that lists what of an archive to begin with belongs to which user."""
    write_owners(owners := trial.folder / _OWNERS, start)
    return owners
