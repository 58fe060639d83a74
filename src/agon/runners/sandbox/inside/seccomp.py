"""Build and install the filter of the system calls a program may make (x86-64).

The filter is classic BPF, assembled by :func:`program`. Any other call kills the process, and so
does every call through another interface (32-bit, x32).
"""

import ctypes
import struct
from collections.abc import Iterator
from typing import NamedTuple

from . import system

ALLOWED = {
    "read": 0,  # its own source
    "pread64": 17,  # same, at any offset
    "write": 1,  # the answer and prints; RLIMIT_FSIZE limits the only files it has
    "close": 3,  # closes the source once it is read
    "brk": 12,  # memory, limited by RLIMIT_AS
    "munmap": 11,  # releases memory
    "mremap": 25,  # grows a large block; its protection stays the same
    "getrusage": 98,  # its own processor time
    "times": 100,  # same
    "gettimeofday": 96,  # the clock can be read without a system call anyway
    "time": 201,  # same
    "exit": 60,  # ends
    "exit_group": 231,  # ends
}
"""Allowed calls by name, each with its use."""

REFUSED = {
    # Python makes these calls itself and continues when they fail: to find a module, to learn
    # whether a stream is a terminal, how large memory is, which user runs it.
    "open": 2,
    "stat": 4,
    "lstat": 6,
    "access": 21,
    "readlink": 89,
    "getcwd": 79,
    "openat": 257,
    "newfstatat": 262,
    "fstat": 5,
    "readlinkat": 267,
    "faccessat": 269,
    "statx": 332,
    "faccessat2": 439,
    "getdents64": 217,
    "ioctl": 16,
    "fcntl": 72,
    "lseek": 8,
    "poll": 7,
    "uname": 63,
    "sysinfo": 99,
    "sched_getaffinity": 204,
    "getrandom": 318,
    "getuid": 102,
    "getgid": 104,
    "geteuid": 107,
    "getegid": 108,
    "getppid": 110,
    # Handlers and limits stay as they were set, so that the kernel's signals end the process.
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "sigaltstack": 131,
    "prlimit64": 302,
    "getrlimit": 97,
    "setrlimit": 160,
}
"""Calls that fail with EPERM, so that a program gets an exception instead of being killed."""

NUMBERLESS = {"getpid": 39, "gettid": 186}
"""Calls that return 0: libraries ask to notice forks, and no output may depend on the number."""

_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_KILL = 0x80000000
_EPERM = 0x00050001
_ZERO = 0x00050000
_ALLOW = 0x7FFF0000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCH = 0, 4

_PROT_EXEC = 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 0x20
_MADV_DONTNEED = 4
_CLOCKS = 12
"""Number of clocks that are no process's: the ids of those are negative, as are those of files."""
_FUTEX_COMMAND, _FUTEX_PRIVATE = 0x7F, 0x80
_FUTEX_WAIT_AND_WAKE = (0, 1, 9, 10)


class Instruction(NamedTuple):
    """An instruction of classic BPF: an operation, its operand, and the jumps (steps to skip)."""

    operation: int
    operand: int
    if_true: int = 0
    if_false: int = 0


def program() -> bytes:
    """Return the assembled filter.

    Example:
        >>> len(program()) % 8  # instructions of eight bytes
        0
    """
    return b"".join(
        struct.pack("=HBBI", step.operation, step.if_true, step.if_false, step.operand)
        for step in _steps()
    )


