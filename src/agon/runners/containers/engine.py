"""Run ``podman`` or ``docker`` over its command line."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from agon.app.containers import ContainerEngine
from agon.errors import Unavailable, did_you_mean
from agon.runners.containers.archive_filter import printable

KNOWN: Final = ("podman", "docker")
TIMEOUT_S: Final = 60.0
"""Timeout of a small request to the engine, in seconds."""
_PAUSES_S: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Pauses before further attempts to read what other clients are adding or removing."""
_MAX_CUT_OFF: Final = 4
"""Maximum number of attempts at a container whose output is cut off."""
_UNKNOWN_ID: Final = r'parsing named reference "[0-9a-f]{64}"'
_UNSETTLED: Final = re.compile(
    rf'(container|image|layer) not known|item named "?manifest"?|{_UNKNOWN_ID}', re.IGNORECASE
)
_MISSING: Final = re.compile(
    rf"no such|\S: (container|image) not known$|{_UNKNOWN_ID}", re.IGNORECASE
)
"""What the engines say of an object that does not exist."""
_YAMA: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_INSTALL: Final = "install the Debian packages podman and runc (apt-get install podman runc)"


class EngineError(Exception):
    """The engine failed; the message is its own."""


@dataclass(frozen=True)
class CommandLine:
    """An engine that works.

    Attributes:
        command: the program and its global options.
        named: the engine as results record it.
        storage: where podman keeps the containers of builds; None for docker.
    """

    command: tuple[str, ...]
    named: ContainerEngine
    storage: Path | None = None

    @property
    def removing(self) -> tuple[str, ...]:
        """The arguments that kill containers and remove them with their volumes.

        Podman removes a container only with those that are in its network.
        """
        at_once = ("-t", "0", "--depend") if self.named.name == "podman" else ()
        return ("rm", "-f", "-v", *at_once)

    @property
    def listing(self) -> tuple[str, ...]:
        """The arguments that list the ids and names of all containers.

        Podman creates a container in its storage, with a name, before it writes its labels; one
        whose creation was killed in between is listed as external.
        """
        further = ("--external",) if self.named.name == "podman" else ()
        return ("ps", "-a", "--no-trunc", *further, "--format={{.ID}} {{.Names}}")

    def ask(
        self,
        *arguments: str,
        patience_s: float = TIMEOUT_S,
        stdin: bytes | None = None,
        inherited: tuple[int, ...] = (),
    ) -> str:
        """Run a small request and return its output.

        Args:
            arguments: the request.
            patience_s: seconds until an answer must have come.
            stdin: what the client reads; None: nothing.
            inherited: descriptors that the client keeps open.

        Raises:
            EngineError: with the last line of the engine's stderr, or that it did not answer.
        """
        try:
            done = subprocess.run(  # noqa: S603  # the engine found, agon's own arguments
                [*self.command, *arguments],
                input=b"" if stdin is None else stdin,
                capture_output=True,
                timeout=patience_s,
                check=False,
                pass_fds=inherited,
            )
        except subprocess.TimeoutExpired:
            raise EngineError(f"{arguments[0]}: no answer in {patience_s:g} s") from None
        except OSError as wrong:
            raise EngineError(f"{arguments[0]}: {wrong.strerror}") from None
        if done.returncode:
            raise EngineError(
                last_line(done.stderr) or f"{arguments[0]}: exit code {done.returncode}"
            )
        return done.stdout.decode(errors="replace")

    def run(self, *arguments: str, ending: str) -> str:
        """Run a short container and return its output up to its last line, ``ending``.

        Podman's client now and then returns exit code 0 before it has received all output of a
        container that ends at once; such a container is run again.

        Raises:
            EngineError: the container failed, or its output was cut off each time.
        """
        for pause in _PAUSES_S[:_MAX_CUT_OFF]:
            printed = self.ask("run", *arguments)
            if printed.endswith(f"{ending}\n"):
                return printed.removesuffix(f"{ending}\n")
            time.sleep(pause)
        raise EngineError(f"run: the output was cut off {_MAX_CUT_OFF} times")

    def remove(self, names: Sequence[str]) -> None:
        """Kill and remove containers; those that no longer exist are ignored.

        Raises:
            EngineError: one of them exists and could not be removed.
        """
        for index in range(0, len(names), 100):
            try:
                self.ask(*self.removing, *names[index : index + 100])
            except EngineError as wrong:
                if "no such container" not in str(wrong).lower():
                    raise

    def containers(self, *labels: str) -> list[str]:
        """Return the ids of containers with all these labels, running or not."""
        filters = (f"--filter=label={label}" for label in labels)
        return self._read("ps", "-a", "-q", "--no-trunc", *filters).split()

    def containers_named(self, pattern: str) -> list[str]:
        """Return the ids of containers whose whole name matches a regular expression."""
        rows = (line.partition(" ") for line in self._read(*self.listing).splitlines())
        return [number for number, _, name in rows if re.fullmatch(pattern, name)]

    def images(self, label: str) -> list[str]:
        """Return the ids of images with this label, each once."""
        listed = self._read("images", "-q", "--no-trunc", f"--filter=label={label}")
        return list(dict.fromkeys(listed.split()))

    def _read(self, *arguments: str, final: re.Pattern[str] | None = None) -> str:
        """Run a request that reads, again when it met what another client adds or removes.

        Messages that match ``final`` are raised at once.
        """
        for pause in _PAUSES_S:
            try:
                return self.ask(*arguments)
            except EngineError as error:
                if not is_unsettled(str(error)) or (final and final.search(str(error))):
                    raise
            time.sleep(pause)
        return self.ask(*arguments)

    def inspect(self, what: str, name: str) -> Mapping[str, Any] | None:
        """Return the description of an image or a container; None when there is none.

        Raises:
            EngineError: the engine fails in another way.
        """
        try:
            objects = json.loads(self._read(what, "inspect", name, final=_MISSING))
        except EngineError as wrong:
            if _MISSING.search(str(wrong)):
                return None
            raise
        return dict(objects[0])


