"""Build an image like Debian's (dash, bash, coreutils, Python with pytest) from this machine.

Without a registry, the programs of the machine that runs the tests are the only ones there are.
"""

import fcntl
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

TOOLS = (
    *("bash", "dash"),
    *("basename", "cat", "chmod", "chown", "cp", "cut", "date", "dd", "dirname", "echo", "env"),
    *(
        "expr",
        "false",
        "head",
        "id",
        "ln",
        "ls",
        "mkdir",
        "mkfifo",
        "mknod",
        "mktemp",
        "mv",
        "nice",
    ),
    *(
        "nohup",
        "od",
        "printf",
        "pwd",
        "readlink",
        "rm",
        "rmdir",
        "sha256sum",
        "sleep",
        "sort",
        "stat",
        "sync",
    ),
    *("tail", "tee", "test", "timeout", "touch", "tr", "true", "uname", "uniq", "wc", "yes"),
    *("cmp", "diff", "find", "grep", "sed", "tar", "xargs"),
    *("chroot", "mount", "nsenter", "prlimit", "setpriv", "setsid", "unshare"),
)
_LEFT_OUT = (
    *("__pycache__", "_curses", "_sqlite3", "_test", "_tkinter", "asyncio", "config-"),
    *("curses", "distutils", "ensurepip", "idlelib", "lib2to3", "multiprocessing"),
    *("nis.", "pydoc_data", "readline.", "site-packages", "sqlite3", "test", "tkinter"),
    *("turtledemo", "wsgiref", "xmlrpc"),
)
_MODULES = ("_pytest", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest")
_SITE = "dist-packages" if "posix_local" in sysconfig.get_scheme_names() else "site-packages"
"""Where the interpreter looks for modules; Debian's own looks elsewhere than others do."""

_FOLDERS = {
    "app": 0o755, "dev": 0o755, "etc": 0o755, "home": 0o755, "proc": 0o755, "root": 0o700,
    "run": 0o755, "sys": 0o755, "tmp": 0o1777, "var/tmp": 0o1777,
}  # fmt: skip
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
_LIBRARY = re.compile(r"(?:=> |^\s)(/\S+) \(0x", re.MULTILINE)


@cache
def import_coreutils_image() -> str:
    """Import the image unless one of the same content exists; return its name."""
    sources = dict(_sources())
    digest = sha256()
    for target, source in sorted(sources.items()):
        digest.update(f"{target} {source.stat().st_size} {source.stat().st_mtime}\n".encode())
    name = f"localhost/agon-test-coreutils:{digest.hexdigest()[:16]}"
    with (Path(tempfile.gettempdir()) / "agon-test-coreutils.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if subprocess.run(["podman", "image", "exists", name], check=False).returncode:
            subprocess.run(
                ["podman", "import", "-", name],
                input=_archive(sources), capture_output=True, check=True,
            )  # fmt: skip
    return name


def _sources() -> Iterator[tuple[str, Path]]:
    """Yield each file's path in the image and its path here."""
    programs = {name: _program(name) for name in TOOLS}
    programs["python3"] = Path(sys.base_prefix, "bin", f"python{sysconfig.get_python_version()}")
    python = Path(sysconfig.get_path("stdlib"))
    library = f"usr/local/lib/{python.name}"
    modules = {f"{library}/{path.relative_to(python)}": path for path in _python_files(python)}
    for name in _MODULES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        site = f"{library}/{_SITE}"
        if origin.name != "__init__.py":
            modules[f"{site}/{origin.name}"] = origin
            continue
        for path in _python_files(origin.parent):
            modules[f"{site}/{path.relative_to(origin.parent.parent)}"] = path
    yield from modules.items()
    binaries = [*programs.values(), *(path for path in modules.values() if path.suffix == ".so")]
    for name, path in programs.items():
        yield f"usr/{'local/' if name == 'python3' else ''}bin/{name}", path
    for library_path in sorted(_libraries(binaries)):
        where = Path(library_path)
        within = where.is_relative_to(sys.base_prefix)
        target = f"usr/lib/{where.name}" if within else str(where).lstrip("/")
        yield re.sub(r"^lib", "usr/lib", target), where


def _python_files(folder: Path) -> Iterator[Path]:
    """Yield a package's files with their bytecode, without what no test needs."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(_LEFT_OUT):
            continue
        if path.is_dir():
            yield from _python_files(path)
        elif path.is_file() and path.suffix in {".py", ".so"}:
            yield path
            cached = Path(importlib.util.cache_from_source(str(path)))
            if path.suffix == ".py" and cached.is_file():
                yield cached


def _program(name: str) -> Path:
    program = shutil.which(name)
    assert program is not None, f"{name} is missing on this machine"
    return Path(program).resolve()


def _libraries(binaries: list[Path]) -> set[str]:
    """Return the shared libraries that the binaries need."""
    listed = subprocess.run(
        ["ldd", *map(str, binaries)], capture_output=True, text=True, check=False
    )
    return set(_LIBRARY.findall(listed.stdout))


def _archive(sources: dict[str, Path]) -> bytes:
    """Return the image as a tar file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder, mode in _FOLDERS.items():
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        for name, target in {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64",
                             "usr/bin/sh": "dash", "usr/bin/[": "test"}.items():  # fmt: skip
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
        for name, text in _FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        for name, source in sources.items():
            entry = tarfile.TarInfo(name)
            entry.size = source.stat().st_size
            entry.mtime = int(source.stat().st_mtime)
            entry.mode = 0o755 if os.access(source, os.X_OK) else 0o644
            with source.open("rb") as file:
                archive.addfile(entry, file)
    return buffer.getvalue()
