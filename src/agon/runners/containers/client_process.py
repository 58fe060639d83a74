"""Run one container and watch it: store the beginning of its output, stop it at its limits."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Final, Literal, TypeAlias

from agon.app.containers import Limits, Stream
from agon.runners.containers.first_process import has_ended
from agon.runners.containers.isolation import HAND_OVER_S, OUTER_GRACE_S

End: TypeAlias = Literal["itself", "time", "output", "start"]
"""Why a container ended: by itself, or at which limit it was removed."""

Started: TypeAlias = Callable[["subprocess.Popen[bytes]"], None]
"""Called with the engine's client when it runs; its stdin is a pipe then."""

_TICK_S: Final = 0.25
_PIECE: Final = 1 << 16
_FLOOD: Final = 64
_TIMEOUT_S: Final = 30.0
_ONE_COMPLAINT: Final = 8192


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """What the host observed of a container.

    Attributes:
        end: why it ended.
        client_code: exit code of the engine's client; negative: killed by that signal.
        wall_s: seconds from the engine's start to the client's end.
        stdout: the beginning of stdout.
        stderr: the same of stderr.
        complaint: the end of stderr, where the engine's client writes its errors.
    """

    end: End
    client_code: int
    wall_s: float
    stdout: Stream
    stderr: Stream
    complaint: bytes


class BoundedStream:
    """Store the beginning of a stream in a file, count the rest, remember the end."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, most
        self.kept = self.total = 0
        self.end = b""

    def take(self, piece: bytes) -> None:
        """Add a chunk."""
        part = piece[: self._most - self.kept]
        self._file.write(part)
        self.kept += len(part)
        self.total += len(piece)
        self.end = (self.end + piece)[-_ONE_COMPLAINT:]

    @property
    def floods(self) -> bool:
        """Whether far more was printed than is stored."""
        return self.total > _FLOOD * self._most


class Watch:
    """Decide when a container must be removed, from its result file and its output.

    The outer limit counts from the start of the command, so a slow machine does not shorten it.
    The start shows in the ctime of the result file, which no command can set.
    """

    def __init__(self, account: Path, limits: Limits, streams: Sequence[BoundedStream]) -> None:
        self._account, self._limits, self._streams = account, limits, streams
        self._untouched = account.stat().st_ctime_ns
        self._deadline = time.monotonic() + HAND_OVER_S
        self._phase: Literal["start", "command", "handing over"] = "start"

    def verdict(self) -> End | None:
        """Return why it must be removed now; None while it may run."""
        if any(stream.floods for stream in self._streams):
            return "output"
        now = time.monotonic()
        if self._phase == "start" and self._account.stat().st_ctime_ns != self._untouched:
            self._phase = "command"
            self._deadline = now + self._limits.timeout_s + OUTER_GRACE_S
        if self._phase == "command" and has_ended(self._account):
            self._phase = "handing over"
            self._deadline += HAND_OVER_S
        if now <= self._deadline:
            return None
        return "start" if self._phase == "start" else "time"


def run_client(
    command: Sequence[str],
    *,
    account: Path,
    limits: Limits,
    folder: Path,
    remove: Callable[[], None],
    inherited: int,
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
        started: called with the client.
    """
    begin = time.monotonic()
    most = limits.output_kib << 10
    paths = (folder / "stdout.txt", folder / "stderr.txt")
    with paths[0].open("wb") as out, paths[1].open("wb") as err:
        streams = (BoundedStream(out, most), BoundedStream(err, most))
        watch = Watch(account, limits, streams)
        process = subprocess.Popen(  # noqa: S603  # the engine found, agon's own arguments
            command,
            stdin=subprocess.DEVNULL if started is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(inherited,),
            cwd=account.parent,  # the engine's monitor leaves a file `oom` where it stands
            bufsize=0,
        )
        with process:
            try:
                if started is not None:
                    started(process)
                end = follow(process, streams, verdict=watch.verdict, remove=remove)
            except BaseException:
                remove()
                process.kill()
                raise
    stdout, stderr = (
        Stream(path=path, kept=kept.kept, total=kept.total)
        for path, kept in zip(paths, streams, strict=True)
    )
    return ClientResult(
        end=end,
        client_code=process.returncode,
        wall_s=time.monotonic() - begin,
        stdout=stdout,
        stderr=stderr,
        complaint=streams[1].end,
    )


def follow(
    process: "subprocess.Popen[bytes]",
    streams: tuple[BoundedStream, BoundedStream],
    *,
    verdict: Callable[[], End | None],
    remove: Callable[[], None],
) -> End:
    """Read stdout and stderr to their ends; remove the container at the verdict, and read on.

    Both run concurrently: an engine that cannot write its output removes nothing.
    """
    end: End = "itself"
    last_moment = None
    removing: Thread | None = None
    with selectors.DefaultSelector() as selector:
        for pipe, stream in zip((process.stdout, process.stderr), streams, strict=True):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, stream)
        while selector.get_map() or process.poll() is None:
            for key, _ in selector.select(_TICK_S) if selector.get_map() else ():
                if piece := os.read(key.fd, _PIECE):
                    key.data.take(piece)
                else:
                    selector.unregister(key.fileobj)
            if not selector.get_map():
                _wait(process, _TICK_S)
            if end == "itself" and (reason := verdict()):
                end = reason
                last_moment = time.monotonic() + _TIMEOUT_S
                removing = Thread(target=remove, name="remove", daemon=True)
                removing.start()
            if last_moment is not None and time.monotonic() > last_moment:
                process.kill()
                break
    if removing is not None:
        removing.join()
    return end


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
