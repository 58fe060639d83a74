"""Give benchmarks an empty SQLite file and a private PostgreSQL, one after the other."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KINDS = ("sqlite", "postgresql")


@contextmanager
def database(kind: str) -> Iterator[str]:
    """Lend an empty database of a kind; it is gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="agon-benchmark-") as folder:
        if kind == "sqlite":
            yield f"sqlite:///{folder}/agon.db"
            return
        with _postgresql(Path(folder)) as url:
            yield url


@contextmanager
def _postgresql(folder: Path) -> Iterator[str]:
    """Run a server as Debian sets one up, but for its place; it writes through to the disk."""
    programs = _programs()
    owner = None if os.geteuid() else pwd.getpwnam("postgres")
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    data = folder / "data"
    _run(owner, programs / "initdb", "-D", data, "-U", "agon", "--auth=trust",
         "--encoding=UTF8", "--locale=C")  # fmt: skip
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder}"
    _run(owner, programs / "pg_ctl", "-D", data, "-l", folder / "log", "-o", options, "-w", "start")
    try:
        yield f"postgresql://agon@127.0.0.1:{port}/postgres"
    finally:
        _run(owner, programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _programs() -> Path:
    """Find the newest server installed, as Debian lays it, else the one on the PATH."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: int(path.parent.parent.name),
    )
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None:
        raise SystemExit("PostgreSQL is missing: install the package postgresql")
    return Path(initdb).resolve().parent


def _run(owner: pwd.struct_passwd | None, *command: object) -> None:
    subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server runs
        check=True,
        cwd="/",
        user=None if owner is None else owner.pw_uid,
        group=None if owner is None else owner.pw_gid,
        extra_groups=None if owner is None else [],
    )
