"""Restrict files, TCP, abstract sockets and signals by Landlock, where the kernel supports it."""

import contextlib
import ctypes
import os
import struct

from . import system

_VERSION_FLAG = 1
_FILES_SINCE = ((1, 0x1FFF), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""The kinds of file access that each version of the interface can deny."""
_NET_SINCE, _NET = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


def version() -> int:
    """Return the version of Landlock that the kernel supports; 0 when it has none."""
    with contextlib.suppress(OSError):
        return system.syscall(system.SYS_LANDLOCK_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    return 0


def restrict() -> int:
    """Deny everything that this kernel's Landlock can deny, for this process and its children.

    Open descriptors stay open. Requires no-new-privileges.

    Returns:
        The version in force; 0 when the kernel has none and nothing is denied.
    """
    supported = version()
    if not supported:
        return 0
    files = sum(bits for since, bits in _FILES_SINCE if supported >= since)
    rules = struct.pack("=Q", files)
    if supported >= _NET_SINCE:
        rules += struct.pack("=Q", _NET)
    if supported >= _SCOPES_SINCE:
        rules += struct.pack("=Q", _SCOPES)
    ruleset = system.syscall(
        system.SYS_LANDLOCK_CREATE_RULESET, ctypes.c_char_p(rules), len(rules), 0
    )
    try:
        system.syscall(system.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return supported
