"""Decide which folders of an image can be written, and which of them are handed over.

Writable are the working folder and all folders in ``/`` and ``/var`` that do not belong to the
system.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from agon.app.containers import AGENT_LOGS, Image
from agon.app.containers.home_settings import within_or_at
from agon.errors import InvalidRule
from agon.runners.containers.first_process import PRIVATE

ALWAYS_WRITABLE: Final = ("/app", "/home", "/root", "/run", "/tmp", "/var/tmp")  # noqa: S108  # the container's
PLAIN_PATH: Final = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.][A-Za-z0-9_.+@-]*)+")
_CLOSED: Final = (
    "/bin", "/boot", "/dev", "/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
    "/etc/pam.d", "/etc/profile", "/etc/profile.d", "/etc/security", "/etc/sudoers.d", "/lib",
    "/lib32", "/lib64", "/libx32", "/logs", "/proc", "/sbin", "/sys", "/tests", "/usr/bin",
    "/usr/lib", "/usr/sbin", PRIVATE,
)  # fmt: skip
SYSTEM_FOLDERS: Final = (
    *_CLOSED, "/agent", "/cheat", "/etc", "/instruction.md", "/lost+found", "/nix", "/opt", "/run",
    "/snap", "/solution", "/usr", "/var/lock", "/var/run",
)  # fmt: skip
"""Folders that are writable only where an image or a task says so, and what agon mounts."""
_TEMPORARY: Final = ("/run", "/tmp", "/var/cache", "/var/lock", "/var/run", "/var/tmp")  # noqa: S108  # the container's
"""Folders that are not handed over by themselves."""
_RESERVED_PATHS: Final = ("/", PRIVATE, "/tests", "/logs", "/dev", "/proc", "/sys", "/etc")


def writable_folders(further: Sequence[str]) -> tuple[str, ...]:
    """Return all writable folders, without those inside others.

    Raises:
        InvalidRule: a folder is not an absolute plain path, or must stay read-only.

    Example:
        >>> writable_folders(("/srv/data", "/app/cache"))
        ('/app', '/home', '/root', '/run', '/srv/data', '/tmp', '/var/tmp')
    """
    for path in further:
        require_plain(path, "a writable folder")
        if any(closed == path or within(closed, path) or within(path, closed)
               for closed in _CLOSED):  # fmt: skip
            raise InvalidRule(f"{path} cannot be writable: the commands in it must not change")
    all_of_them = sorted({*ALWAYS_WRITABLE, *further})
    return tuple(
        path for path in all_of_them if not any(within(path, other) for other in all_of_them)
    )


def may_be_writable(path: str) -> bool:
    """Return whether a folder that is found in an image or a task can be made writable."""
    return bool(PLAIN_PATH.fullmatch(path)) and not any(
        closed == path or within(closed, path) or within(path, closed) for closed in _CLOSED
    )


def plain_part(path: str) -> str:
    """Return a path, or the folder above the first part of it that is not plain.

    Example:
        >>> plain_part("/work/my files/x"), plain_part("/work")
        ('/work', '/work')
    """
    while path.strip("/") and not PLAIN_PATH.fullmatch(path):
        path = posixpath.dirname(path)
    return path


def default_outputs(writable: Sequence[str], work: str, tools: Sequence[str]) -> tuple[str, ...]:
    """Return the folders that are handed over unless a task declares others.

    Temporary folders and folders that hold programs on the path are not, but the working folder.
    """
    outputs = [
        folder
        for folder in writable
        if not any(within_or_at(folder, other) for other in _TEMPORARY)
        and not any(within_or_at(tool, folder) for tool in tools)
    ]
    is_covered = any(within_or_at(work, folder) for folder in outputs)
    if not is_covered and any(within_or_at(work, folder) for folder in writable):
        outputs.append(work)
    return tuple(outputs)


def require_plain(path: str, what: str) -> None:
    """Require a path that a shell and tar read literally.

    Raises:
        InvalidRule: it is not absolute, or not made of plain names.
    """
    if not PLAIN_PATH.fullmatch(path):
        raise InvalidRule(
            f"{path!r} cannot be {what}: give an absolute path of letters, digits and _ . + @ -"
        )


def within(path: str, folder: str) -> bool:
    """Return whether a path is below a folder.

    Example:
        >>> within("/app/a", "/app"), within("/app", "/app"), within("/apple", "/app")
        (True, False, False)
    """
    return path.startswith(f"{folder}/")


def require_outputs(outputs: Sequence[str], image: Image) -> None:
    """Require outputs in writable folders.

    Raises:
        InvalidRule: with the path and the remedy.
    """
    if not outputs:
        raise InvalidRule("there are no outputs; declare at least one, such as /app")
    for path in outputs:
        require_plain(path, "an output")
        if not any(
            path == folder or within(path, folder) for folder in (*image.writable, *AGENT_LOGS)
        ):
            raise InvalidRule(
                f"{path} cannot be an output: nothing can be written there; "
                f"writable are {', '.join(image.writable)}"
            )


def require_target(target: str, image: Image) -> None:
    """Require a mount that hides nothing of agon's or of the image.

    Raises:
        InvalidRule: with the path and the remedy.
    """
    require_plain(target, "a mount")
    taken = (*_RESERVED_PATHS, *image.writable)
    if any(target == other or within(target, other) or within(other, target) for other in taken):
        raise InvalidRule(f"{target} is taken; mount under a name of its own, such as /solution")
