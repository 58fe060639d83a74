"""Decide the outcome of a container: caused by the command, or an internal error.

The host's own observations decide between the two: whether the command began, how the engine's
client ended, and what the engine says of the container. Once anything of the agent's has run, an
early end is the agent's unless they prove otherwise. What the container says of itself (its exit
code, its output) proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agon.app.containers import AgentOutcome, Image, Limit, Limits, Outcome
from agon.app.containers.pass_rule import PassRule
from agon.runners.containers.client_process import ClientResult, End
from agon.runners.containers.engine import last_line
from agon.runners.containers.first_process import GRACE_S, ProcessReport
from agon.runners.containers.images.image_folders import within
from agon.runners.containers.isolation import HAND_OVER_S, report_bytes
from agon.runners.containers.rewards import Reward
from agon.runners.containers.system_calls import Phase

_CLOCK_S: Final = 0.02
"""Resolution of the container's clock in seconds."""
_CODES_OF_TAR: Final = (0, 1, 2)
"""The exit code of a container that ended normally is that of the final tar."""
_KILLED: Final = 137
_FEW_ENTRIES: Final = 1000
"""Number of entries whose unpacking takes no noticeable time on any host."""
_OWN_FILES, _OUTPUTS = 90, 91
_UNPACKED: Final = "the image's own files cannot be unpacked"
_FULL: Final = "No space left on device"
_UNWATCHED: Final = (
    "the reward may not be the tests': a process ended those with which agon watches it, twice; "
    "end the processes of the tests by their ids"
)
_UNREADABLE: Final = (
    "the tests left no reward that can be read: reward.txt is one number, reward.json a table of "
    "numbers alone"
)
_SIGNALS: Final = 128
"""A shell's exit code is above this when a signal ended it."""


@dataclass(frozen=True)
class Diagnosis:
    """How a command ended, independent of what it achieved.

    Attributes:
        outcome: the outcome.
        reason: the reason in one line.
        exit_code: that of the command, if it ended by itself.
        limits_hit: the limits it reached.
        killed: whether the container was killed by an unknown cause.
        slow: whether the container ran, but did not begin in time because of the agent's outputs
            or of a busy host.
    """

    outcome: AgentOutcome
    reason: str = ""
    exit_code: int | None = None
    limits_hit: tuple[Limit, ...] = ()
    killed: bool = False
    slow: bool = False


def diagnose(
    ending: ClientResult,
    report: ProcessReport | None,
    state: Mapping[str, Any] | None,
    limits: Limits,
    *,
    phase: Phase,
    unpacked: int = 0,
    image: Image | None = None,
) -> Diagnosis:
    """Return how a command ended.

    Args:
        ending: what the host observed.
        report: the report of the container's first process; None when there is none.
        state: the engine's description of the container, when it ended or before it was removed
            at a limit; needed without a report or when the client failed; None when there is no
            such container.
        limits: the container's limits.
        phase: the container's part of the trial.
        unpacked: number of the agent's entries that are unpacked before the command begins.
        image: the container's image, which a message names if its own files do not fit.
    """
    if ending.end == "start":
        slow = unpacked > _FEW_ENTRIES and _has_started(state)
        reason = f"the container did not begin within {HAND_OVER_S} s"
        return Diagnosis("unscored", reason, slow=slow)
    if ending.end != "itself":
        return _removal_outcome(ending.end, limits)
    if report is None or ending.client_code not in _CODES_OF_TAR:
        of_agent = phase == "verifier" or unpacked > 0
        diagnosis = _without_report(ending, state, of_agent=of_agent)
        if diagnosis.reason.startswith(_UNPACKED) and image is not None:
            issue = _own_files_issue(ending.complaint, image, limits)
            return diagnosis if issue is None else replace(diagnosis, reason=issue)
        return diagnosis
    hit: tuple[Limit, ...] = (
        *(("memory",) if report.out_of_memory else ()),
        *(("processes",) if report.out_of_processes else ()),
    )
    if report.seconds + _CLOCK_S >= limits.timeout_s:
        reason = _late(limits, killed=report.seconds + _CLOCK_S >= limits.timeout_s + GRACE_S)
        return Diagnosis("timeout", reason, report.exit_code, ("time", *hit))
    return Diagnosis("finished", "", report.exit_code, hit)


