"""Store a run in a folder: its plan, its finished trials, and a lock for one process at a time.

``run.json``
    the plan: agent, tasks and their hashes, trials, rules; written once.
``<task>__<number>/``
    one trial; it is finished when its ``result.json`` exists, which is written atomically.
``summary.json``
    the summary of the run.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agon.app.containers import AgentTimeout
from agon.app.containers.egress import Egress, EgressMode, read_host
from agon.app.files import InvalidPackage, json_page, read_object
from agon.app.tasks.trials import TrialResult
from agon.errors import Conflict, Unavailable, Unreadable
from agon.records.writing import write_atomically

RUN = "run.json"
RESULT = "result.json"
SUMMARY = "summary.json"
_LOCK = ".lock"
_MAX_FILE_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """The plan of a run; a folder belongs to one plan.

    Attributes:
        run: the run's id, a label of its containers.
        agent: the agent's name.
        settings: the settings that identify the agent.
        tasks: the tasks' hashes by name.
        reward_sources: what counts as a pass, by task.
        pass_rules: the least reward that passes and the key that counts, by task, where they are
            not the default.
        trials: number of trials of each task.
        submission: the submission's id in the records; empty: the agent's name.
        miner_uid: the miner whose submission it is.
        validator: the validator in the records.
        started_at: when the run started.
        build_network: the network of builds.
        test_network: the network of tests that download something.
        keep_servers: whether the processes of agents go on while tests run that connect to a
            server.
        agent_network: what agents can reach.
        allowed_hosts: with ``allowlist``, the hosts as ``HOST:PORT``, each with its addresses.
        unreadable: folders that are no readable tasks, with the first error of each.
        variables: the names of the operator's variables that ``agent`` and ``verifier`` get.
        overrides: the limits that the run has instead of the tasks' own.
        agent_timeout: whether an agent whose time was up fails, or is judged by what it left.
        prices: the prices of models, with their date (:class:`agon.app.tasks.prices.PriceTable`).
    """

    run: str
    agent: str
    settings: Mapping[str, str]
    tasks: Mapping[str, str]
    reward_sources: Mapping[str, str]
    trials: int
    submission: str = ""
    miner_uid: int = 1
    validator: str = "local"
    started_at: str = ""
    build_network: str = "none"
    test_network: str = "none"
    keep_servers: bool = False
    agent_network: EgressMode = "none"
    allowed_hosts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    pass_rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    variables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overrides: Mapping[str, float] = field(default_factory=dict)
    agent_timeout: AgentTimeout = "fail"
    prices: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``run.json``."""
        return asdict(self)

    def continuing(self, earlier: "RunPlan") -> "RunPlan":
        """Return the earlier plan with the larger number of trials of both plans.

        Raises:
            Conflict: the plans differ; every difference is listed.
        """
        own = {"run", "trials", "started_at"}
        mine, theirs = _comparable(self), _comparable(earlier)
        differing = [
            f"{name} was {_difference(theirs[name], mine[name])}, "
            f"is {_difference(mine[name], theirs[name])}"
            for name in mine
            if name not in own and mine[name] != theirs[name]
        ]
        if differing:
            raise Conflict(
                f"the folder holds another run: {'; '.join(differing)}; name another folder"
            )
        return replace(
            earlier,
            trials=max(self.trials, earlier.trials),
            allowed_hosts=self.allowed_hosts,
        )

    @property
    def egress(self) -> Egress:
        """What agents can reach."""
        hosts = tuple(
            replace(read_host(name), addresses=tuple(addresses))
            for name, addresses in sorted(self.allowed_hosts.items())
        )
        return Egress(mode=self.agent_network, hosts=hosts)


def _comparable(plan: RunPlan) -> dict[str, Any]:
    """Return a plan's values; of hosts the names, whose addresses may change."""
    return plan.to_dict() | {"allowed_hosts": sorted(plan.allowed_hosts)}


def _difference(value: Any, other: Any) -> str:
    """Return a value as text; of tables, the items that the other does not have."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: item for key, item in value.items() if other.get(key) != item}
    return json.dumps(value)[:200]


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, locked by this process.

    Attributes:
        path: the folder.
        plan: the plan of the run.
        continued: whether the run was started earlier.
        results: the finished trials, by task and number.
    """

    path: Path
    plan: RunPlan
    continued: bool
    results: dict[tuple[str, int], TrialResult] = field(default_factory=dict, repr=False)

    def trial(self, task: str, number: int) -> Path:
        """Return the folder of a trial, by the task's name and the trial's number."""
        return self.path / f"{task}__{number}"

    def clear(self, task: str, number: int) -> Path:
        """Empty a trial's folder and return it."""
        folder = self.trial(task, number)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        return folder

    def finish(self, result: TrialResult) -> None:
        """Write a trial's result, which finishes the trial."""
        folder = self.trial(result.task, result.number)
        write_atomically(folder / RESULT, json_page(result.to_dict()))

    def summarize(self, summary: Mapping[str, Any]) -> None:
        """Write the summary."""
        write_atomically(self.path / SUMMARY, json_page(summary))


@contextmanager
def open_run_folder(path: Path, plan: RunPlan) -> Iterator[RunFolder]:
    """Open and lock the folder of a run, a new one or one to continue.

    Raises:
        Conflict: it contains something else or another run, or another process works in it.
        Unavailable: it cannot be written.
    """
    path = path.absolute()  # container engines require it
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise Conflict(f"{path} is a file; name a folder") from None
    except OSError as failed:
        raise Unavailable(f"{path} cannot be created ({failed.strerror})") from None
    if not (path / RUN).exists() and any(child.name[0] != "." for child in path.iterdir()):
        raise Conflict(f"{path} exists and does not contain a run; name a new or an empty folder")
    with _lock(path):
        if continued := (path / RUN).exists():
            plan = plan.continuing(read_plan(path))
        write_atomically(path / RUN, json_page(plan.to_dict()))
        results = {(trial.task, trial.number): trial for trial in read_results(path)}
        yield RunFolder(path, plan, continued, results)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the folder's lock, which is released when the process ends, however it ends."""
    handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise Conflict(
            f"another agon process is running in {path}; wait for it, or stop it"
        ) from None
    finally:
        os.close(handle)


def read_plan(path: Path) -> RunPlan:
    """Return the plan of a folder's run.

    Raises:
        Unreadable: there is no ``run.json``, or agon did not write it.
    """
    content = read_object(path / RUN, where=str(path / RUN), most=_MAX_FILE_BYTES)
    try:
        return RunPlan(**content)
    except TypeError:
        raise Unreadable(f"{path / RUN} was not written by agon challenge run") from None


def read_results(path: Path) -> list[TrialResult]:
    """Return the finished trials of a run, sorted by task and number.

    Raises:
        InvalidPackage, Unreadable: agon did not write a result.
    """
    results = []
    for folder in sorted(path.iterdir()):
        file = folder / RESULT
        if folder.is_dir() and not folder.is_symlink() and file.exists():
            try:
                content = read_object(file, where=str(file), most=_MAX_FILE_BYTES)
                results.append(TrialResult.from_dict(content))
            except (InvalidPackage, TypeError, KeyError, AttributeError):
                raise Unreadable(
                    f"{file} was not written by agon challenge run; remove its folder"
                ) from None
    return sorted(results, key=lambda result: (result.task, result.number))
