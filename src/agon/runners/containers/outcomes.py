"""Decide what a container's end means: the command's doing, or our own fault."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from agon.app.containers import AgentOutcome, Limit, Limits, Outcome, RewardSource
from agon.runners.containers.archives import content, entries
from agon.runners.containers.client_process import ClientResult
from agon.runners.containers.engine import last_line
from agon.runners.containers.first_process import GRACE_S, ProcessReport
from agon.runners.containers.isolation import HAND_OVER_S

_CLOCK_S: Final = 0.02
"""The container's clock counts hundredths."""
_CODES_OF_TAR: Final = (0, 1, 2)
"""A container's own exit code, when all went well, is that of the tar that hands over."""
_KILLED: Final = 137
_OWN_FILES, _OUTPUTS, _NO_FOLDER, _NO_ACCOUNT = 90, 91, 92, 93
_LONGEST_REWARD: Final = 1 << 16
_TEXT, _JSON = b"logs/verifier/reward.txt", b"logs/verifier/reward.json"


@dataclass(frozen=True)
class Diagnosis:
    """Say how a command ended, before anybody asks what it achieved.

    Attributes:
        outcome: how.
        reason: one line for people.
        exit_code: the command's, when it came to an end.
        limits_hit: the limits it reached.
        killed: whether somebody killed the container, and we cannot tell who.
    """

    outcome: AgentOutcome
    reason: str = ""
    exit_code: int | None = None
    limits_hit: tuple[Limit, ...] = ()
    killed: bool = False


def diagnose(
    ending: ClientResult,
    report: ProcessReport | None,
    state: Mapping[str, Any] | None,
    limits: Limits,
) -> Diagnosis:
    """Decide how a command ended.

    Args:
        ending: what the host saw.
        report: what the container's first process report; None when it did not come to that.
        state: the engine's description of the ended container, needed when nothing was report or
            the client failed; None when there is no such container.
        limits: what it might use.
    """
    if ending.end == "output":
        return Diagnosis("failed", f"it printed more than {limits.output_kib * 64:,} KiB",
                       limits_hit=("output",))  # fmt: skip
    if ending.end == "time":
        return Diagnosis("timeout", _late(limits), limits_hit=("time",))
    if ending.end == "start":
        return Diagnosis("unscored", f"the container did not begin within {HAND_OVER_S} s")
    if report is None or ending.client_code not in _CODES_OF_TAR:
        return _untold(ending, state)
    hit: tuple[Limit, ...] = (
        *(("memory",) if report.out_of_memory else ()),
        *(("processes",) if report.out_of_processes else ()),
    )
    if report.seconds + _CLOCK_S >= limits.timeout_s:
        return Diagnosis("timeout", _late(limits), report.exit_code, ("time", *hit))
    return Diagnosis("finished", "", report.exit_code, hit)


def diagnose_again(first: Diagnosis, second: Diagnosis) -> Diagnosis:
    """Judge a command that was run twice because the first end was, it seemed, our fault.

    Not every kernel tells who killed a container. Once may be anybody; the same command killed
    twice in fresh containers fills its memory, and nobody goes unscored by that.
    """
    if first.killed and second.killed:
        return Diagnosis(
            "failed", "it was killed twice: its memory is full", limits_hit=("memory",)
        )
    return second


def has_archive(ending: ClientResult, report: ProcessReport | None) -> bool:
    """Tell whether a container came to its regular end, so that nobody need ask the engine."""
    return ending.end == "itself" and report is not None and ending.client_code in _CODES_OF_TAR


