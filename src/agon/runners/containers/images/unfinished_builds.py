"""Find builds whose owner was killed, and remove what they left.

Podman builds in containers of its storage that have neither labels nor a name of their own. Each
build of agon states a further host name, which shows the process that started it; podman stores it
in the container's file ``buildah.json``, and it is on the builder's command line. What a build's
command started outlives a killed builder; it is found by its root folder.

Builds of docker run in its daemon, which removes what they leave.
"""

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from agon.runners.containers.descendants import kill_tree, start_time
from agon.runners.containers.engine import CommandLine, EngineError

_HOST: Final = re.compile(r"(agon-[0-9a-f]{12})\.(\d+)\.(\d+)\.agon\.invalid")
_ROUNDS: Final = 5
_PAUSE_S: Final = 0.2


class BuildContainer(NamedTuple):
    """A container in which an image was being built.

    Attributes:
        number: its id.
        layer: the id of its root folder.
    """

    number: str
    layer: str


def host_of_build(owner: str) -> str:
    """Return the host name that marks the builds of this process.

    Example:
        >>> bool(_HOST.fullmatch(host_of_build("agon-0123456789ab")))
        True
    """
    return f"{owner}.{os.getpid()}.{start_time(os.getpid())}.agon.invalid"


def remove_unfinished_builds(engine: CommandLine, *, host: str = "") -> int:
    """Kill builds whose owner has ended, remove their containers; return the containers' number.

    Args:
        engine: the engine.
        host: the host name of this process's own builds, when none of them runs: these as well.

    Raises:
        EngineError: a container cannot be removed.
    """
    if engine.storage is None:
        return 0
    for builder in _builders(host):
        kill_tree(builder)
    removed: set[str] = set()
    for round_number in range(_ROUNDS):
        containers = list(_containers(engine.storage, host))
        for container in containers:
            _kill_rooted_in(container.layer)
        numbers = [container.number for container in containers]
        removed.update(numbers)
        try:
            engine.remove(numbers)
            break
        except EngineError:  # a process that was killed may not have ended yet
            if round_number == _ROUNDS - 1:
                raise
            time.sleep(_PAUSE_S)
    return len(removed)


def _is_unfinished(text: str, host: str) -> bool:
    """Return whether a text names a build of this host, or of an owner that has ended."""
    match = _HOST.search(text)
    return match is not None and (match[0] == host or start_time(int(match[2])) != match[3])


def _builders(host: str) -> Iterator[int]:
    """Yield the processes that build for such owners."""
    for process, folder in _processes():
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            marks = [word for word in words if word.startswith("--add-host=")]
            if "build" in words and any(_is_unfinished(word, host) for word in marks):
                yield process


def _containers(storage: Path, host: str) -> Iterator[BuildContainer]:
    """Yield the containers of such builds."""
    for file in storage.glob("*/userdata/buildah.json"):
        with suppress(OSError, ValueError):
            text = file.read_text(encoding="utf-8")
            if _is_unfinished(text, host):
                layer = Path(json.loads(text).get("mountpoint") or "").parent.name
                yield BuildContainer(number=file.parent.parent.name, layer=layer)


def _kill_rooted_in(layer: str) -> None:
    """Kill the processes whose root folder is a layer of the storage."""
    for process, folder in _processes() if layer else ():
        with suppress(OSError):
            mounts = (line.split() for line in (folder / "mountinfo").read_text().splitlines())
            if any(fields[4] == "/" and layer in " ".join(fields) for fields in mounts):
                os.kill(process, signal.SIGKILL)


def _processes() -> Iterator[tuple[int, Path]]:
    """Yield the processes of this machine with their folders in ``/proc``."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            yield int(folder.name), folder
