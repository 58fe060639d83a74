"""The zygote: load the modules that programs may import, then fork a child for each request.

The zygote never reads a program. It receives descriptors, passes them to the child and reports the
kernel's record of the child's end; a program has no way to reach it.
"""

import fcntl
import gc
import mmap
import os
import platform
import resource
import select
import signal
import socket
import sys
import time
import warnings
from typing import NoReturn

from . import child, identity, landlock, seccomp, system
from .preload import load
from .wire import REQUEST_BYTES, Report, WireRequest

_FIRST_FREE = child.READY + 1
_PAGE = mmap.PAGESIZE
_MAX_PAGES = 1 << 34
_LAST_WAIT_S = 0.05
"""Seconds for the kernel to count the wait with which a killed process ends.

It is counted after its parent can collect the process. One of 600 programs that wait for themselves
was collected before, and then looked like one that the machine had not let run.
"""


def main(arguments: list[str]) -> NoReturn:
    """Serve requests until the supervisor ends.

    Args:
        arguments: number of the socket's descriptor; process id of the supervisor, 0 when another
            process namespace hides it; ``landlock`` or ``-``; ``sympy`` or ``-``.
    """
    descriptor, supervisor, isolation, libraries = arguments
    warnings.simplefilter("ignore")
    random_seed = int(os.environ["PYTHONHASHSEED"])
    versions = load(sympy=libraries == "sympy", random_seed=random_seed)
    control = socket.socket(fileno=_next_to_child_descriptors(int(descriptor)))
    own_namespace = identity.drop_privileges()
    landlock_version = landlock.restrict() if isolation == "landlock" else 0
    system.prctl(
        system.PR_SET_PDEATHSIG, signal.SIGKILL
    )  # set last, because a change of user resets it
    if int(supervisor) not in {0, os.getppid()}:
        os._exit(0)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # Python has installed handlers
        signal.signal(number, signal.SIG_DFL)
    system.prctl(system.PR_SET_DUMPABLE, 0)  # a core may be piped to a program of the host
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.argv[:] = ["program"]
    os.chdir("/")
    gc.collect()
    gc.freeze()  # the children's collector skips what is loaded, so its pages stay shared
    zygote = _Zygote(control, random_seed)
    greeting = (
        f"landlock={landlock_version} own_namespace={int(own_namespace)} "
        f"python={platform.python_version()} {versions}"
    )
    control.send(greeting.encode())
    zygote.serve()


class _Zygote:
    def __init__(self, control: socket.socket, random_seed: int) -> None:
        self._control = control
        self._random_seed = random_seed
        self._filter = seccomp.load_filter(seccomp.program())
        self._pid = os.getpid()
        self._base_kib = _resident_kib_of_a_fork()
        self._base_bytes = _address_space()

    def serve(self) -> NoReturn:
        while True:
            record, descriptors, _, _ = socket.recv_fds(self._control, REQUEST_BYTES + 1, 3)
            if not record:
                os._exit(0)
            report = self._run(WireRequest.unpack(record), descriptors)
            self._control.send(report.pack())

    def _run(self, request: WireRequest, descriptors: list[int]) -> Report:
        source, answer, prints = descriptors
        received, ready = os.pipe()
        start = time.monotonic()
        process = os.fork()
        if process == 0:
            child.run_and_exit(
                request,
                descriptors=(source, prints, answer, ready),
                zygote=self._pid,
                base_bytes=self._base_bytes,
                filter_=self._filter,
                random_seed=self._random_seed,
            )
        for descriptor in (*descriptors, ready):
            os.close(descriptor)
        expired = not self._has_ended(process, start + request.wall_s)
        if expired:
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        wall_s = time.monotonic() - start
        if expired:
            time.sleep(_LAST_WAIT_S)
        _, status, usage = os.wait4(process, 0)
        isolated = os.read(received, 1) == b"!"
        os.close(received)
        return Report(
            number=request.number,
            ready=isolated,
            expired=expired,
            status=status,
            cpu_us=round((usage.ru_utime + usage.ru_stime) * 1e6),
            wall_us=round(wall_s * 1e6),
            memory_kib=max(0, usage.ru_maxrss - self._base_kib),
            waits=usage.ru_nvcsw,
        )

    def _has_ended(self, process: int, deadline: float) -> bool:
        """Return whether a child ends before its deadline; exit when the supervisor ends."""
        handle = os.pidfd_open(process)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            poll.register(self._control, 0)  # hang-up only
            left = max(0.0, deadline - time.monotonic())
            events = dict(poll.poll(left * 1000))
        finally:
            os.close(handle)
        if self._control.fileno() in events:
            os._exit(0)
        return bool(events)


def _next_to_child_descriptors(descriptor: int) -> int:
    """Move the socket to the number after those a child uses, and return it.

    The child's numbers are occupied and everything above is closed: descriptors received later
    have the next numbers, so that none is overwritten and none is out of a limit's reach.
    """
    if descriptor < _FIRST_FREE:
        descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_FREE)
    os.dup2(descriptor, _FIRST_FREE)
    for number in range(child.ANSWER, _FIRST_FREE):
        os.dup2(0, number)
    system.close_from(_FIRST_FREE + 1)
    return _FIRST_FREE


def _resident_kib_of_a_fork() -> int:
    """Return the peak memory (KiB) of a child that does nothing: pages shared with the zygote."""
    process = os.fork()
    if process == 0:
        os._exit(0)
    return os.wait4(process, 0)[2].ru_maxrss


def _address_space() -> int:
    """Return the size of this process's address space in bytes, measured without /proc.

    The smallest limit under which one more page can be mapped is one page above it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, _MAX_PAGES if hard == resource.RLIM_INFINITY else hard // _PAGE
    try:
        while low < high:
            middle = (low + high) // 2
            resource.setrlimit(resource.RLIMIT_AS, (middle * _PAGE, hard))
            if _can_map():
                high = middle
            else:
                low = middle + 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return (low - 1) * _PAGE


def _can_map() -> bool:
    try:
        mmap.mmap(-1, _PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, MemoryError):
        return False
    return True
