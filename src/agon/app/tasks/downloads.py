"""Find the commands of a task's tests that download something, which needs a network."""

import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Final

from agon.app.tasks.task import Task

_DOWNLOAD: Final = re.compile(
    r"^[^#\n]*?(?<![\w./-])("
    r"(?:curl|wget)\b[^#\n|;&]*https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\]|[\w-]+[:/\s\"'])"
    r"|uvx\b|uv +(?:pip +install|run|sync|add|tool)\b|pip3? +install\b|-m +pip +install\b"
    r"|(?:apt|apt-get|apk|dnf|yum|conda|brew) +(?:-\S+ +)*(?:install|update|add)\b"
    r"|(?:npm|pnpm|yarn) +(?:i|ci|install|add)\b|npx\b|(?:cargo|gem|go) +(?:install|get)\b"
    r"|git +clone +\S*https?://"
    r")",
    re.MULTILINE,
)
_MAX_FILE_BYTES: Final = 1 << 20


def downloads(task: Task) -> tuple[str, ...]:
    """Return the places in a task's test scripts that download something: file, line, command."""
    return tuple(
        f"{relpath(path, task.folder)}, line {line}: {command}"
        for path in _scripts(task)
        for line, command in downloads_in(path.read_text(encoding="utf-8", errors="replace"))
    )


def downloads_in(script: str) -> list[tuple[int, str]]:
    r"""Return the lines of a script that download something, with the beginning of the command.

    Example:
        >>> downloads_in("# pip install x\npip install pytest\ncurl http://localhost:80/")
        [(2, 'pip install')]
    """
    return [
        (script.count("\n", 0, match.start(1)) + 1, " ".join(match[1].split())[:60])
        for match in _DOWNLOAD.finditer(script)
    ]


def _scripts(task: Task) -> Iterator[Path]:
    """Yield the scripts that a task's tests consist of, if they are not large."""
    found = {path for folder in task.files.of_tests for path in folder.rglob("*.sh")}
    for path in sorted({*found, *filter(None, (task.files.script,))}):
        if path.is_file() and path != task.files.cheat and path.stat().st_size <= _MAX_FILE_BYTES:
            yield path