def is_unsettled(message: str) -> bool:
    """Return whether podman failed because another client was adding or removing what it read.

    Its storage is locked for each step and not for a whole request, so that a list, a description,
    and a build that looks for cached layers fail on an image that is not yet, or no longer, whole.

    Example:
        >>> is_unsettled("Error: getting top layer info: layer not known")
        True
    """
    return bool(_UNSETTLED.search(message))


def find_engine(wanted: str = "", *, runtime: str = "") -> CommandLine:
    """Return an engine that works.

    Args:
        wanted: ``podman``, ``docker`` or a path to one of them; empty: the first that answers.
        runtime: the OCI runtime (``runc``, ``crun``, ``runsc`` for gVisor); empty: the engine's.

    Raises:
        Unavailable: none works; the message says what to install.
    """
    complaints = []
    for name in (wanted,) if wanted else KNOWN:
        kind = Path(name).name
        if kind not in KNOWN:
            raise Unavailable(f"no container engine is called {name}; {did_you_mean(kind, KNOWN)}")
        path = shutil.which(name)
        if path is None:
            complaints.append(f"{name} is not installed")
            continue
        try:
            return _open(path, kind, runtime)
        except EngineError as wrong:
            complaints.append(f"{name}: {wrong}")
    raise Unavailable(f"no container engine works ({'; '.join(complaints)}); {_INSTALL}")


def last_line(text: bytes) -> str:
    """Return the last line that is not empty, printable."""
    lines = [line for line in text[-8192:].splitlines() if line.strip()]
    return printable(lines[-1].strip()) if lines else ""


def _open(path: str, kind: str, runtime: str) -> CommandLine:
    if kind == "docker":
        return CommandLine((path,), _read_docker(_info(path, kind), runtime))
    info = _info_of_podman(path, Path(path).stat().st_mtime_ns)
    command = (path, f"--runtime={runtime}") if runtime else (path,)
    return CommandLine(command, _read_podman(info, runtime), _storage(info))


@lru_cache(maxsize=8)
def _info_of_podman(path: str, modified_ns: int) -> Mapping[str, Any]:
    """Return what podman says of itself, which takes it longer than starting a container.

    It is asked once, unless the program changes: podman has no server that could change meanwhile.
    """
    del modified_ns
    return _info(path, "podman")


def _info(path: str, kind: str) -> Mapping[str, Any]:
    bare = CommandLine((path,), ContainerEngine(name=kind, version="", runtime="", cgroups="",
                                       limits_cpus=False))  # fmt: skip
    printed = bare.ask("info", "--format", "{{json .}}" if kind == "docker" else "json")
    return dict(json.loads(printed))


def _storage(info: Mapping[str, Any]) -> Path:
    store = info["store"]
    return Path(store["graphRoot"], f"{store['graphDriverName']}-containers")


def _read_podman(info: Mapping[str, Any], runtime: str) -> ContainerEngine:
    host = info["host"]
    controllers = set(host.get("cgroupControllers") or ())
    if lacking := {"memory", "pids"} - controllers:
        raise EngineError(f"it cannot limit {' and '.join(sorted(lacking))} here (cgroups)")
    cgroups = str(host["cgroupVersion"])
    return ContainerEngine(
        name="podman",
        version=str(info["version"]["Version"]),
        runtime=runtime or str(host["ociRuntime"]["name"]),
        cgroups=cgroups,
        limits_cpus="cpu" in controllers and (cgroups != "v1" or _has_quota()),
        ptrace_scope=_ptrace_scope(),
    )


def _read_docker(info: Mapping[str, Any], runtime: str) -> ContainerEngine:
    if errors := info.get("ServerErrors"):
        raise EngineError(printable(str(errors[0])))
    if lacking := [name for name in ("MemoryLimit", "PidsLimit") if not info.get(name)]:
        raise EngineError(f"it lacks {' and '.join(lacking)} here")
    return ContainerEngine(
        name="docker",
        version=str(info["ServerVersion"]),
        runtime=runtime or str(info.get("DefaultRuntime", "")),
        cgroups=f"v{info.get('CgroupVersion', '?')}",
        limits_cpus=bool(info.get("CpuCfsQuota")),
        ptrace_scope=_ptrace_scope(),
    )


def _ptrace_scope() -> int | None:
    """Return the setting of Yama on this machine's kernel; None where it has none."""
    try:
        return int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _has_quota() -> bool:
    """Return whether the CPU controller of cgroups v1 can be limited on this kernel."""
    return any(
        os.access(f"/sys/fs/cgroup/{name}/cpu.cfs_quota_us", os.R_OK)
        for name in ("cpu", "cpu,cpuacct")
    )
