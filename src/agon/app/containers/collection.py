"""What is collected of a trial's services: commands in them, and paths that the tests receive."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, kw_only=True)
class ServiceCommand:
    """A command that runs in a service once the agent has ended.

    Attributes:
        service: the service.
        command: program and arguments.
        timeout_s: its seconds.
        user: the user that it runs as; empty: that of the service.
    """

    service: str
    command: tuple[str, ...]
    timeout_s: float = 60.0
    user: str = ""


@dataclass(frozen=True, kw_only=True)
class ServicePath:
    """A path of a service's container; the agent's own file of that name is not handed over.

    Attributes:
        service: the service.
        path: absolute, the same in the container of the tests.
        excluded: patterns of what below it is left out.
    """

    service: str
    path: str
    excluded: tuple[str, ...] = ()


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a path below a folder is left out, as ``tar --exclude`` decides.

    A pattern may match at each name of the path, ``*`` matches ``/`` as well, and what is below a
    match is left out with it. A pattern that begins with ``./`` matches at the folder only.

    Example:
        >>> [is_excluded(path, ("*.pyc", "cache")) for path in ("a/b.pyc", "cache/x", "a/cached")]
        [True, True, False]
        >>> is_excluded("a/b", ("./b",)), is_excluded("b/c", ("./b",))
        (False, True)
    """
    names = [".", *path.split("/")]
    starts = range(len(names))
    return any(
        fnmatchcase("/".join(names[start:end]), pattern.rstrip("/"))
        for pattern in patterns
        for start in starts
        for end in range(max(start, 1) + 1, len(names) + 1)
    )
