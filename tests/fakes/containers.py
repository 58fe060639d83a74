"""Implement the containers port without containers; tests set the outcome of each trial."""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from agon.app.containers import (
    AgentOutcome,
    AgentRun,
    AgentStep,
    AgentTrial,
    BuildFailed,
    CleanupSummary,
    ContainerEngine,
    ContainerGone,
    ContainerResult,
    Image,
    ImageSpec,
    Limits,
    Mount,
    Outcome,
    Outputs,
    ServiceSpec,
    Shell,
    Stream,
    TaskTests,
    TrialVerification,
)
from agon.app.containers.collection import ServiceCommand, ServicePath
from agon.app.containers.egress import Egress
from agon.errors import Unavailable

if TYPE_CHECKING:
    from agon.app.containers.pass_rule import PassRule

_ENGINE = ContainerEngine(
    name="fake", version="1", runtime="none", cgroups="none", limits_cpus=False
)


class FakeShell:
    """Return outputs of commands from a table; an unknown command fails with 127."""

    def __init__(self, answers: dict[str, str], *, ends_after: int | None = None) -> None:
        self._answers = answers
        self._left = ends_after
        self.ran: list[tuple[Sequence[str], float]] = []

    def execute(self, command: Sequence[str], *, timeout_s: float) -> AgentStep:
        """Return the output for the last word of a command."""
        if self._left is not None and len(self.ran) >= self._left:
            raise ContainerGone
        self.ran.append((tuple(command), timeout_s))
        output = self._answers.get(command[-1].strip())
        return AgentStep(
            exit_code=127 if output is None else 0,
            stdout=(output or "").encode(),
            stderr=b"" if output is not None else b"not found",
            timed_out=False,
            truncated=False,
        )