def diagnose_again(first: Diagnosis, second: Diagnosis) -> Diagnosis:
    """Return the outcome of a command that was run twice after an apparent internal error.

    Not every kernel reports who killed a container. Once may have any cause; a command killed twice
    in fresh containers fills its memory, which must not leave it unscored. The same holds for many
    outputs that take too long to unpack.
    """
    if first.killed and second.killed:
        return Diagnosis(
            "failed", "it was killed twice: its memory is full", limits_hit=("memory",)
        )
    if first.slow and second.slow:
        reason = f"its outputs took more than {HAND_OVER_S} s to unpack, twice"
        return Diagnosis("failed", reason, limits_hit=("storage",))
    return second


def has_archive(ending: ClientResult, report: ProcessReport | None) -> bool:
    """Return whether a container ended normally, so that the engine need not be asked."""
    return ending.end == "itself" and report is not None and ending.client_code in _CODES_OF_TAR


def verdict_of_tests(
    diagnosis: Diagnosis,
    report: ProcessReport | None,
    reward: Reward,
    rule: PassRule,
) -> tuple[Outcome, str]:
    """Return the verdict of a task's tests (document 001, Test Execution; rule ``reward_source``).

    A reward counts if the tests can have written it and nothing else can have written it after
    them: they ended by themselves, no process was left, and the reward and its folder are writable.
    Where exit code and reward disagree the reason says which counted.

    Example:
        >>> report = ProcessReport(
        ...     exit_code=0, seconds=1.0, left=0, out_of_memory=0, out_of_processes=0
        ... )
        >>> ended = Diagnosis("finished", exit_code=0)
        >>> verdict_of_tests(ended, report, Reward(), PassRule())
        ('passed', '')
        >>> verdict_of_tests(ended, report, Reward({"reward": 0.0}), PassRule(source="both"))
        ('failed', 'the reward is 0')
    """
    if diagnosis.outcome != "finished" or report is None:
        outcome: Outcome = "failed" if diagnosis.outcome == "finished" else diagnosis.outcome
        return outcome, diagnosis.reason
    ended = f"the tests ended with exit code {report.exit_code}"
    counts = f"what counts is reward_source = {rule.source}"
    failure = rule.failure(reward.values) if reward.values else ""
    if rule.source != "reward_file" and report.exit_code != 0:
        differ = reward.values and not failure
        return "failed", f"{ended}, although the reward passes; {counts}" if differ else ended
    if rule.source != "exit_code" and (issue := _reward_issue(report, reward, rule)):
        return "failed", issue  # tests that leave rewards mostly end with 0, whatever they found
    if rule.source == "exit_code" and failure:
        return "passed", f"{ended}, although {failure}; {counts}"
    if rule.source == "reward_file" and report.exit_code != 0:
        return "passed", f"the reward passes, although {ended}; {counts}"
    return "passed", ""


def is_in_doubt(
    diagnosis: Diagnosis,
    report: ProcessReport | None,
    reward: Reward,
    rule: PassRule,
) -> bool:
    """Return whether a verdict depends only on an end of one of agon's own processes.

    It may come from outside, so the tests run again in a fresh container. Inside, nothing but a
    program that wants to hide something ends them, so the second time is a fail, not ``unscored``.
    """
    return (
        report is not None
        and not report.watched
        and verdict_of_tests(diagnosis, report, reward, rule) == ("failed", _UNWATCHED)
    )


def _reward_issue(report: ProcessReport, reward: Reward, rule: PassRule) -> str:
    """Return why a reward does not count; empty when it does."""
    if not reward.values:
        return reward.issue or _UNREADABLE
    if failure := rule.failure(reward.values):
        return f"{failure}; {reward.note}" if reward.note else failure
    if report.left:
        return (
            f"{report.left} processes of the tests were still running as they ended, any of "
            "which could have written the reward; end them, and wait, before the tests end"
        )
    if report.exit_code > _SIGNALS:
        return (
            f"the tests were ended by a signal (exit code {report.exit_code}), so the reward may "
            "not be theirs; handle it in the tests, or end them with a smaller exit code"
        )
    if not report.intact:
        return (
            "the reward may not be the tests': it cannot be read or written, or it or its folder "
            "belongs to another user; write it as the user that runs test.sh"
        )
    return reward.issue if report.watched else _UNWATCHED  # such an end, too, marks a reward


