"""Run one container from its specification to its result, and once more after an internal error."""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Condition
from typing import Any, Final

from agon.app.containers import AGENT_LOGS, ContainerResult
from agon.runners.containers.archive_filter import (
    FilteredArchive,
    InvalidArchive,
    OutputRules,
    TooManyEntries,
    filter_archive,
)
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.client_process import (
    ClientResult,
    ResultFile,
    RunningClient,
    Started,
    run_client,
)
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
    is_shared,
    isolation_flags,
    labels,
    name_pattern,
    passes_descriptors,
    write_hosts,
)
from agon.runners.containers.outcomes import (
    Diagnosis,
    diagnose,
    diagnose_again,
    has_archive,
)
from agon.runners.containers.remover import ContainerRemover
from agon.runners.containers.rewards import REWARD_PATHS
from agon.runners.containers.run_specs import ContainerRun, RunSpec, variable_flags
from agon.runners.containers.system_calls import write_profiles

_TIMEOUT_S: Final = 60.0
_ROUND_S: Final = 0.2
_REMOVAL_S: Final = 5.0
"""Seconds within which a container that was killed in order to be removed is gone."""


class ContainerRunner:
    """Runs containers with one engine."""

    def __init__(
        self, engine: CommandLine, *, owner: str, scratch: Path, lifeline: CleanupGuard,
        removals: ContainerRemover,
    ) -> None:  # fmt: skip
        self._engine = engine
        self.owner = owner
        self._scratch = scratch
        self._lifeline = lifeline
        self._removals = removals
        self._numbers = count(1)
        self._under_way = 0
        self._changed = Condition()
        self.system_calls = write_profiles(scratch)
        self._hosts = {"": write_hosts(scratch)}
        self._clients: dict[str, list[tuple[RunningClient, Path]]] = {}
        self.closed = False

    def close(self) -> None:
        """Start no more containers, and remove the running ones until all have ended."""
        self.closed = True
        for network in list(self._clients):
            self.end_servers(network)
        deadline = time.monotonic() + _TIMEOUT_S
        while time.monotonic() < deadline:
            with self._changed:
                ended = not self._under_way
            with suppress(EngineError):  # the engine has failed; `clean` finds the rest
                self._engine.remove(self._engine.containers_named(name_pattern(self.owner)))
            if ended:
                return
            with self._changed:
                self._changed.wait_for(lambda: not self._under_way, timeout=_ROUND_S)

    def name_hosts(self, network: str, names: Sequence[str]) -> None:
        """Name the containers of a network, for those that start afterwards; none: it has ended."""
        if not names:
            self._hosts.pop(network, None)
            return
        folder = self._scratch / f"hosts of {network.rpartition(':')[2]}"
        folder.mkdir()
        self._hosts[network] = write_hosts(folder, names)

    def _hosts_of(self, spec: RunSpec) -> BindMount:
        return self._hosts.get(spec.network, self._hosts[""])

    def end_servers(self, network: str) -> None:
        """Remove the containers of a network that went on after their commands."""
        with self._changed:
            clients = self._clients.pop(network, [])
        for client, folder in clients:
            client.end()
            shutil.rmtree(folder)

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
            return self._once(spec, number, name or self.new_name(spec.trial.run), started)
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
            keep=spec.keeps,
            owned=spec.owned,
        )
        goes_on = False
        try:
            flags = self._flags(spec, name, account, interactive=started is not None)
            ending = run_client(
                (*self._engine.command, "run", *flags, spec.image.reference, *inside),
                account=account,
                limits=spec.limits,
                folder=spec.folder,
                remove=lambda: self._remove_described(account, states),
                inherited=self._lifeline.inherited,
                result_file=self._result_file(spec),
                started=started,
            )
            diagnosis, report, filtered = self._take(spec, states, account, ending, started_at)
            goes_on = self._keep(spec, ending, filtered, account.parent)
        finally:
            if not goes_on:
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
            goes_on=goes_on,
        )

    def _result_file(self, spec: RunSpec) -> ResultFile:
        if not passes_descriptors(self._engine.named):
            return "file"
        return "kept pipe" if spec.keeps else "pipe"

    def _keep(
        self,
        spec: RunSpec,
        ending: ClientResult,
        filtered: FilteredArchive | None,
        folder: Path,
    ) -> bool:
        """Let a container go on whose outputs are handed over; end any other."""
        if ending.running is None:
            return False
        with self._changed:
            is_kept = filtered is not None and not self.closed
            if is_kept:
                self._clients.setdefault(spec.trial.network, []).append((ending.running, folder))
        if not is_kept:
            ending.running.end()
        return is_kept

    def remove(self, name: str) -> None:
        """Kill and remove a container at once."""
        self._removals.now(name)

    def new_name(self, run: str) -> str:
        """Return a container's name that no other container of the run has."""
        return container_name(self.owner, run, next(self._numbers))

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
            if ending.running is None:
                self._removals.later(account.parent.name)
            diagnosis = diagnose(ending, report, None, spec.limits, phase=spec.phase)
            try:
                filtered = filter_archive(
                    file,
                    spec.folder / spec.archive,
                    roots=spec.handed,
                    mounted=(*spec.image.writable, "/logs", *(AGENT_LOGS if spec.declared else ())),
                    files=spec.limits.files,
                    watched=REWARD_PATHS,
                    rules=OutputRules(
                        outputs=spec.declared,
                        home=spec.image.home,
                        since=started_at,
                        links=LINKS,
                        reserved=spec.trial.reserved,
                        excluded=spec.trial.excluded,
                        keeps_owners=spec.trial.keeps_owners,
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
            removed_by = time.monotonic() + _REMOVAL_S
            while True:  # a container is killed before it is removed, and its client ends between
                state = states[0] if states else self._state(account)
                diagnosis = diagnose(
                    ending, report, state, spec.limits, phase=spec.phase, unpacked=spec.unpacked,
                    image=spec.image,
                )  # fmt: skip
                if not diagnosis.killed or time.monotonic() >= removed_by:
                    return diagnosis
                time.sleep(_ROUND_S)
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
            *labels(spec.trial, owner=self.owner, phase=spec.phase),
            *isolation_flags(
                self._engine.named,
                spec.image,
                spec.limits,
                agent=spec.phase == "agent",
                system_calls=self.system_calls[spec.phase, is_shared(spec.network)],
                network=spec.network,
                servers_s=spec.trial.servers_s,
            ),
            *((f"--user={spec.user}",) if spec.user else ()),
            *binds(self._engine.named, (*spec.binds, self._hosts_of(spec)), account),
            *variable_flags(spec.environment, account.with_name("variables")),
            *(("--interactive",) if interactive else ()),
        )

    def _new_account(self, name: str) -> Path:
        """Create the one file that can be written inside; its folder is private on the host."""
        account = self.account_of(name)
        account.parent.mkdir()
        account.touch()
        account.chmod(0o666)  # for any user of the image
        return account
