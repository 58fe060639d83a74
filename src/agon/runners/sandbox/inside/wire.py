"""The protocol between supervisor and zygote: fixed-size records over a packet socket.

A request comes with three descriptors: the source, the answer, and the output of prints. The zygote
passes them to the child it forks and never reads them, so its memory contains no program.
"""

import struct
from typing import NamedTuple

ENTRIES = ("solver", "seq", "gen")
HELLO_BYTES = 4096


class WireRequest(NamedTuple):
    """A request to a zygote for one run.

    Attributes:
        number: a number that identifies the request; the report repeats it.
        source_bytes: length of the source.
        entry: index into :data:`ENTRIES`.
        n_check: number of terms required.
        first_index: the first number that ``seq`` is called with.
        recursion_limit: how deep the program's calls may be nested.
        cpu_s: processor seconds after which the kernel kills the child.
        wall_s: seconds after which the zygote kills it.
        memory_bytes: address space above the zygote's own.
        output_bytes: maximum size of the answer, and of the prints.
        max_term_digits: maximum number of digits of one term.
        exact_integers: whether terms may be exact integers of other types than ``int``.
        variation: number of the arrangement of memory; 0 for all but repeated runs of a setter.
    """

    number: int
    source_bytes: int
    entry: int
    n_check: int
    first_index: int
    recursion_limit: int
    cpu_s: float
    wall_s: float
    memory_bytes: int
    output_bytes: int
    max_term_digits: int
    exact_integers: bool
    variation: int

    def pack(self) -> bytes:
        """Return the record as bytes."""
        return _REQUEST.pack(*self)

    @classmethod
    def unpack(cls, record: bytes) -> "WireRequest":
        """Return the request in a record."""
        return cls._make(_REQUEST.unpack(record))


class Report(NamedTuple):
    """A report of how a child ended, as the kernel recorded it.

    Attributes:
        number: the request's.
        ready: whether the isolation was complete before the source was read.
        expired: whether the zygote killed it at its wall-clock limit.
        status: the wait status.
        cpu_us: processor time in microseconds, user and system.
        wall_us: microseconds from fork to end.
        memory_kib: peak resident memory above the zygote's own.
        waits: how often the process released the processor voluntarily, to wait.
    """

    number: int
    ready: bool
    expired: bool
    status: int
    cpu_us: int
    wall_us: int
    memory_kib: int
    waits: int

    def pack(self) -> bytes:
        """Return the record as bytes."""
        return _REPORT.pack(*self)

    @classmethod
    def unpack(cls, record: bytes) -> "Report":
        """Return the report in a record.

        Raises:
            struct.error: the record has another size.
        """
        return cls._make(_REPORT.unpack(record))


_REQUEST = struct.Struct("=QQBIqIddQQI?B")
_REPORT = struct.Struct("=Q??IQQQQ")
REPORT_BYTES = _REPORT.size
REQUEST_BYTES = _REQUEST.size