class FakeContainers:
    """Run nothing; every agent finishes and every trial passes by default.

    Args:
        agent: the agent's outcome by trial name and attempt.
        verdict: the tests' outcome by trial name and the agent's command.
        unbuildable: names of tasks whose image cannot be built.
        shell: the shell that drivers use.
        rewards: the rewards of every trial.
        left: the files that an agent leaves, by trial name; a shebang makes one executable.
        logs: the files that the tests leave in /logs, by trial name.
        ended: the exit code of an agent that finishes, and what agents write to stderr.
    """

    def __init__(
        self,
        *,
        agent: Callable[[str, int], AgentOutcome] = lambda _name, _attempt: "finished",
        verdict: Callable[[str, tuple[str, ...]], Outcome] = lambda _name, _command: "passed",
        unbuildable: Sequence[str] = (),
        shell: FakeShell | None = None,
        left: Callable[[str], Mapping[str, str]] = lambda _name: {},
        rewards: Mapping[str, float] = MappingProxyType({}),
        logs: Callable[[str], Mapping[str, str]] = lambda _name: {},
        ended: tuple[int, str] = (0, "said\n"),
    ) -> None:
        self._agent = agent
        self._verdict = verdict
        self._unbuildable = unbuildable
        self._shell = shell or FakeShell({})
        self._left = left
        self._rewards = dict(rewards)
        self._logs = logs
        self._exit_code, self._stderr = ended
        self._lock = Lock()
        self._commands: dict[str, tuple[str, ...]] = {}
        self.recipes: list[ImageSpec] = []
        self.contexts: list[list[str]] = []
        self.ran: list[str] = []
        self.verified: list[tuple[str, Path]] = []
        self.mounts: list[Mount] = []
        self.environments: list[dict[str, str]] = []
        self.limits: list[Limits] = []
        self.tests: list[list[str]] = []
        self.pass_rules: list[PassRule] = []
        self.networks: list[str] = []
        self.opened: list[AgentTrial] = []
        self.egress_closed: list[tuple[str, int]] = []
        self.proxy_dies = False
        self.proxy_missing = False
        self.services: list[ServiceSpec] = []
        self.collected: list[ServiceCommand | ServicePath] = []
        self.build_network = "none"
        self.cleaned: list[str | None] = []
        self.closed = False
        self.tested_images: list[Image] = []
        self.test_users: list[str] = []

    @property
    def engine(self) -> ContainerEngine:
        """Return a fake engine."""
        return _ENGINE

    def build(self, recipe: ImageSpec) -> Image:
        """Store the requested image."""
        self.recipes.append(recipe)
        folder = recipe.context
        self.contexts.append(sorted(p.name for p in folder.iterdir()) if folder else [])
        if folder is not None and folder.parent.name in self._unbuildable:
            raise BuildFailed("RUN false: exit code 1")
        content = hashlib.sha256(str(folder).encode()).hexdigest()
        return Image(
            reference=content,
            content=content,
            user="",
            writable=("/app",),
            cached=False,
            seconds=0.5,
        )

    @contextmanager
    def open_network(
        self,
        image: Image,  # noqa: ARG002 (the protocol's signature)
        *,
        trial: AgentTrial,
        services: Sequence[ServiceSpec] = (),
        main: str = "",  # noqa: ARG002
    ) -> Iterator[AgentTrial]:
        """Yield the trial with a network of its name."""
        self.opened.append(trial)
        self.services += services
        yield replace(trial, network=f"container:{trial.name}")

    def require_egress(self, egress: Egress) -> None:
        """Require nothing, unless the proxy is not installed."""
        if self.proxy_missing and egress.mode == "allowlist":
            raise Unavailable("the proxy for --agent-network allowlist is missing")

    def collect(
        self,
        outputs: Outputs,
        *,
        trial: AgentTrial,  # noqa: ARG002 (the protocol's signature)
        limits: Limits,  # noqa: ARG002
        commands: Sequence[ServiceCommand] = (),
        paths: Sequence[ServicePath] = (),
    ) -> Outputs:
        """Record what is collected."""
        self.collected += [*commands, *paths]
        return outputs

    def select(
        self,
        outputs: Outputs,
        paths: Sequence[str],
        *,
        excluded: Sequence[tuple[str, tuple[str, ...]]] = (),  # noqa: ARG002
        folder: Path,  # noqa: ARG002
    ) -> Outputs:
        """Return the outputs as if they were these paths."""
        return replace(outputs, declared=tuple(paths))

    def close_egress(self, trial: AgentTrial) -> None:
        """Store that the agent reaches nothing from now on, before how many verdicts."""
        self.egress_closed.append((trial.name, len(self.networks)))
        if self.proxy_dies:
            raise Unavailable("the proxy of the agent's network ended before the agent")

    def run_agent(
        self,
        image: Image,  # noqa: ARG002 (the protocol's signature)
        command: Sequence[str],
        *,
        trial: AgentTrial,
        limits: Limits,
        outputs: Sequence[str] = ("/app",),
        mounts: Sequence[Mount] = (),
        environment: Sequence[tuple[str, str]] = (),
    ) -> AgentRun:
        """Return the configured outcome."""
        with self._lock:
            self.ran.append(trial.name)
            self._commands[trial.name] = tuple(command)
            self.mounts += mounts
            self.environments.append(dict(environment))
            self.limits.append(limits)
            outcome = self._agent(trial.name, self.ran.count(trial.name))
        code = self._exit_code if outcome == "finished" else None
        account = _account(trial.folder, "agent", code, stderr=self._stderr)
        files = self._left(trial.name)
        judged = outcome == "finished" or (outcome, trial.agent_timeout) == ("timeout", "verify")
        left = _outputs(trial.folder, outputs, files)
        reason = "" if outcome == "finished" else f"set to be {outcome}"
        return AgentRun(
            outcome=outcome,
            reason=reason,
            account=account,
            outputs=left if judged else None,
            servers=trial.servers_s > 0,
            archive=left.path if outcome in {"finished", "timeout"} else None,
        )

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
        """Let the driver run commands in the fake shell."""
        driver(self._shell)
        return self.run_agent(
            image,
            ("driven",),
            trial=trial,
            limits=limits,
            outputs=outputs,
            mounts=mounts,
            environment=environment,
        )

    def verify(
        self,
        image: Image,
        outputs: Outputs,
        tests: TaskTests,
        *,
        trial: AgentTrial,
        limits: Limits,
    ) -> TrialVerification:
        """Return the configured outcome."""
        with self._lock:
            mounted = () if image.has_tests else tests.folder.iterdir()
            self.tests.append(sorted(path.name for path in mounted))
            self.environments.append(dict(tests.environment))
            self.tested_images.append(image)
            self.limits.append(limits)
            self.pass_rules.append(tests.pass_rule)
            self.networks.append(trial.network if tests.network == "none" else tests.network)
            self.test_users.append(trial.tests_user)
            self.verified.append((trial.name, outputs.path))
            outcome = self._verdict(trial.name, self._commands.get(trial.name, ()))
        code = {"passed": 0, "failed": 1}.get(outcome)
        return TrialVerification(
            outcome=outcome,
            reason="" if outcome == "passed" else f"tests: set to be {outcome}",
            reward=min(self._rewards.values(), default=None),
            rewards=self._rewards,
            account=_account(trial.folder, "verifier", code),
            logs=_archive(trial.folder / "logs.tar", self._logs(trial.name)),
        )

    def clean(self, run: str | None = None, *, images: bool = False) -> CleanupSummary:  # noqa: ARG002
        """Record the call."""
        self.cleaned.append(run)
        return CleanupSummary(containers=0, images=0)

    def close(self) -> None:
        """Record the call."""
        self.closed = True

    def __enter__(self) -> Self:
        """Return the fake itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


def _account(
    folder: Path, part: str, exit_code: int | None, *, stderr: str = "said\n"
) -> ContainerResult:
    streams = []
    for name, text in (("stdout", "said\n"), ("stderr", stderr)):
        path = folder / f"{part}.{name}"
        size = path.write_bytes(text.encode())
        streams.append(Stream(path=path, stored=size, total=size))
    return ContainerResult(
        exit_code=exit_code,
        started_at=0.0,
        wall_ms=20.0,
        command_ms=10.0,
        limits_hit=() if exit_code is not None else ("time",),
        stdout=streams[0],
        stderr=streams[1],
        flags=("--network", "none"),
        engine=_ENGINE,
        attempts=1,
    )


def _outputs(folder: Path, declared: Sequence[str], files: Mapping[str, str]) -> Outputs:
    return Outputs(
        path=_archive(folder / "outputs.tar", files),
        declared=tuple(declared),
        files=len(files),
        size=sum(map(len, files.values())),
        sha256="",
        left_out=(),
        left_out_total=0,
    )


def _archive(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.removeprefix("/"))
            entry.size, entry.mode = len(text.encode()), 0o755 if text[:2] == "#!" else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path