def _removal_outcome(end: End, limits: Limits) -> Diagnosis:
    """Return the outcome of a container that was removed at a limit."""
    if end == "time":
        return Diagnosis("timeout", _late(limits, killed=True), limits_hit=("time",))
    if end == "output":
        reason = f"it printed more than {limits.output_kib * 64:,} KiB"
        return Diagnosis("failed", reason, limits_hit=("output",))
    reason = f"it hands over more than {report_bytes(limits) >> 20:,} MiB"
    return Diagnosis("failed", reason, limits_hit=("storage",))


def _without_report(
    ending: ClientResult, state: Mapping[str, Any] | None, *, of_agent: bool
) -> Diagnosis:
    """Return the outcome of a container without a report: an internal error, or an early end."""
    complaint = last_line(ending.complaint)
    if ending.client_code < 0:
        return Diagnosis(
            "unscored", f"the engine's client was killed (signal {-ending.client_code})"
        )
    if state is None and ending.begun:
        return Diagnosis("unscored", "the container was removed from outside")
    if state is None or not _has_started(state):
        cause = complaint or f"exit code {ending.client_code}"
        return Diagnosis("unscored", f"the engine did not start the container: {cause}")
    code = int(state.get("ExitCode", 0))
    if code != ending.client_code or state.get("Running"):
        return Diagnosis("unscored", f"the engine's client failed: {complaint}")
    out_of_memory = bool(state.get("OOMKilled"))
    if ending.begun:
        return _early_end(code, out_of_memory=out_of_memory)
    return _failed_start(code, complaint, of_agent=of_agent, out_of_memory=out_of_memory)


def _own_files_issue(complaint: bytes, image: Image, limits: Limits) -> str | None:
    """Return which of an image's folders has more than it may; None: that is not what happened.

    GNU tar writes a line for each file and busybox names none: then it may be any of them.
    """
    lines = [line for line in complaint.decode(errors="replace").splitlines() if _FULL in line]
    if not lines:
        return None
    names = {word.strip("'\":,") for word in lines[0].split()}
    of_file = [folder for folder in image.writable
               if any(within(f"/{name.lstrip('/')}", folder) for name in names)]  # fmt: skip
    folders = " or ".join(sorted(of_file, key=len)[-1:] or image.writable)
    limit = min(limits.storage_mib, limits.memory_mib)
    setting = "storage" if limit == limits.storage_mib else "memory"
    return (
        f"{_UNPACKED}: image {image.reference} has more in {folders} than the {limit:,} MiB that "
        f"the task's {setting} allows for the folder; raise it, or build a smaller image"
    )


def _has_started(state: Mapping[str, Any] | None) -> bool:
    return state is not None and not str(state.get("StartedAt", "0001")).startswith("0001")


def _failed_start(code: int, complaint: str, *, of_agent: bool, out_of_memory: bool) -> Diagnosis:
    """Return the outcome of a first process that ended before the command began.

    What an agent left is unpacked after the image's own files: in the verifier's container, and in
    that of the agent's next step. Otherwise nothing of the agent's has run then.
    """
    if not of_agent or code == _OWN_FILES:
        cause = "its memory is full" if out_of_memory else complaint or f"exit code {code}"
        return Diagnosis("unscored", f"{_UNPACKED}: {cause}")
    if code == _OUTPUTS and not out_of_memory:
        return Diagnosis("failed", f"the outputs cannot be unpacked: {complaint}",
                         limits_hit=("storage",))  # fmt: skip
    return _early_end(code, out_of_memory=out_of_memory)


def _early_end(code: int, *, out_of_memory: bool) -> Diagnosis:
    """Return the outcome of a first process that ended too early, caused by the agent."""
    if out_of_memory:
        return Diagnosis("failed", "its memory is full", limits_hit=("memory",))
    if code == _KILLED:
        reason = "the container was killed: its memory is full, or from outside"
        return Diagnosis("unscored", reason, killed=True)
    return Diagnosis("failed", f"its first process ended without a report (exit code {code})")


def _late(limits: Limits, *, killed: bool) -> str:
    """Return that the time was up, and whether the command outlived its termination."""
    later = f" (and {GRACE_S} s later it was killed)" if killed else ""
    return f"its {limits.timeout_s:g} s were up{later}"
