"""Find tasks whose tests connect to a server, and say which keep those that the agent started."""

import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Final

from agon.app.tasks.task import Task

_ADDRESS: Final = re.compile(
    r"^(?!\s*#)[^\n]*?(?<![\w.-])((?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?)(?![\w-])",
    re.MULTILINE,
)
_SUFFIXES: Final = (".sh", ".py", ".js", ".ts", ".rb", ".pl")
_MAX_FILE_BYTES: Final = 1 << 20


def keeps_servers(task: Task, *, allowed: bool) -> bool:
    """Return whether the processes that an agent leaves go on while a task's tests run.

    The task says so (``keep_servers``), or the operator allows it and the tests connect to a
    server. Not where the verifier has an image of its own, or receives declared files alone: there
    no other runner passes processes on either.

    Args:
        task: the task.
        allowed: whether the operator allows it for tasks that do not say.
    """
    settings, files = task.settings, task.files
    alone = settings.separate or settings.shown is not None
    if alone or files.verifier or files.verifier_image:
        return False
    if settings.keep_servers is not None:
        return settings.keep_servers
    return allowed and bool(connections(task))


def connections(task: Task) -> tuple[str, ...]:
    """Return the places in a task's tests that name this machine: file, line, address."""
    return tuple(
        f"{relpath(path, task.folder)}, line {line}: {address}"
        for path in _texts(task)
        for line, address in connections_in(path.read_text(encoding="utf-8", errors="replace"))
    )


def connections_in(text: str) -> list[tuple[int, str]]:
    r"""Return the lines of a text that name this machine, with the address.

    Example:
        >>> connections_in("# localhost\ncurl -s http://localhost:8080/\nHOST = '127.0.0.1'")
        [(2, 'localhost:8080'), (3, '127.0.0.1')]
    """
    return [
        (text.count("\n", 0, match.start(1)) + 1, match[1]) for match in _ADDRESS.finditer(text)
    ]


def _texts(task: Task) -> Iterator[Path]:
    """Yield the scripts and programs that a task's tests consist of, if they are not large."""
    found = (path for folder in task.files.of_tests for path in folder.rglob("*"))
    paths = {path for path in found if path.suffix in _SUFFIXES}
    for path in sorted({*paths, *filter(None, (task.files.script,))}):
        if path.is_file() and path != task.files.cheat and path.stat().st_size <= _MAX_FILE_BYTES:
            yield path
