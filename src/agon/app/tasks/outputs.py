"""Say what a task's tests receive of an agent's container, and what must be writable for it.

A task says it with its working folder, with ``artifacts``, and in words: its instruction names the
files that the agent is to write. Folders that its texts name in ``/`` or ``/var`` are made
writable, since an image need not have them before; in the temporary folders, which tests use for
files of their own, only what the instruction names is handed over.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agon.app.containers import AGENT_LOGS, Image, ImageSpec
from agon.app.containers.home_settings import within_or_at
from agon.app.tasks.files import files_under
from agon.app.tasks.task import Task

_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*"
_FOLDER: Final = re.compile(
    rf"(?<![\w./~$}}:*-])(/(?:var/)?{_NAME})(?=[/\s\"'`,;:)]|\.?$)", re.MULTILINE
)
_TEMPORARY: Final = re.compile(rf"(?<![\w./~$}}:*-])(/(?:var/)?tmp/{_NAME})")
_WRITABLE: Final = ("/app", "/tmp", "/var/tmp", "/run", "/root", "/home")  # noqa: S108  # theirs
_MAX_FILE_BYTES: Final = 1 << 20
_MAX_FOLDERS: Final = 32


def outputs_of(task: Task, image: Image) -> tuple[str, ...]:
    """Return the absolute paths that the tests receive: declared ones, and usually the image's.

    Args:
        task: the task.
        image: its image.
    """
    declared = task.settings.outputs
    if task.settings.separate:
        return declared or AGENT_LOGS[1:]
    return tuple(dict.fromkeys((*image.outputs, *declared, *named_files(task.instruction))))


def verifier_spec(task: Task, outputs: tuple[str, ...]) -> ImageSpec | None:
    """Return how a verifier's own image is made; None where the verifier has the agent's.

    Args:
        task: the task.
        outputs: what the agent handed over, for which there must be writable folders.
    """
    files = task.files
    if not files.verifier and not files.verifier_image:
        return None
    return ImageSpec(
        context=None if files.verifier_image else files.tests,
        image=files.verifier_image,
        timeout_s=task.settings.bounds.build_s,
        writable=writable_folders(outputs),
        optional=named_folders(task),
    )


def writable_folders(outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that must be writable for declared outputs; those for logs always are.

    Example:
        >>> writable_folders(("/app/x", "/srv/data/out.txt", "/data", "/logs/artifacts"))
        ('/srv/data', '/data')
    """
    known = (*_WRITABLE, *AGENT_LOGS)
    others = (path for path in outputs if not any(within_or_at(path, place) for place in known))
    return tuple(dict.fromkeys(path.rpartition("/")[0] or path for path in others))


def named_files(instruction: str) -> tuple[str, ...]:
    """Return the files and folders in temporary folders that an instruction names.

    Example:
        >>> named_files("Write the sum to `/tmp/sum.txt`, and use /tmp as you like.")
        ('/tmp/sum.txt',)
    """
    paths = (path.rstrip(".") for path in _TEMPORARY.findall(instruction))
    return tuple(dict.fromkeys(paths))[:_MAX_FOLDERS]


def named_folders(task: Task) -> tuple[str, ...]:
    """Return the folders in ``/`` and ``/var`` that a task's texts name, existing or not."""
    names = (name for text in _texts(task) for name in folders_in(text))
    return tuple(dict.fromkeys(names))[:_MAX_FOLDERS]


def folders_in(text: str) -> list[str]:
    """Return the first folder of every absolute path in a text; in ``/var`` the second.

    Example:
        >>> folders_in("cp /data/in.csv '/var/log/x'; curl http://host/path; sed s/a/b/ ../x")
        ['/data', '/var/log']
    """
    return [path.rstrip(".") for path in _FOLDER.findall(text) if path not in {"/var", "/tmp"}]  # noqa: S108  # theirs


def _texts(task: Task) -> Iterator[str]:
    """Yield the instruction, the solution and the tests, as far as they are short texts."""
    yield task.instruction
    files = task.files
    for path in filter(None, (files.solution, files.script)):
        yield _text(path)
    for folder in (*files.of_tests, task.folder / "solution"):
        for _, entry in files_under(folder) if folder.is_dir() else ():
            if entry.is_file(follow_symlinks=False):
                yield _text(Path(entry.path))


def _text(path: Path) -> str:
    if path.stat().st_size > _MAX_FILE_BYTES:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")
