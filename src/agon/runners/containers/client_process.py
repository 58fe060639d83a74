"""Run one container and watch it: store the beginning of its output, stop it at its limits."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Final, Literal, Self, TypeAlias

from agon.app.containers import Limits, Stream
from agon.runners.containers.first_process import KEPT, has_ended
from agon.runners.containers.isolation import HAND_OVER_S, OUTER_GRACE_S, report_bytes

End: TypeAlias = Literal["itself", "time", "output", "storage", "start"]
"""Why a container ended: by itself, or at which limit it was removed."""

Started: TypeAlias = Callable[["subprocess.Popen[bytes]"], None]
"""Called with the engine's client when it runs; its stdin is a pipe then."""

ResultFile: TypeAlias = Literal["file", "pipe", "kept pipe"]
"""How the result file arrives: as a mounted file, over a pipe, over that of a container that may go
on after its archive."""

_TICK_S: Final = 0.25
_SHORT_S: Final = 0.02
_PIECE: Final = 1 << 16
_FLOOD: Final = 64
_TIMEOUT_S: Final = 30.0
_ONE_COMPLAINT: Final = 8192
_KEPT_LINE: Final = f"{KEPT}\n".encode()


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """What the host observed of a container.

    Attributes:
        end: why it ended.
        begun: whether the command began.
        client_code: exit code of the engine's client; negative: killed by that signal.
        wall_s: seconds from the engine's start to the client's end.
        stdout: the beginning of stdout.
        stderr: the same of stderr.
        complaint: the end of stderr, where the engine's client writes its errors.
        running: the client, if the container goes on with what the command left.
    """

    end: End
    begun: bool
    client_code: int
    wall_s: float
    stdout: Stream
    stderr: Stream
    complaint: bytes
    running: "RunningClient | None" = None


class BoundedStream:
    """Store the beginning of a stream in a file, count the rest, remember the end."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.stored = self.total = 0
        self.end = b""

    def take(self, piece: bytes) -> None:
        """Add a chunk."""
        part = piece[: self._most - self.stored]
        self._file.write(part)
        self._file.flush()
        self.stored += len(part)
        self.total += len(piece)
        self.end = (self.end + piece)[-_ONE_COMPLAINT:]

    @property
    def floods(self) -> bool:
        """Whether far more was printed than is stored."""
        return self.total > _FLOOD * self._most


class ContainerWatch:
    """Decide when a container must be removed, from its result file and its output.

    The outer limit counts from the start of the command, so a slow machine does not shorten it.
    The start shows in the ctime of the result file, which no command can set.
    """

    def __init__(self, account: Path, limits: Limits, streams: Sequence[BoundedStream]) -> None:
        self._account, self._limits, self._streams = account, limits, streams
        self._most = report_bytes(limits)
        self._untouched = account.stat().st_ctime_ns
        self._deadline = time.monotonic() + HAND_OVER_S
        self._phase: Literal["start", "command", "handing over"] = "start"

    @property
    def begun(self) -> bool:
        """Whether the command began."""
        return self._account.stat().st_ctime_ns != self._untouched

    @property
    def overflows(self) -> bool:
        """Whether the result file is larger than a trial may write."""
        return self._account.stat().st_size > self._most

    def verdict(self) -> End | None:
        """Return why it must be removed now; None while it may run."""
        if any(stream.floods for stream in self._streams):
            return "output"
        if self.overflows:
            return "storage"
        now = time.monotonic()
        if self._phase == "start" and self.begun:
            self._phase = "command"
            self._deadline = now + self._limits.timeout_s + OUTER_GRACE_S
        if self._phase == "command" and has_ended(self._account):
            self._phase = "handing over"
            self._deadline += HAND_OVER_S
        if now <= self._deadline:
            return None
        return "start" if self._phase == "start" else "time"


class ReportPipe:
    """The pipe over which a container's first process sends its result file; a context manager.

    The host writes the file, one byte more than the trial's budget at most.
    """

    def __init__(self, account: Path, limits: Limits, *, keeping: bool) -> None:
        self._file = account.open("wb")
        self._keeping = keeping
        self.stream = BoundedStream(self._file, report_bytes(limits) + 1)
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)

    @property
    def is_complete(self) -> bool:
        """Whether the archive is complete and the container goes on."""
        return self._keeping and self.stream.end.endswith(_KEPT_LINE)

    def cut(self) -> None:
        """Remove the line after the archive from the file."""
        self._file.truncate(self.stream.stored - len(_KEPT_LINE))

    def with_pipe(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return a command that starts another with the pipe as descriptor 3."""
        opening = 'exec 3> "/proc/self/fd/$0"; exec "$@"'
        return ("sh", "-c", opening, str(self.write_end), *command)

    def close_write_end(self) -> None:
        """Close the end that only the container needs; may be called twice."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def read_rest(self) -> None:
        """Read what is in the pipe, without waiting for more."""
        with suppress(BlockingIOError):
            while piece := os.read(self.read_end, _PIECE):
                self.stream.take(piece)

    def __enter__(self) -> Self:
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipe and the file."""
        self.close_write_end()
        os.close(self.read_end)
        self._file.close()


