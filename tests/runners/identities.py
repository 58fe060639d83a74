"""Run a command as an ordinary user, when the tests run as root."""

import os
import sys
from pathlib import Path

_NOBODY = 65534


def identities() -> list[str]:
    """Return the identities these tests can take: an ordinary user's tests cannot become root."""
    return ["root", "nobody"] if os.geteuid() == 0 else ["user"]


def command_as(identity: str, command: list[str]) -> list[str]:
    """Return a command line that runs a command as root, as nobody, or as the current user.

    Folders above the interpreter or this checkout that only root may enter are replaced by empty
    ones that contain what the command reads.
    """
    if identity != "nobody":
        return command
    hidden: dict[Path, list[Path]] = {}
    for needed in _needed():
        private = [
            folder for folder in reversed(needed.parents) if not folder.stat().st_mode & 0o001
        ]
        if private:
            hidden.setdefault(private[0], []).append(needed)
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    for folder, paths in hidden.items():
        bwrap += ["--tmpfs", str(folder)]
        for needed in sorted(paths):
            for parent in reversed(needed.relative_to(folder).parents[:-1]):
                bwrap += ["--dir", str(folder / parent)]
            bwrap += ["--ro-bind", str(needed), str(needed)]
    user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return [*bwrap, "--", *user, *command]


def _needed() -> set[Path]:
    """Return the folders that a command of the tests reads."""
    checkout = Path(__file__).parents[2]
    return {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), checkout.resolve()}
