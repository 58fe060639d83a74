"""The isolation of each mode: how a zygote is started, with namespaces or without."""

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from agon.app.sandbox import Mode
from agon.errors import Unavailable, did_you_mean
from agon.runners.sandbox.inside.identity import NOBODY

_HERE = Path(__file__).parent
_INSIDE = Path("/agon")
"""Path of our code and the libraries inside the namespaces."""

_LIBRARIES = ("sympy", "mpmath")
_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64")
_BOOT = (
    "import sys; sys.path += sys.argv.pop(1).split(':'); "
    "from inside.serve import main; main(sys.argv[1:])"
)


@dataclass(frozen=True)
class Isolation:
    """How zygotes of one mode are started.

    Attributes:
        mode: its name in every run.
        prefix: the command line before the interpreter.
        paths: where the zygote finds our code and the libraries.
        single_use: whether a zygote serves one run only.
        hides_processes: whether a zygote sees no process of the host.
        landlock: whether landlock is used too.
    """

    mode: Mode
    prefix: tuple[str, ...]
    paths: tuple[str, ...]
    single_use: bool
    hides_processes: bool
    landlock: bool = True

    def command(self, *, descriptor: int, sympy: bool) -> list[str]:
        """Return the command line of a zygote that communicates over a descriptor."""
        return [
            *(*self.prefix, _interpreter(), "-s", "-S", "-P", "-B", "-c", _BOOT),
            *(":".join(self.paths), str(descriptor)),
            "0" if self.hides_processes else str(os.getpid()),
            "landlock" if self.landlock else "-",
            "sympy" if sympy else "-",
        ]


def environment(hash_seed: int) -> dict[str, str]:
    """Return a zygote's complete environment."""
    return {
        "PYTHONHASHSEED": str(hash_seed),
        "LC_ALL": "C.UTF-8",
        # The same integers whatever else happens to be installed.
        "SYMPY_GROUND_TYPES": "python",
        "MPMATH_NOGMPY": "1",
    }


def isolation_of(mode: Mode) -> Isolation:
    """Return the isolation of a mode on this machine.

    Raises:
        Unavailable: this machine does not support it, with what is missing.
        ValueError: there is no such mode.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Unavailable(
            "the sandbox knows the system calls of Linux on x86-64 only, this is "
            f"{sys.platform} on {platform.machine()}; run programs on an x86-64 machine"
        )
    if mode == "degraded":
        paths = (str(_HERE), *dict.fromkeys(str(_library(name).parent) for name in _LIBRARIES))
        return Isolation(mode, (), paths, single_use=False, hides_processes=False)
    if mode not in {"bwrap", "cold"}:
        raise ValueError(f"no sandbox is called {mode}; {did_you_mean(mode, _MODES)}")
    prefix = (*_namespaces(), *_files(), "--")
    return Isolation(mode, prefix, (str(_INSIDE),), single_use=mode == "cold", hides_processes=True)


_MODES = ("bwrap", "degraded", "cold")


def _namespaces() -> tuple[str, ...]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise Unavailable(
            "bwrap is missing: install the Debian package bubblewrap; where namespaces are "
            "unavailable, use the degraded sandbox: --mode degraded"
        )
    user: tuple[str, ...]
    if os.geteuid() == 0:
        # Inside, the zygote becomes another user permanently and creates its own user namespace; a
        # map from root would leave it root outside.
        user = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        user = ("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))
    return (
        *(bwrap, *user, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--new-session", "--die-with-parent", "--hostname", "agon"),
    )


def _files() -> tuple[str, ...]:
    """Return the arguments that mount the interpreter, its libraries, sympy and our code.

    Nothing else: no /proc, no /dev, no /tmp; everything is read-only, the root included.
    """
    arguments: list[str] = []
    for source in (_interpreter(), *_standard_library()):
        arguments += ["--ro-bind", source, source]
    for directory in map(Path, _SYSTEM_LIBRARIES):
        if directory.is_symlink():
            arguments += ["--symlink", str(directory.readlink()), str(directory)]
        elif directory.is_dir():
            arguments += ["--ro-bind", str(directory), str(directory)]
    for name in _LIBRARIES:
        arguments += ["--ro-bind", str(_library(name)), str(_INSIDE / name)]
    arguments += ["--ro-bind", str(_HERE / "inside"), str(_INSIDE / "inside")]
    return (*arguments, "--remount-ro", "/", "--chdir", "/")


def _interpreter() -> str:
    """Return the interpreter itself, not the link to it in a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def _standard_library() -> list[str]:
    """Return the folders of the standard library; of a separate installation, all its libraries."""
    own = Path(sys.base_prefix, "lib")
    if own == Path("/usr/lib"):
        return [str(own / f"python{sys.version_info.major}.{sys.version_info.minor}")]
    return [str(own)]


@cache
def _library(name: str) -> Path:
    """Return the folder of an installed package without importing it.

    Raises:
        Unavailable: it is not installed.
    """
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(f"{name} is missing: install agon with its dependencies")
    return Path(spec.submodule_search_locations[0]).resolve()