def load_filter(code: bytes) -> ctypes.Structure:
    """Return a filter in the structure the kernel reads; created once, used by every child."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    return Program(len(code) // 8, code)


def install(filter_: ctypes.Structure) -> None:
    """Install a filter for this process permanently; requires no-new-privileges.

    Raises:
        OSError: the kernel rejects the call.
    """
    system.prctl(system.PR_SET_SECCOMP, system.SECCOMP_MODE_FILTER, ctypes.byref(filter_))


def _steps() -> Iterator[Instruction]:
    yield Instruction(_LOAD, _ARCH)
    yield Instruction(_EQUAL, _ARCH_X86_64, 1, 0)
    yield Instruction(_RETURN, _KILL)
    yield Instruction(_LOAD, _NUMBER)
    yield Instruction(_AT_LEAST, _X32_BIT, 0, 1)
    yield Instruction(_RETURN, _KILL)
    for number in ALLOWED.values():
        yield Instruction(_EQUAL, number, 0, 1)
        yield Instruction(_RETURN, _ALLOW)
    for number in REFUSED.values():
        yield Instruction(_EQUAL, number, 0, 1)
        yield Instruction(_RETURN, _EPERM)
    for number in NUMBERLESS.values():
        yield Instruction(_EQUAL, number, 0, 1)
        yield Instruction(_RETURN, _ZERO)
    yield from _when(228, _clock())  # clock_gettime
    yield from _when(229, _clock())  # clock_getres
    yield from _when(9, _mmap())
    yield from _when(10, _mprotect())
    yield from _when(28, _madvise())
    yield from _when(202, _futex())
    yield Instruction(_RETURN, _KILL)


def _when(number: int, steps: tuple[Instruction, ...]) -> Iterator[Instruction]:
    """Yield a test for one system call, then the steps that decide it; other calls skip them."""
    yield Instruction(_EQUAL, number, 0, len(steps))
    yield from steps


def _mmap() -> tuple[Instruction, ...]:
    """Return the steps for ``mmap``: allow private anonymous memory that is not executable."""
    private = _MAP_PRIVATE | _MAP_ANONYMOUS
    return (
        _argument(2),
        Instruction(_ANY_BIT, _PROT_EXEC, 5, 0),
        _argument(3),
        Instruction(_AND, private),
        Instruction(_EQUAL, private, 1, 0),
        Instruction(_RETURN, _EPERM),
        Instruction(_RETURN, _ALLOW),
        Instruction(_RETURN, _KILL),
    )


def _mprotect() -> tuple[Instruction, ...]:
    """Return the steps for ``mprotect``: allow any protection but executable."""
    return (
        _argument(2),
        Instruction(_ANY_BIT, _PROT_EXEC, 0, 1),
        Instruction(_RETURN, _KILL),
        Instruction(_RETURN, _ALLOW),
    )


def _madvise() -> tuple[Instruction, ...]:
    """Return the steps for ``madvise``: allow the allocator to release pages, no other advice."""
    return (
        _argument(2),
        Instruction(_EQUAL, _MADV_DONTNEED, 0, 1),
        Instruction(_RETURN, _ALLOW),
        Instruction(_RETURN, _EPERM),
    )


def _clock() -> tuple[Instruction, ...]:
    """Return the steps for reading a clock: allow the machine's and its own, no other process's."""
    return (
        _argument(0),
        Instruction(_AT_LEAST, _CLOCKS, 0, 1),
        Instruction(_RETURN, _EPERM),
        Instruction(_RETURN, _ALLOW),
    )


def _futex() -> tuple[Instruction, ...]:
    """Return the steps for ``futex``: allow private locks to wait and wake, but not to requeue.

    A lock in memory that several processes share could wake another submission.
    """
    commands = tuple(_FUTEX_PRIVATE | command for command in _FUTEX_WAIT_AND_WAKE)
    known = (
        Instruction(_EQUAL, command, len(commands) - index, 0)
        for index, command in enumerate(commands)
    )
    return (
        _argument(1),
        Instruction(_AND, _FUTEX_PRIVATE | _FUTEX_COMMAND),
        *known,
        Instruction(_RETURN, _KILL),
        Instruction(_RETURN, _ALLOW),
    )


def _argument(index: int) -> Instruction:
    """Return the step that loads the low half of an argument, which has every flag checked here."""
    return Instruction(_LOAD, 16 + 8 * index)
