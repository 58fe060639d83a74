"""Test the isolation before it is used: nine hostile programs, each of which must fail.

Every program returns 1 when it succeeds, which means that it has escaped.
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
class HostileProgram:
    """A hostile program and the outcome that shows it was contained."""

    name: str
    source: str
    contained: RunOutcome = "runtime_error"
    limits: RunLimits = _LIMITS

    @property
    def request(self) -> RunRequest:
        """Return the program as a request to the sandbox."""
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

_DESCRIPTORS = """
import os
def solver():
    for number in range(4, 4096):
        try:
            os.read(number, 0)
        except OSError:
            continue
        return [1]
    raise OSError("none is open")
"""

HOSTILE_PROGRAMS = (
    HostileProgram("reads a file", _READS),
    HostileProgram("has a descriptor of another process", _DESCRIPTORS),
    HostileProgram("opens a socket", _SYSTEM_CALL.format("41, 2, 1, 0")),
    HostileProgram("forks", _SYSTEM_CALL.format("57")),
    HostileProgram("signals another process", _SYSTEM_CALL.format("62, 1, 0")),
    HostileProgram("maps code it can write", _SYSTEM_CALL.format("9, 0, 4096, 7, 34, -1, 0")),
    HostileProgram("computes for ever", _LOOPS, "time_limit", _SHORT),
    HostileProgram("takes more memory than it may", _TAKES, "memory_limit"),
    HostileProgram("prints without end", _PRINTS, "output_limit"),
)


def self_test(run: Callable[[RunRequest], Verdict]) -> None:
    """Run every hostile program.

    Raises:
        SandboxEscape: one escaped; then no untrusted program may run here.
        WorkerLost: a run ended without a verdict.
    """
    for program in HOSTILE_PROGRAMS:
        verdict = run(program.request)
        if verdict.outcome != program.contained:
            raise SandboxEscape(
                f"the sandbox does not hold: a program that {program.name} ended as "
                f"{verdict.outcome} ({verdict.reason}), not as {program.contained}; nothing was run"
            )
