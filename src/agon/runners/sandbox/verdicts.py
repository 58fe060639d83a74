"""Decide the outcome of a run from the kernel's record of the process and its bytes alone.

Nothing here runs anything; the same record and the same bytes give the same verdict.
"""

import re
import signal
from dataclasses import dataclass
from functools import lru_cache
from os import WEXITSTATUS, WIFSIGNALED, WTERMSIG

from agon.app.sandbox import RunLimits, RunOutcome, RunRequest
from agon.runners.sandbox.inside.wire import Report

EDGE = 1.3
"""Multiple of the CPU time limit at which the kernel kills a program that is still running."""

_UNDISTURBED = 0.9
"""Share of the wall-clock time from which a program had the processor to itself."""
_WAITS_AT_END = 1
"""How often every process waits: when it ends."""
_FULL = 0.98
"""Share of its memory from which a run that did not end by itself had no memory left."""

_OUT_OF_TIME = frozenset({signal.SIGPROF, signal.SIGXCPU})
_OWN_CRASHES = frozenset(
    {
        *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP),
        *(signal.SIGABRT, signal.SIGPIPE),
    }
)
"""Signals a process without signal calls can cause itself; all others come from outside."""

_CLAIMS: dict[bytes, RunOutcome] = {
    b"wrong_type": "wrong_type",
    b"runtime_error": "runtime_error",
    b"memory_limit": "memory_limit",
    b"output_limit": "output_limit",
    b"syntax_error": "syntax_error",
}
"""Outcomes that a child may report itself. Each is a failure, so a false report gains nothing."""

_REASON_CHARACTERS = 400


class WorkerLost(Exception):
    """A run ended without a verdict because of a failure outside the program."""


@dataclass(frozen=True)
class Verdict:
    """The verdict of one run.

    Attributes:
        outcome: how it ended.
        terms: decimal integers, when the outcome is ``ok``.
        reason: one printable line.
        doubtful: whether a slow machine could have caused it; then it is run once more.
    """

    outcome: RunOutcome
    terms: tuple[str, ...] = ()
    reason: str = ""
    doubtful: bool = False


def decide(report: Report, answer: bytes, request: RunRequest) -> Verdict:
    r"""Return the verdict on a process and the bytes it left.

    Raises:
        WorkerLost: the isolation was not complete, or the process was killed from outside.

    Example:
        >>> clean = Report(0, True, False, 0, 900, 1000, 0, 1)
        >>> decide(clean, b"ok\n1\n-3\nend\n", RunRequest(source=b"")).terms
        ('1', '-3')
        >>> decide(clean, b"ok\n1_000\nend\n", RunRequest(source=b"")).outcome
        'runtime_error'
    """
    if not report.ready:
        raise WorkerLost("the child could not isolate itself")
    cpu_s = report.cpu_us / 1e6
    verdict = _beyond_limits(report, cpu_s, request.limits)
    if verdict is not None:
        return verdict
    if code := WEXITSTATUS(report.status):
        return Verdict("runtime_error", reason=f"ended itself with exit code {code}")
    return _read(answer, request)


def _beyond_limits(report: Report, cpu_s: float, limits: RunLimits) -> Verdict | None:
    """Return the verdict on a run that did not end by itself within its limits."""
    if not (report.expired or WIFSIGNALED(report.status) or cpu_s > limits.cpu_s):
        return None
    signaled = WTERMSIG(report.status) if WIFSIGNALED(report.status) else None
    is_own = report.expired or signaled is None or signaled in _OUT_OF_TIME | _OWN_CRASHES
    if is_own and report.memory_kib >= _FULL * (limits.memory_mib << 10):
        return Verdict("memory_limit", reason=f"more than {limits.memory_mib} MiB")
    if report.expired:
        return _timeout_verdict(report, cpu_s, limits)
    if signaled is not None:
        return _ended_by(signaled, cpu_s, limits)
    reason = f"{cpu_s:.2f} s of processor time, {limits.cpu_s:g} s allowed"
    return Verdict("time_limit", reason=reason, doubtful=True)


def _timeout_verdict(report: Report, cpu_s: float, limits: RunLimits) -> Verdict:
    deserved_s = min(limits.cpu_s, _UNDISTURBED * limits.wall_s)
    if report.waits <= _WAITS_AT_END and cpu_s < deserved_s:
        reason = f"the machine left it {cpu_s:.2f} s of {limits.wall_s:g} s to compute"
        return Verdict("sandbox_error", reason=reason, doubtful=True)
    reason = f"no end after {limits.wall_s:g} s, of which {cpu_s:.2f} s computing"
    return Verdict("time_limit", reason=reason, doubtful=cpu_s < limits.cpu_s)


def _ended_by(number: int, cpu_s: float, limits: RunLimits) -> Verdict:
    if number in _OUT_OF_TIME or cpu_s > limits.cpu_s * EDGE:
        used = f"more than {limits.cpu_s * EDGE:g} s of processor time"
        return Verdict("time_limit", reason=f"{used}, {limits.cpu_s:g} s allowed")
    if number == signal.SIGXFSZ:
        return Verdict("output_limit", reason=f"wrote more than {limits.output_bytes} bytes")
    if number == signal.SIGSYS:
        return Verdict("runtime_error", reason="made a system call that programs may not make")
    if number in _OWN_CRASHES:
        return Verdict("runtime_error", reason=f"crashed ({signal.Signals(number).name})")
    raise WorkerLost(f"the child was killed from outside (signal {number})")


def _read(answer: bytes, request: RunRequest) -> Verdict:
    """Read a child's answer; the pattern bounds every term before it is converted."""
    if not answer:
        return Verdict("runtime_error", reason="ended without an answer")
    limits = request.limits
    if len(answer) <= limits.output_bytes and _answer_of(limits.max_term_digits).fullmatch(answer):
        terms = answer.decode("ascii").split("\n")[1:-2]
        return Verdict("ok", tuple(terms[: request.n_check]))
    claim, separator, said = answer.partition(b"\n")
    outcome = _CLAIMS.get(claim) if separator else None
    if outcome is None:
        return Verdict("runtime_error", reason="left an answer that is not well formed")
    if outcome == "memory_limit":
        return Verdict(outcome, reason=f"more than {limits.memory_mib} MiB")
    return Verdict(outcome, reason=printable(said))


@lru_cache(maxsize=16)
def _answer_of(digits: int) -> re.Pattern[bytes]:
    return re.compile(rb"ok\n(?:(?:0|-?[1-9][0-9]{0,%d})\n)*end\n" % (digits - 1))


def printable(said: bytes) -> str:
    r"""Return text that a program chose as one harmless line.

    Example:
        >>> printable(b"line 1:\n\x1b[31mred \xff")
        'line 1: ?[31mred \ufffd'
    """
    text = said[: 4 * _REASON_CHARACTERS].decode("utf-8", "replace")
    line = " ".join(text.split())[:_REASON_CHARACTERS]
    return "".join(letter if letter.isprintable() else "?" for letter in line)
