"""Restrict files, TCP, abstract sockets and signals by landlock, where the kernel has it."""

import contextlib
import ctypes
import os
import struct

from . import system

_VERSION_FLAG = 1
_FILES_SINCE = ((1, 0x1FFF), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""Which kinds of access to files each version of the interface can refuse."""
_NET_SINCE, _NET = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


def version() -> int:
    """Return the version of landlock the kernel offers; 0 when it has none."""
    with contextlib.suppress(OSError):
        return system.syscall(system.SYS_LANDLOCK_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    return 0


def shut() -> int:
    """Refuse everything this kernel's landlock can refuse, for this process and its children.

    Descriptors that are open stay open. Needs no-new-privileges.

    Returns:
        The version that stands; 0 when the kernel has none and nothing was refused.
    """
    offered = version()
    if not offered:
        return 0
    files = sum(bits for since, bits in _FILES_SINCE if offered >= since)
    rules = struct.pack("=Q", files)
    if offered >= _NET_SINCE:
        rules += struct.pack("=Q", _NET)
    if offered >= _SCOPES_SINCE:
        rules += struct.pack("=Q", _SCOPES)
    ruleset = system.syscall(
        system.SYS_LANDLOCK_CREATE_RULESET, ctypes.c_char_p(rules), len(rules), 0
    )
    try:
        system.syscall(system.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return offered
