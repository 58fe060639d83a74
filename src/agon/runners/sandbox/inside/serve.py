"""The zygote: load what programs may import, then fork a child for each request.

The zygote never sees a program. It receives descriptors, hands them to the child and reports the
kernel's record of the child's end; a program has no way to reach it.
"""

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
from .wire import REQUEST_BYTES, Report, Request

_FIRST_FREE = child.READY + 1
_PAGE = mmap.PAGESIZE
_MOST_PAGES = 1 << 34


def main(arguments: list[str]) -> NoReturn:
    """Serve until the supervisor goes.

    Args:
        arguments: number of the socket's descriptor; process id of the supervisor, 0 when another
            process namespace hides it; ``landlock`` or ``-``; ``sympy`` or ``-``.
    """
    descriptor, supervisor, walls, libraries = arguments
    warnings.simplefilter("ignore")
    random_seed = int(os.environ["PYTHONHASHSEED"])
    versions = load(sympy=libraries == "sympy", random_seed=random_seed)
    control = socket.socket(fileno=_out_of_the_way(int(descriptor)))
    own_namespace = identity.drop_privileges()
    landlocked = landlock.shut() if walls == "landlock" else 0
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user would have undone it
    if int(supervisor) not in {0, os.getppid()}:
        os._exit(0)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # Python has its own handlers
        signal.signal(number, signal.SIG_DFL)
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.argv[:] = ["program"]
    os.chdir("/")
    gc.collect()
    gc.freeze()  # the children's collector leaves what is loaded alone, so its pages stay shared
    zygote = _Zygote(control, random_seed)
    greeting = (
        f"landlock={landlocked} own_namespace={int(own_namespace)} "
        f"python={platform.python_version()} {versions}"
    )
    control.send(greeting.encode())
    zygote.serve()


class _Zygote:
    def __init__(self, control: socket.socket, random_seed: int) -> None:
        self._control = control
        self._random_seed = random_seed
        self._filter = seccomp.loaded(seccomp.program())
        self._pid = os.getpid()
        self._base_kib = _resident_kib_of_a_fork()
        self._base_bytes = _address_space()

    def serve(self) -> NoReturn:
        while True:
            record, descriptors, _, _ = socket.recv_fds(self._control, REQUEST_BYTES + 1, 3)
            if not record:
                os._exit(0)
            report = self._run(Request.unpack(record), descriptors)
            self._control.send(report.pack())

    def _run(self, request: Request, descriptors: list[int]) -> Report:
        source, answer, prints = descriptors
        told, ready = os.pipe()
        begin = time.monotonic()
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
        expired = not self._ended(process, begin + request.wall_s)
        if expired:
            os.kill(process, signal.SIGKILL)
        _, status, usage = os.wait4(process, 0)
        wall_s = time.monotonic() - begin
        stood = os.read(told, 1) == b"!"
        os.close(told)
        return Report(
            ready=stood,
            expired=expired,
            status=status,
            cpu_us=round((usage.ru_utime + usage.ru_stime) * 1e6),
            wall_us=round(wall_s * 1e6),
            memory_kib=max(0, usage.ru_maxrss - self._base_kib),
        )

    def _ended(self, process: int, deadline: float) -> bool:
        """Wait for a child until its deadline; go when the supervisor goes."""
        handle = os.pidfd_open(process)
        try:
            waiting = select.poll()
            waiting.register(handle, select.POLLIN)
            waiting.register(self._control, 0)  # hang-up alone
            left = max(0.0, deadline - time.monotonic())
            events = dict(waiting.poll(left * 1000))
        finally:
            os.close(handle)
        if self._control.fileno() in events:
            os._exit(0)
        return bool(events)


def _out_of_the_way(descriptor: int) -> int:
    """Move the socket above the places a child's descriptors take, and fill those.

    Then whatever is received later lies above them too, and putting it in place clobbers nothing.
    """
    moved = descriptor
    while moved < _FIRST_FREE:
        moved = os.dup(moved)
    for place in range(child.ANSWER, _FIRST_FREE):
        os.dup2(0, place)
    return moved


def _resident_kib_of_a_fork() -> int:
    """Measure what a child takes by being there: the pages it shares with the zygote."""
    process = os.fork()
    if process == 0:
        os._exit(0)
    return os.wait4(process, 0)[2].ru_maxrss


def _address_space() -> int:
    """Measure this process's address space in bytes, without /proc.

    The smallest limit under which one more page can be mapped is one page above it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, _MOST_PAGES if hard == resource.RLIM_INFINITY else hard // _PAGE
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
