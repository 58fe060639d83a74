"""Try the wall before it is trusted: eight hostile programs, each of which must fail.

Every program returns 1 when it gets what it reaches for; then it has escaped.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agon.app.sandbox import RunLimits, RunOutcome, RunRequest, SandboxEscape
from agon.runners.sandbox.verdicts import Verdict

_LIMITS = RunLimits(cpu_s=1.0, memory_mib=32, output_bytes=4096)
_SHORT = replace(_LIMITS, cpu_s=0.05)

_SYSTEM_CALL = """
import ctypes
libc = ctypes.CDLL(None)
def solver():
    return [int(libc.syscall({}) >= 0)]
"""


@dataclass(frozen=True)
class Trial:
    """Hold one hostile program and the outcome that shows it was held."""

    name: str
    source: str
    held: RunOutcome = "runtime_error"
    limits: RunLimits = _LIMITS

    @property
    def job(self) -> RunRequest:
        """Make a job of it."""
        return RunRequest(
            source=self.source.encode(), n_check=1, limits=self.limits, name=self.name
        )


_READS = """
import os
def solver():
    return [len(open(os.__file__).read(1))]
"""
_LOOPS = """
def solver():
    while True:
        pass
"""
_TAKES = """
def solver():
    return [len(bytes(1 << 27)) >> 27]
"""
_PRINTS = """
def solver():
    while True:
        print("x" * 999)
"""

TRIALS = (
    Trial("reads a file", _READS),
    Trial("opens a socket", _SYSTEM_CALL.format("41, 2, 1, 0")),
    Trial("forks", _SYSTEM_CALL.format("57")),
    Trial("signals another process", _SYSTEM_CALL.format("62, 1, 0")),
    Trial("maps code it can write", _SYSTEM_CALL.format("9, 0, 4096, 7, 34, -1, 0")),
    Trial("computes for ever", _LOOPS, "time_limit", _SHORT),
    Trial("takes more memory than it may", _TAKES, "memory_limit"),
    Trial("prints without end", _PRINTS, "output_limit"),
)


def self_test(run: Callable[[RunRequest], Verdict]) -> None:
    """Run every trial.

    Raises:
        SandboxEscape: when one gets out; then nothing untrusted may run here.
        Lost: when a trial gave no verdict.
    """
    for trial in TRIALS:
        verdict = run(trial.job)
        if verdict.outcome != trial.held:
            raise SandboxEscape(
                f"the sandbox does not hold: a program that {trial.name} ended as "
                f"{verdict.outcome} ({verdict.reason}), not as {trial.held}; nothing was run"
            )
