"""Let the Python of a task's tests prefer installed modules to those of the agent.

Python reads this module at its start. The tests run in ``/app``, which the agent left, and
Python searches that folder first: the agent's ``pytest.py`` or ``json.py`` would run in place of
the installed module. Here a module of the agent is imported only if no installed one has its name,
or if the image itself has a module of that name in the same place, as a task may whose subject is
an installed project. Distributions, from which pytest takes its plugins, are treated likewise.

A Python of the tests that ends with an error marks a reward that was written while it ran: a
program that it ran may have written it, and kept the tests from writing theirs.

The user's folder of modules (``~/.local/lib/python3.x/site-packages``) counts where the image has
one: a program that the tests run could write it, and every later Python would begin with its code.

Programs of the agent are left alone. Runs with Python 3.7 and later.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
"""As :data:`typing.TYPE_CHECKING`, without the time that importing it takes."""
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_ORIGINAL = "/.agon/names"
_OUTPUTS = "AGON_OUTPUTS"
_SEARCHED = "AGON_PYTHONPATH"
"""The part of the image's ``PYTHONPATH`` in the outputs: Python's own start must not search it."""
REWARDS = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
CRASHED = " \t \t "
"""The line after a reward that stood as a Python of the tests ended with an error."""
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


class InstalledFirst(PathFinder):
    """Find installed modules before those of the agent."""

    outputs: tuple[str, ...] = ()
    names: frozenset[str] | None = None

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None = None,
        target: Any = None,
    ) -> Any:
        """Return the installed module's specification if there is one, else any module's."""
        if path is None and any(map(cls._is_of_agent, sys.path)):
            installed = [entry for entry in sys.path if not cls._is_of_agent(entry)]
            spec = super().find_spec(fullname, installed, target)
            if spec is not None and spec.loader is not None and not cls._is_original(fullname):
                return spec
        return super().find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Yield the distributions that are installed, or that the image has."""
        for distribution in super().find_distributions(*args, **kwargs):
            place = str(getattr(distribution, "_path", ""))
            if not cls._is_of_agent(place) or cls._has(os.path.realpath(place)):
                yield distribution

    @classmethod
    def _is_of_agent(cls, entry: str) -> bool:
        place = os.path.realpath(entry or ".")
        return any(place == output or place.startswith(output + "/") for output in cls.outputs)

    @classmethod
    def _is_original(cls, name: str) -> bool:
        """Return whether the image has a module of that name where the agent's files are."""
        places = [f"{os.path.realpath(entry or '.')}/{name}"
                  for entry in sys.path if cls._is_of_agent(entry)]  # fmt: skip
        return any(cls._has(place + end) for place in places for end in ("", ".py"))

    @classmethod
    def _has(cls, place: str) -> bool:
        if cls.names is None:
            with open(_ORIGINAL, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123  # starts quickly
                cls.names = frozenset(line.rstrip("/\n") for line in file)
        return place.lstrip("/") in cls.names


def runs_program_of_agent(words: Sequence[str]) -> bool:
    """Return whether a command line of Python runs a file that the agent left."""
    position = 1
    while position < len(words):
        word = words[position]
        if word in _WITH_VALUE:
            position += 1
        elif not word.startswith("-"):
            return InstalledFirst._is_of_agent(word)  # noqa: SLF001  # its own
        elif word == "-" or word.startswith("--") or set(word[1:]) & set("cm"):
            return False
        position += 1
    return False


def watch_rewards(paths: Sequence[str] = REWARDS) -> None:
    """Mark the rewards that change from now on, if Python ends with an error."""
    before = {path: _state(path) for path in paths}
    shown = sys.excepthook

    def mark(*error: Any) -> None:
        shown(*error)
        for path, state in before.items():
            if _state(path) not in (None, state):
                _void(path)

    sys.excepthook = mark


def _state(path: str) -> tuple[int, ...] | None:
    """Return what changes with each write to a file; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  # starts quickly
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_ctime_ns)


def _void(path: str) -> None:
    """Add the mark to a reward, or remove it where no space is left."""
    try:
        with open(path, "a", encoding="ascii") as file:  # noqa: PTH123  # starts quickly
            file.write(CRASHED + "\n")
    except OSError:
        os.unlink(path)  # noqa: PTH108  # starts quickly


def install(outputs: str) -> None:
    """Search in the new order, unless Python runs a program of the agent."""
    InstalledFirst.outputs = tuple(
        os.path.realpath(output) for output in outputs.split(":") if output
    )
    with open("/proc/self/cmdline", "rb") as file:  # noqa: PTH123  # starts quickly
        words = os.fsdecode(file.read()).split("\0")[:-1]
    if not runs_program_of_agent(words):
        position = sys.meta_path.index(PathFinder)
        sys.meta_path[position] = InstalledFirst
        watch_rewards()
    searched = [entry for entry in os.environ.get(_SEARCHED, "").split(":") if entry]
    sys.path[1:1] = searched  # behind the folder of this module


def search_user_site() -> None:
    """Search the user's folder of modules, as Python would, if the image has it."""
    import site

    place = os.path.realpath(site.getusersitepackages())
    if not InstalledFirst._has(place) or not os.path.isdir(place):  # noqa: SLF001, PTH112  # its own; starts quickly
        return
    sys.path.append(place)
    for name in sorted(os.listdir(place)):  # noqa: PTH208  # starts quickly
        if name.endswith(".pth") and InstalledFirst._has(f"{place}/{name}"):  # noqa: SLF001  # its own
            site.addpackage(place, name, None)


def run_next() -> None:
    """Run the image's own module of this name, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  # starts quickly
    others = [entry for entry in sys.path
              if os.path.realpath(entry or ".") != os.path.realpath(here)
              and not InstalledFirst._is_of_agent(entry)]  # noqa: SLF001  # fmt: skip
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec

        spec.loader.exec_module(module_from_spec(spec))


if __name__ == "sitecustomize" and _OUTPUTS in os.environ:
    install(os.environ[_OUTPUTS])
    search_user_site()
    run_next()
