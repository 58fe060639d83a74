"""The protocol between supervisor and zygote: fixed records over a socket that separates them.

A request comes with three descriptors: the source, the answer, and where prints go. The zygote
passes them on to the child it forks and never looks into them, so it cannot remember a program.
"""

import struct
from typing import NamedTuple

ENTRIES = ("solver", "seq", "gen")
HELLO_BYTES = 4096
"""No greeting is longer."""


class Request(NamedTuple):
    """Ask a zygote for one run.

    Attributes:
        source_bytes: length of the source.
        entry: index into :data:`ENTRIES`.
        n_check: terms wanted.
        cpu_s: processor seconds after which the kernel kills the child.
        wall_s: seconds after which the zygote kills it.
        memory_bytes: address space above the zygote's own.
        output_bytes: size at which the kernel stops the answer, and the prints.
        max_term_digits: digits of one term.
    """

    source_bytes: int
    entry: int
    n_check: int
    cpu_s: float
    wall_s: float
    memory_bytes: int
    output_bytes: int
    max_term_digits: int

    def pack(self) -> bytes:
        """Write it."""
        return _REQUEST.pack(*self)

    @classmethod
    def unpack(cls, record: bytes) -> "Request":
        """Read it."""
        return cls._make(_REQUEST.unpack(record))


class Report(NamedTuple):
    """Say how a child ended, in the kernel's words.

    Attributes:
        ready: whether the wall stood before the source was read.
        expired: whether the zygote killed it for its wall time.
        status: the wait status.
        cpu_us: processor time in microseconds, user and system.
        wall_us: microseconds from fork to end.
        memory_kib: peak resident memory above the zygote's own.
    """

    ready: bool
    expired: bool
    status: int
    cpu_us: int
    wall_us: int
    memory_kib: int

    def pack(self) -> bytes:
        """Write it."""
        return _REPORT.pack(*self)

    @classmethod
    def unpack(cls, record: bytes) -> "Report":
        """Read it.

        Raises:
            struct.error: when the record is none.
        """
        return cls._make(_REPORT.unpack(record))


_REQUEST = struct.Struct("=QBIddQQI")
_REPORT = struct.Struct("=??IQQQ")
REPORT_BYTES = _REPORT.size
REQUEST_BYTES = _REQUEST.size
