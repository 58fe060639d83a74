"""Run one container from its specification to its result, and once more after an internal error."""

import math
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Condition
from typing import Any, Final

from agon.app.containers import ContainerResult, Image, Limits, Trial
from agon.errors import InvalidRule
from agon.runners.containers.archive_filter import (
    FilteredArchive,
    InvalidArchive,
    OutputRules,
    TooManyEntries,
    filter_archive,
)
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.client_process import ClientResult, Started, run_client
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.first_process import (
    LINKS,
    ProcessReport,
    arguments,
    has_begun,
    read_report,
)
from agon.runners.containers.isolation import (
    BindMount,
    binds,
    container_name,
    isolation_flags,
    labels,
    name_pattern,
    passes_descriptors,
)
from agon.runners.containers.outcomes import (
    Diagnosis,
    diagnose,
    diagnose_again,
    has_archive,
)
from agon.runners.containers.remover import ContainerRemover
from agon.runners.containers.rewards import REWARD_PATHS
from agon.runners.containers.system_calls import Phase, write_profiles

_TIMEOUT_S: Final = 60.0
_ROUND_S: Final = 0.2
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """The specification of one container.

    Attributes:
        phase: its part of the trial; also the name of its folder in the trial's folder.
        image: the image.
        command: the command to run in the working folder.
        trial: the trial.
        limits: the limits.
        binds: host files that it sees.
        environment: variables of its command.
        replaced: folders whose content is replaced by unpacked outputs.
        unpacked: number of entries of these outputs.
        handed: the paths that are written to the archive.
        declared: the paths of the outputs as they were declared, also those within others.
        archive: the name of the archive in its folder.
        network: its network.
    """

    phase: Phase
    image: Image
    command: tuple[str, ...]
    trial: Trial
    limits: Limits
    binds: tuple[BindMount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = ()
    unpacked: int = 0
    handed: tuple[str, ...]
    declared: tuple[str, ...] = ()
    archive: str
    network: str = "none"

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.trial.folder / self.phase

    @property
    def logs(self) -> bool:
        """Whether there is a writable ``/logs``."""
        return self.phase == "verifier"


@dataclass(frozen=True, kw_only=True)
class ContainerRun:
    """The result of running a specification.

    Attributes:
        diagnosis: how the command ended.
        report: the report of the first process, if there is one.
        account: the result that is recorded.
        filtered: the entries of the archive; None when there is no archive.
        archive: the path of the archive.
    """

    diagnosis: Diagnosis
    report: ProcessReport | None
    account: ContainerResult
    filtered: FilteredArchive | None
    archive: Path

    def with_diagnosis(self, diagnosis: Diagnosis) -> "ContainerRun":
        """Return the run with another diagnosis."""
        account = replace(self.account, limits_hit=diagnosis.limits_hit)
        return replace(self, diagnosis=diagnosis, account=account)


class ContainerRunner:
    """Runs containers with one engine."""

    def __init__(
        self, engine: CommandLine, *, owner: str, scratch: Path, lifeline: CleanupGuard,
        removals: ContainerRemover,
    ) -> None:  # fmt: skip
        self._engine = engine
        self._owner = owner
        self._scratch = scratch
        self._lifeline = lifeline
        self._removals = removals
        self._numbers = count(1)
        self._under_way = 0
        self._changed = Condition()
        self._system_calls = write_profiles(scratch)
        self.closed = False

    def close(self) -> None:
        """Start no more containers, and remove the running ones until all have ended."""
        self.closed = True
        deadline = time.monotonic() + _TIMEOUT_S
        while time.monotonic() < deadline:
            with self._changed:
                ended = not self._under_way
            with suppress(EngineError):  # the engine has failed; `clean` finds the rest
                self._engine.remove(self._engine.containers_named(name_pattern(self._owner)))
            if ended:
                return
            with self._changed:
                self._changed.wait_for(lambda: not self._under_way, timeout=_ROUND_S)

    def run(self, spec: RunSpec) -> ContainerRun:
        """Run a container; once more after an internal error."""
        first = self.once(spec, number=1)
        if first.diagnosis.outcome != "unscored" or self.closed:
            return first
        second = self.once(spec, number=2)
        return second.with_diagnosis(diagnose_again(first.diagnosis, second.diagnosis))

    def once(
        self, spec: RunSpec, *, number: int, name: str = "", started: Started | None = None
    ) -> ContainerRun:
        """Run one container.

        Args:
            spec: its specification.
            number: the number of the run, from 1.
            name: the name of the container; empty: a new one.
            started: called with the engine's client when it runs, to write to its stdin.
        """
        with self._changed:
            self._under_way += 1
        try:
            return self._once(spec, number, name or self.new_name(spec), started)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def _once(self, spec: RunSpec, number: int, name: str, started: Started | None) -> ContainerRun:
        spec.folder.mkdir(exist_ok=True)
        account = self._new_account(name)
        started_at = time.time()
        states: list[Mapping[str, Any] | None] = []
        inside = arguments(
            spec.command,
            limit_s=math.ceil(spec.limits.timeout_s),
            workdir=spec.image.workdir,
            replaced=spec.replaced,
            handed=((LINKS, *spec.handed) if spec.declared else spec.handed),
        )
        try:
            flags = self._flags(spec, name, account, interactive=started is not None)
            ending = run_client(
                (*self._engine.command, "run", *flags, spec.image.reference, *inside),
                account=account,
                limits=spec.limits,
                folder=spec.folder,
                remove=lambda: self._remove_described(account, states),
                inherited=self._lifeline.inherited,
                piped=passes_descriptors(self._engine.named),
                started=started,
            )
            diagnosis, report, filtered = self._take(spec, states, account, ending, started_at)
        finally:
            shutil.rmtree(account.parent)
        return ContainerRun(
            diagnosis=diagnosis,
            report=report,
            account=ContainerResult(
                exit_code=diagnosis.exit_code,
                started_at=started_at,
                wall_ms=ending.wall_s * 1000,
                command_ms=report.seconds * 1000 if report else 0.0,
                limits_hit=diagnosis.limits_hit,
                stdout=ending.stdout,
                stderr=ending.stderr,
                flags=flags,
                engine=self._engine.named,
                attempts=number,
            ),
            filtered=filtered,
            archive=spec.folder / spec.archive,
        )

    def remove(self, name: str) -> None:
        """Kill and remove a container at once."""
        self._removals.now(name)

    def new_name(self, spec: RunSpec) -> str:
        """Return a new name for a container."""
        return container_name(self._owner, spec.trial.run, next(self._numbers))

    def account_of(self, name: str) -> Path:
        """Return the path of a container's result file, in a folder of that container."""
        return self._scratch / name / "account"

    def _take(
        self,
        spec: RunSpec,
        states: Sequence[Mapping[str, Any] | None],
        account: Path,
        ending: ClientResult,
        started_at: float,
    ) -> tuple[Diagnosis, ProcessReport | None, FilteredArchive | None]:
        """Decide the outcome of a container, filter its archive, and remove it."""
        with account.open("rb") as file:
            report = read_report(file)
            if not has_archive(ending, report):
                diagnosis = self._diagnose(spec, states, account, ending, report)
                return diagnosis, report, None
            self._removals.later(account.parent.name)
            diagnosis = diagnose(ending, report, None, spec.limits, phase=spec.phase)
            try:
                filtered = filter_archive(
                    file,
                    spec.folder / spec.archive,
                    roots=spec.handed,
                    mounted=(*spec.image.writable, "/logs"),
                    files=spec.limits.files,
                    watched=REWARD_PATHS,
                    rules=OutputRules(
                        outputs=spec.declared, home=spec.image.home, since=started_at, links=LINKS
                    )
                    if spec.declared
                    else None,
                )
            except TooManyEntries:
                wrong = f"there are more than {spec.limits.files:,} entries"
            except InvalidArchive as broken:
                wrong = f"{broken}"
            except OSError:  # a full disk: give back what was taken
                (spec.folder / spec.archive).unlink(missing_ok=True)
                raise
            else:
                return diagnosis, report, filtered
        (spec.folder / spec.archive).unlink(missing_ok=True)
        if diagnosis.outcome == "finished":
            hit = (*diagnosis.limits_hit, "storage")
            reason = f"what it leaves cannot be taken over: {wrong}"
            diagnosis = Diagnosis("failed", reason, diagnosis.exit_code, hit)
        return diagnosis, report, None

    def _diagnose(
        self,
        spec: RunSpec,
        states: Sequence[Mapping[str, Any] | None],
        account: Path,
        ending: ClientResult,
        report: ProcessReport | None,
    ) -> Diagnosis:
        """Inspect a container that did not end normally, and remove it.

        Podman's monitor writes a file ``oom`` into the client's working folder when the memory was
        full; only some versions of podman read it.
        """
        try:
            if self.closed:
                return Diagnosis("unscored", "the containers were closed")
            state = states[0] if states else self._state(account)
            return diagnose(
                ending, report, state, spec.limits, phase=spec.phase, unpacked=spec.unpacked
            )
        except EngineError as wrong:
            return Diagnosis("unscored", f"the engine does not describe the container: {wrong}")
        finally:
            self._removals.now(account.parent.name)

    def _state(self, account: Path) -> Mapping[str, Any] | None:
        """Return the engine's description of a container; None when there is none.

        Raises:
            EngineError: the engine fails.
        """
        details = self._engine.inspect("container", account.parent.name) or {}
        state: Mapping[str, Any] | None = details.get("State")
        if state is not None and account.with_name("oom").exists():
            return {**state, "OOMKilled": True}
        return state

    def _remove_described(self, account: Path, states: list[Mapping[str, Any] | None]) -> None:
        """Kill and remove a container; one that has not begun is described before, in a list."""
        if not has_begun(account):
            with suppress(EngineError):
                states.append(self._state(account))
        self._removals.now(account.parent.name)

    def _flags(
        self, spec: RunSpec, name: str, account: Path, *, interactive: bool
    ) -> tuple[str, ...]:
        """Return all arguments before the image."""
        return (
            f"--name={name}",
            *labels(spec.trial, owner=self._owner, phase=spec.phase),
            *isolation_flags(
                self._engine.named,
                spec.image,
                spec.limits,
                logs=spec.logs,
                system_calls=self._system_calls[spec.phase],
                network=spec.network,
            ),
            *binds(self._engine.named, spec.binds, account),
            *_variables(spec.environment, account.with_name("variables")),
            *(("--interactive",) if interactive else ()),
        )

    def _new_account(self, name: str) -> Path:
        """Create the one file that can be written inside; its folder is private on the host."""
        account = self.account_of(name)
        account.parent.mkdir()
        account.touch()
        account.chmod(0o666)  # for any user of the image
        return account


def _variables(environment: Sequence[tuple[str, str]], file: Path) -> tuple[str, ...]:
    """Return the flags that pass variables in a file, since command lines are visible to all users.

    Raises:
        InvalidRule: a name is invalid, or a value has several lines.
    """
    if not environment:
        return ()
    for name, value in environment:
        if not _VARIABLE.fullmatch(name):
            raise InvalidRule(f"{name!r} is not the name of a variable; give letters, digits and _")
        if set(value) & set("\n\r\0"):
            raise InvalidRule(f"the variable {name} has several lines; give one")
    file.touch(0o600)
    file.write_text("".join(f"{name}={value}\n" for name, value in environment), encoding="utf-8")
    return (f"--env-file={file}",)
