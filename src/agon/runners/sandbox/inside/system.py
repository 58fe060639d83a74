"""System calls for which Python has no function."""

import ctypes
import os
import struct

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

SYS_CAPSET = 126
SYS_TIMER_CREATE = 222
SYS_TIMER_SETTIME = 223
SYS_UNSHARE = 272
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_RESTRICT_SELF = 446
SYS_CLOSE_RANGE = 436

CLOCK_PROCESS_CPUTIME_ID = 2
CLONE_NEWUSER = 0x10000000
_CAPABILITY_VERSION_3 = 0x20080522
_MAX_DESCRIPTOR = 0xFFFFFFFF
_MAX_DESCRIPTORS = 1 << 20
"""What ``fs.nr_open`` is unless an administrator raised it."""

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int, further: object = 0) -> None:
    """Call ``prctl`` to change one attribute of this process.

    Raises:
        OSError: the kernel rejects the call.
    """
    zero = ctypes.c_ulong(0)
    third = ctypes.c_ulong(further) if isinstance(further, int) else further
    if _libc.prctl(option, ctypes.c_ulong(value), third, zero, zero):
        _fail(f"prctl {option}")


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number and return its result; integers are passed as 64 bits.

    Raises:
        OSError: the kernel rejects the call.
    """
    words = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        _fail(f"system call {number}")
    return result


def signal_after(processor_s: float, number: int) -> None:
    """Start a timer that sends this process a signal after ``processor_s`` of processor time.

    The interval timers of :mod:`signal` count in clock ticks, which on a busy machine charge a
    short run for other processes; this timer counts the time actually used.
    """
    event = struct.pack("=qii48x", 0, number, 0)
    timer = ctypes.c_int()
    syscall(SYS_TIMER_CREATE, CLOCK_PROCESS_CPUTIME_ID, ctypes.c_char_p(event), ctypes.byref(timer))
    seconds, part = divmod(processor_s, 1)
    when = struct.pack("=qqqq", 0, 0, int(seconds), int(part * 1e9) + 1)
    syscall(SYS_TIMER_SETTIME, timer.value, 0, ctypes.c_char_p(when), 0)


def close_from(lowest: int) -> None:
    """Close every descriptor from a number on, independent of the present limit on their number.

    Descriptors above a limit stay open when it is lowered, so the limit says nothing about them.
    """
    try:
        syscall(SYS_CLOSE_RANGE, lowest, _MAX_DESCRIPTOR, 0)
    except OSError:  # Linux before 5.9
        os.closerange(lowest, _MAX_DESCRIPTORS)


def drop_capabilities() -> None:
    """Drop every capability in every set of this process."""

    class Header(ctypes.Structure):
        _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))

    header = Header(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(SYS_CAPSET, ctypes.byref(header), ctypes.byref(nothing))


def _fail(what: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")
