"""Hold a process in a memory limit, and read how much memory it used."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


@contextmanager
def memory_limit(name: str, limit: int) -> Iterator[list[str]]:
    """Create a control group with a limit in bytes.

    Yields the words in front of a command that run it in the group; none where this process may not
    create groups: then the test has only the peak to compare.
    """
    group = _create(name, limit)
    if group is None:
        yield []
        return
    procs = group / "cgroup.procs"
    try:
        yield ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(procs)]
    finally:
        with suppress(OSError):
            group.rmdir()


def _create(name: str, limit: int) -> Path | None:
    for parent, file in _parents():
        group = parent / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / file).write_text(str(limit))
            # Without swap limits a process would be slow instead of killed.
            with suppress(OSError):
                swap = "memory.memsw.limit_in_bytes" if "limit" in file else "memory.swap.max"
                (group / swap).write_text(str(limit) if "limit" in file else "0")
        except OSError:
            group.rmdir()
            continue
        return group
    return None


def _parents() -> Iterator[tuple[Path, str]]:
    """Yield this process's groups with the name of their limit: of version 1, then of version 2."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own = path.lstrip("/")
        if "memory" in controllers.split(","):
            for folder in (_ROOT / "memory" / own, _ROOT / "memory"):
                yield folder, "memory.limit_in_bytes"
        elif not controllers:
            for folder in (_ROOT / own, _ROOT):
                yield folder, "memory.max"


def peak(pid: int) -> int:
    """Return the largest resident memory of a process in bytes, since it began or was reset."""
    return _status(pid, "VmHWM")


def reset_peak(pid: int) -> int:
    """Let the peak begin at the present memory, which is returned in bytes."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return _status(pid, "VmRSS")


def _status(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert match is not None
    return int(match[1]) << 10