def run_client(
    command: Sequence[str],
    *,
    account: Path,
    limits: Limits,
    folder: Path,
    remove: Callable[[], None],
    inherited: int,
    result_file: ResultFile,
    started: Started | None = None,
) -> ClientResult:
    """Start the engine's client, read its output to the end, remove the container at a limit.

    Args:
        command: the client's whole command line.
        account: the container's result file; the client works in its folder.
        limits: what the container may use.
        folder: where ``stdout.txt`` and ``stderr.txt`` are written.
        remove: removes the container, whatever state it is in.
        inherited: a descriptor the client keeps open (:class:`CleanupGuard`).
        result_file: how the result file arrives; a pipe is the client's descriptor 3.
        started: called with the client.

    Raises:
        OSError: a file cannot be written, for example because the host's disk is full.
    """
    begin = time.monotonic()
    most = limits.output_kib << 10
    paths = (folder / "stdout.txt", folder / "stderr.txt")
    with ExitStack() as resources:
        out, err = (resources.enter_context(path.open("wb")) for path in paths)
        streams = (BoundedStream(out, most), BoundedStream(err, most))
        report = None
        if result_file != "file":
            pipe = ReportPipe(account, limits, keeping=result_file == "kept pipe")
            report = resources.enter_context(pipe)
        watch = ContainerWatch(account, limits, streams)
        process = resources.enter_context(
            _start(command, account, inherited, report, reads_input=started is not None)
        )
        end = _follow(process, streams, watch, report, remove=remove, started=started)
        running = None
        if end == "itself" and report is not None and report.is_complete:
            report.cut()
            running = RunningClient(process, streams, remove, resources.pop_all())
        elif end == "itself" and watch.overflows:
            end = "storage"
    stdout, stderr = map(_stream_of, paths, streams)
    return ClientResult(
        end=end,
        begun=watch.begun,
        client_code=process.returncode if running is None else 0,
        wall_s=time.monotonic() - begin,
        stdout=stdout,
        stderr=stderr,
        complaint=streams[1].end,
        running=running,
    )


def _follow(
    process: "subprocess.Popen[bytes]",
    streams: tuple[BoundedStream, BoundedStream],
    watch: ContainerWatch,
    report: ReportPipe | None,
    *,
    remove: Callable[[], None],
    started: Started | None,
) -> End:
    """Read a client's output to its end; an error ends the client and removes the container."""
    try:
        if report is not None:
            report.close_write_end()
        if started is not None:
            started(process)
        return follow(process, streams, verdict=watch.verdict, remove=remove, report=report)
    except BaseException:
        remove()
        process.kill()
        raise


def _stream_of(path: Path, stream: BoundedStream) -> Stream:
    return Stream(path=path, stored=stream.stored, total=stream.total)


def _start(
    command: Sequence[str],
    account: Path,
    inherited: int,
    report: ReportPipe | None,
    *,
    reads_input: bool,
) -> "subprocess.Popen[bytes]":
    """Start the client, which keeps ``inherited`` open, and the pipe of the report."""
    return subprocess.Popen(  # noqa: S603  # the engine found, agon's own arguments
        command if report is None else report.with_pipe(command),
        stdin=subprocess.PIPE if reads_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(inherited,) if report is None else (inherited, report.write_end),
        cwd=account.parent,  # the engine's monitor leaves a file `oom` where it stands
        bufsize=0,
        start_new_session=True,  # a kill of this process's group must not end it half-way
    )


class RunningClient:
    """The client of a container that goes on; its output is read, and bounded as before."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        streams: tuple[BoundedStream, BoundedStream],
        remove: Callable[[], None],
        resources: ExitStack,
    ) -> None:
        self._process = process
        self._streams = streams
        self._remove = remove
        self._resources = resources
        self._thread = Thread(target=self._read, name="kept", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Remove the container, and wait until its client has ended."""
        self._remove()
        self._thread.join()

    def _read(self) -> None:
        with self._resources:
            follow(
                self._process,
                self._streams,
                verdict=self._verdict,
                remove=self._remove,
            )

    def _verdict(self) -> End | None:
        return "output" if any(stream.floods for stream in self._streams) else None


def follow(
    process: "subprocess.Popen[bytes]",
    streams: tuple[BoundedStream, BoundedStream],
    *,
    verdict: Callable[[], End | None],
    remove: Callable[[], None],
    report: "ReportPipe | None" = None,
) -> End:
    """Read stdout and stderr to their ends; remove the container at the verdict, and read on.

    Both run concurrently: an engine that cannot write its output removes nothing. A report is read
    on the way and as far as it has come when the process has ended, or to the end of the archive
    of a container that goes on.
    """
    end: End = "itself"
    last_moment = None
    removing: Thread | None = None
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip((process.stdout, process.stderr), streams, strict=True):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, stream)
        if report is not None:
            selector.register(report.read_end, selectors.EVENT_READ, report.stream)
        while (_read(selector, streams) or process.poll() is None) and not _is_kept(report):
            # Both streams ended but the process lives: there is nothing left to wake up for.
            if not selector.get_map():
                _wait(process, _TICK_S)
            if end == "itself" and (reason := verdict()):
                end = reason
                last_moment = time.monotonic() + _TIMEOUT_S
                # An engine that is stuck must not keep this thread from reading its output.
                removing = Thread(target=remove, name="remove", daemon=True)
                removing.start()
            # The container is gone or cannot be removed; its client is not waited for.
            if last_moment is not None and time.monotonic() > last_moment:
                process.kill()
                break
    if removing is not None:
        removing.join()
    if report is not None and not report.is_complete:
        report.read_rest()
    return end


def _is_kept(report: "ReportPipe | None") -> bool:
    return report is not None and report.is_complete


def _read(selector: selectors.BaseSelector, streams: Sequence[BoundedStream]) -> bool:
    """Read what has come; return whether one of the streams is still open."""
    opened = [key.data in streams for key in selector.get_map().values()]
    for key, _ in selector.select(_TICK_S if any(opened) else _SHORT_S) if opened else ():
        if piece := os.read(key.fd, _PIECE):
            key.data.take(piece)
        else:
            selector.unregister(key.fileobj)
    return any(opened)


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
