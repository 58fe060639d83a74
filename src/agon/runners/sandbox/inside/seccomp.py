"""Build and turn on the list of system calls a program may make (x86-64).

The filter is classic BPF, put together by :func:`program`. Any other call ends the process,
and so does every call through another interface (32-bit, x32).
"""

import ctypes
import struct
from collections.abc import Iterator
from typing import NamedTuple

from . import system

ALLOWED = {
    "read": 0,  # its own source
    "pread64": 17,  # same, wherever the offset stands
    "write": 1,  # the answer and prints; the only files it has end at RLIMIT_FSIZE
    "close": 3,  # lets go of the source once it is read
    "brk": 12,  # memory, bounded by RLIMIT_AS
    "munmap": 11,  # gives memory back
    "mremap": 25,  # grows a large block; keeps its protection
    "getpid": 39,  # a number; libraries ask to notice forks
    "gettid": 186,  # same
    "getrusage": 98,  # processor time of its own
    "times": 100,  # same
    "gettimeofday": 96,  # the clock can be read without a system call anyway
    "time": 201,  # same
    "clock_gettime": 228,  # same
    "clock_getres": 229,  # same
    "exit": 60,  # ends
    "exit_group": 231,  # ends
}
"""Calls that pass, each with its use."""

REFUSED = {
    # Python tries these without ill intent and goes on when told no: looking for a module,
    # asking whether a stream is a terminal, how large memory is, who the user is.
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
    # Handlers and limits stay as they were set: the kernel's own signals end the process.
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "sigaltstack": 131,
    "prlimit64": 302,
    "getrlimit": 97,
    "setrlimit": 160,
}
"""Calls that fail with EPERM, so that a program gets an exception instead of its end."""

_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_KILL = 0x80000000
_EPERM = 0x00050001
_ALLOW = 0x7FFF0000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCH = 0, 4

_PROT_EXEC = 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 2, 0x20
_MADV_DONTNEED = 4
_FUTEX_COMMAND = 0x7F
_FUTEX_WAIT_AND_WAKE = (0, 1, 9, 10)


class Instruction(NamedTuple):
    """One step of classic BPF: an operation, its operand, where to go on (steps to skip)."""

    operation: int
    operand: int
    if_true: int = 0
    if_false: int = 0


def program() -> bytes:
    """Assemble the filter.

    Example:
        >>> len(program()) % 8  # instructions of eight bytes
        0
    """
    return b"".join(
        struct.pack("=HBBI", step.operation, step.if_true, step.if_false, step.operand)
        for step in _steps()
    )


def loaded(code: bytes) -> ctypes.Structure:
    """Put a filter into the structure the kernel reads; made once, used by every child."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    return Program(len(code) // 8, code)


def turn_on(filter_: ctypes.Structure) -> None:
    """Bind this process to a filter, for ever; needs no-new-privileges.

    Raises:
        OSError: when the kernel refuses.
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
    yield from _when(9, _mmap())
    yield from _when(10, _mprotect())
    yield from _when(28, _madvise())
    yield from _when(202, _futex())
    yield Instruction(_RETURN, _KILL)


def _when(number: int, steps: tuple[Instruction, ...]) -> Iterator[Instruction]:
    """Take the steps, which decide, for one system call; go past them for all others."""
    yield Instruction(_EQUAL, number, 0, len(steps))
    yield from steps


def _mmap() -> tuple[Instruction, ...]:
    """Let private memory be mapped, never code and never a file."""
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
    """Let protection change, never to code."""
    return (
        _argument(2),
        Instruction(_ANY_BIT, _PROT_EXEC, 0, 1),
        Instruction(_RETURN, _KILL),
        Instruction(_RETURN, _ALLOW),
    )


def _madvise() -> tuple[Instruction, ...]:
    """Let the allocator give pages back; no other advice."""
    return (
        _argument(2),
        Instruction(_EQUAL, _MADV_DONTNEED, 0, 1),
        Instruction(_RETURN, _ALLOW),
        Instruction(_RETURN, _EPERM),
    )


def _futex() -> tuple[Instruction, ...]:
    """Let locks wait and wake; none of the calls that requeue."""
    commands = _FUTEX_WAIT_AND_WAKE
    known = (
        Instruction(_EQUAL, command, len(commands) - at, 0) for at, command in enumerate(commands)
    )
    return (
        _argument(1),
        Instruction(_AND, _FUTEX_COMMAND),
        *known,
        Instruction(_RETURN, _KILL),
        Instruction(_RETURN, _ALLOW),
    )


def _argument(index: int) -> Instruction:
    """Load the low half of a call's argument; every flag looked at lives there."""
    return Instruction(_LOAD, 16 + 8 * index)
