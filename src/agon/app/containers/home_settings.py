"""Settings in home folders: files that programs read without being asked to.

Shells, Python, git, curl and many others read files whose name begins with a dot in the home folder
of their user. An agent that may leave such files decides what the programs of the tests do, so the
tests see the image's own, unless a task declares a file as an output. Folders and files of projects
are no settings of a user.
"""

from collections.abc import Sequence
from typing import Final

_PROJECT: Final = frozenset({
    ".dockerignore", ".editorconfig", ".env", ".git", ".gitattributes", ".github", ".gitignore",
    ".gitmodules", ".venv",
})  # fmt: skip


def settings_of_home(path: str, home: str = "") -> str:
    """Return the settings in a home folder that a path names or is in; empty if it names none.

    Args:
        path: an absolute path.
        home: the image's ``HOME``, besides ``/root`` and the folders in ``/home``.

    Example:
        >>> settings_of_home("/root/.local/bin/pip"), settings_of_home("/root/project/.env")
        ('/root/.local', '')
        >>> settings_of_home("/home/ada/.git/config"), settings_of_home("/srv/.bashrc", "/srv/")
        ('', '/srv/.bashrc')
    """
    parts = [part for part in path.split("/") if part]
    homes = [1 if parts[:1] == ["root"] else 2 if parts[:1] == ["home"] else 0]
    if own := [part for part in home.split("/") if part]:
        homes.append(len(own) if parts[: len(own)] == own else 0)
    for depth in filter(None, homes):
        if parts[depth:] and parts[depth][0] == "." and parts[depth] not in _PROJECT:
            return "/" + "/".join(parts[: depth + 1])
    return ""


def is_handed_over(path: str, outputs: Sequence[str], home: str = "") -> bool:
    """Return whether a path in the outputs is handed over: settings only if they are declared.

    Example:
        >>> is_handed_over("/root/.ssh/config", ("/root",))
        False
        >>> is_handed_over("/root/.ssh/config", ("/root", "/root/.ssh"))
        True
    """
    settings = settings_of_home(path, home)
    return not settings or any(
        within_or_at(output, settings)
        and (within_or_at(path, output) or within_or_at(output, path))
        for output in outputs
    )


def replaced_paths(outputs: Sequence[str], home: str = "") -> tuple[str, ...]:
    """Return glob patterns of the files that outputs may overwrite: no dot-files of a home.

    Example:
        >>> replaced_paths(("/app", "/root"))[:3]
        ('/app', '/root/*', '/root/.dockerignore')
    """
    patterns: list[str] = []
    homes = {"/root", home.rstrip("/")} - {""}
    for output in outputs:
        if output == "/home":
            folders = ["/home/*"]
        elif output in homes or (output.startswith("/home/") and output.count("/") == 2):  # noqa: PLR2004  # /home/NAME
            folders = [output]
        else:
            patterns.append(output)
            continue
        for folder in folders:
            patterns += [f"{folder}/*", *(f"{folder}/{name}" for name in sorted(_PROJECT))]
    return tuple(patterns)


def within_or_at(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it.

    Example:
        >>> within_or_at("/app", "/app"), within_or_at("/apple", "/app")
        (True, False)
    """
    return path == folder or path.startswith(f"{folder}/")
