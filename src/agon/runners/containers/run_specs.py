"""Define what runs in one container, and what came of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agon.app.containers import (
    AgentRun,
    AgentTrial,
    ContainerResult,
    Image,
    Limits,
    Outputs,
    TrialVerification,
)
from agon.app.containers.pass_rule import PassRule
from agon.errors import InvalidRule
from agon.runners.containers.archive_filter import FilteredArchive
from agon.runners.containers.first_process import ProcessReport
from agon.runners.containers.isolation import BindMount
from agon.runners.containers.outcomes import Diagnosis, is_in_doubt, verdict_of_tests
from agon.runners.containers.rewards import Reward, read_reward
from agon.runners.containers.system_calls import Phase

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
        user: the user that it runs as; empty: the image's.
        owned: whether the image's files have their owners, since its command leaves root.
    """

    phase: Phase
    image: Image
    command: tuple[str, ...]
    trial: AgentTrial
    limits: Limits
    binds: tuple[BindMount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = ()
    unpacked: int = 0
    handed: tuple[str, ...]
    declared: tuple[str, ...] = ()
    archive: str
    network: str = "none"
    user: str = ""
    owned: bool = False

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.trial.folder / self.phase

    @property
    def keeps(self) -> bool:
        """Whether the processes that its command leaves go on."""
        return self.phase == "agent" and self.trial.servers_s > 0


@dataclass(frozen=True, kw_only=True)
class ContainerRun:
    """The result of running a specification.

    Attributes:
        diagnosis: how the command ended.
        report: the report of the first process, if there is one.
        account: the result that is recorded.
        filtered: the entries of the archive; None when there is no archive.
        archive: the path of the archive.
        goes_on: whether the container goes on with what the command left.
    """

    diagnosis: Diagnosis
    report: ProcessReport | None
    account: ContainerResult
    filtered: FilteredArchive | None
    archive: Path
    goes_on: bool = False

    def with_diagnosis(self, diagnosis: Diagnosis) -> "ContainerRun":
        """Return the run with another diagnosis."""
        account = replace(self.account, limits_hit=diagnosis.limits_hit)
        return replace(self, diagnosis=diagnosis, account=account)


def variable_flags(environment: Sequence[tuple[str, str]], file: Path) -> tuple[str, ...]:
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


def agent_run(run: ContainerRun, spec: RunSpec) -> AgentRun:
    """Return the agent's part of a trial, with its outputs if they are judged."""
    filtered, diagnosis = run.filtered, run.diagnosis
    outputs = None
    judged = {"finished", "timeout"} if spec.trial.agent_timeout == "verify" else {"finished"}
    if filtered is not None and diagnosis.outcome in judged:
        outputs = Outputs(
            path=run.archive, declared=spec.declared, files=filtered.files, size=filtered.size,
            sha256=filtered.sha256, left_out=filtered.left_out,
            left_out_total=filtered.left_out_total,
        )  # fmt: skip
    return AgentRun(
        outcome=diagnosis.outcome, reason=diagnosis.reason, account=run.account,
        outputs=outputs, servers=run.goes_on, archive=None if filtered is None else run.archive,
    )  # fmt: skip


def verification_of(run: ContainerRun, rule: PassRule) -> tuple[TrialVerification, bool]:
    """Return the verdict of a run, and whether it is in doubt."""
    reward, logs = Reward(), None
    if run.filtered is not None:
        logs = run.archive
        with logs.open("rb") as file:
            reward = read_reward(
                file, run.filtered.watched, run.report.rewards if run.report else None
            )
    outcome, reason = verdict_of_tests(run.diagnosis, run.report, reward, rule)
    value = rule.choose(reward.values)[1]
    verification = TrialVerification(
        outcome=outcome, reason=reason, reward=value, rewards=dict(reward.values),
        account=run.account, logs=logs,
    )  # fmt: skip
    return verification, is_in_doubt(run.diagnosis, run.report, reward, rule)