def verdict_of_tests(
    diagnosis: Diagnosis, report: ProcessReport | None, reward: float | None, source: RewardSource
) -> tuple[Outcome, str]:
    """Decide what a task's tests say (seed 001, Test Execution; rule ``reward_source``).

    Example:
        >>> report = ProcessReport(
        ...     exit_code=0, seconds=1.0, left=0, out_of_memory=0, out_of_processes=0
        ... )
        >>> verdict_of_tests(Diagnosis("finished", exit_code=0), report, None, "exit_code")
        ('passed', '')
        >>> verdict_of_tests(Diagnosis("finished", exit_code=0), report, 0.0, "both")
        ('failed', 'the reward is 0')
    """
    if diagnosis.outcome != "finished" or report is None:
        outcome: Outcome = "failed" if diagnosis.outcome == "finished" else diagnosis.outcome
        return outcome, diagnosis.reason
    if source != "reward_file" and report.exit_code != 0:
        return "failed", f"the tests ended with exit code {report.exit_code}"
    if source != "exit_code":
        if reward is None:
            return "failed", "the tests left no reward that can be read"
        if not reward > 0:
            return "failed", f"the reward is {reward:g}"
        if report.left:
            return "failed", (
                f"{report.left} processes of the tests were still running as they ended, any of "
                "which could have written the reward; end them, and wait, before the tests end"
            )
    return "passed", ""


def read_reward(logs: BinaryIO) -> float | None:
    """Read the reward from the logs' archive: with two files the smaller one counts.

    ``reward.json`` holds a number, or an object with ``reward`` or with numbers of which the
    smallest counts. None when there is none, or one that is no finite number.
    """
    rewards: list[float | None] = []
    for entry in entries(logs):
        if entry.name in {_TEXT, _JSON} and entry.kind == "file":
            behind = logs.tell()
            text = b"".join(content(logs, entry)) if entry.size <= _LONGEST_REWARD else b""
            logs.seek(behind)
            rewards.append(_number(text, of_json=entry.name == _JSON))
    known = [reward for reward in rewards if reward is not None]
    return min(known) if known and len(known) == len(rewards) else None


def _untold(ending: ClientResult, state: Mapping[str, Any] | None) -> Diagnosis:
    """Judge a container that did not hand over: the engine's fault, or its own."""
    complaint = last_line(ending.complaint)
    if ending.client_code < 0:
        return Diagnosis(
            "unscored", f"the engine's client was killed (signal {-ending.client_code})"
        )
    if state is None or str(state.get("StartedAt", "0001")).startswith("0001"):
        report = complaint or f"exit code {ending.client_code}"
        return Diagnosis("unscored", f"the engine did not start the container: {report}")
    code = int(state.get("ExitCode", 0))
    if code != ending.client_code or state.get("Running"):
        return Diagnosis("unscored", f"the engine's client failed: {complaint}")
    return _broken_off(code, complaint, out_of_memory=bool(state.get("OOMKilled")))


def _broken_off(code: int, complaint: str, *, out_of_memory: bool) -> Diagnosis:
    """Judge a first process that ended too early."""
    if out_of_memory:
        return Diagnosis("failed", "its memory is full", limits_hit=("memory",))
    if code == _OUTPUTS:
        return Diagnosis("failed", f"the outputs cannot be unpacked: {complaint}",
                       limits_hit=("storage",))  # fmt: skip
    if code in {_OWN_FILES, _NO_FOLDER, _NO_ACCOUNT}:
        return Diagnosis("unscored", f"the container could not do its part: {complaint}")
    if code == _KILLED:
        reason = "the container was killed: its memory is full, or from outside"
        return Diagnosis("unscored", reason, killed=True)
    return Diagnosis("failed", f"its first process ended without an account (exit code {code})")


def _late(limits: Limits) -> str:
    return f"its {limits.timeout_s:g} s were up (and {GRACE_S} s later it was killed)"


def _number(text: bytes, *, of_json: bool) -> float | None:
    """Read a reward; what is no finite number is none."""
    try:
        value = json.loads(text) if of_json else float(text.decode("ascii").strip())
        if isinstance(value, dict):
            value = value["reward"] if "reward" in value else min(map(_plain, value.values()))
        return _plain(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _plain(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)
