"""Load a discipline by name: agon's four and those of installed packages.

A package adds a discipline with an entry point of the group ``agon.disciplines``, whose name is the
discipline's and whose value is its :class:`Discipline` (``quiz = "agon_quiz:DISCIPLINE"``). Each is
loaded when it is first used.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agon.errors import Conflict, NotFound, Unavailable, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agon.disciplines.capabilities import (
        BoardTraits,
        ColumnMeaning,
        Demo,
        Epochs,
        Findings,
        ImportedRecords,
        Importer,
        Names,
        PersonalData,
        Problems,
        Rounds,
        ScoredRecords,
        Simulate,
        Simulation,
        Simulator,
        Submissions,
    )
    from agon.disciplines.definition import Discipline
    from agon.disciplines.ownership import Ballot, LiveProtocol, Owner

Part = TypeVar("Part")

__all__ = [
    "BUILT_IN",
    "GROUP",
    "Ballot",
    "BoardTraits",
    "ColumnMeaning",
    "Demo",
    "Discipline",
    "Epochs",
    "Findings",
    "ImportedRecords",
    "Importer",
    "LiveProtocol",
    "Names",
    "Owner",
    "PersonalData",
    "Problems",
    "Rounds",
    "ScoredRecords",
    "Simulate",
    "Simulation",
    "Simulator",
    "Submissions",
    "discipline",
    "is_discipline",
    "load_part",
    "names",
]

BUILT_IN: Final = ("community", "challenge", "dojo", "arena")
"""Names of agon's own disciplines."""

GROUP: Final = "agon.disciplines"
"""The entry point group in which packages register disciplines."""

_MODULES: Final[Mapping[str, str]] = {
    name: module
    for module, listed in (
        (
            "capabilities",
            """BoardTraits ColumnMeaning Demo Epochs Findings ImportedRecords Importer Names
            PersonalData Problems Rounds ScoredRecords Simulate Simulation Simulator
            Submissions""",
        ),
        ("definition", "Discipline"),
        ("ownership", "Ballot LiveProtocol Owner"),
    )
    for name in listed.split()
}
"""The module of each name that is imported when it is first used: the definition imports pyarrow,
which those that need only the names do without."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")


def __getattr__(name: str) -> Any:
    if module := _MODULES.get(name):
        return getattr(import_module(f"agon.disciplines.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> tuple[str, ...]:
    """Return the names of all disciplines: agon's own first, then those of plugins by name.

    Raises:
        Conflict: a plugin's name is taken, or is not a name of a discipline.
    """
    return (*BUILT_IN, *_plugins())


def is_discipline(name: object) -> bool:
    """Return whether there is a discipline of that name.

    Raises:
        Conflict: see :func:`names`; not for agon's own disciplines.
    """
    return name in BUILT_IN or name in _plugins()


@cache
def discipline(name: str) -> "Discipline":
    """Return the discipline of that name.

    Raises:
        NotFound: the discipline does not exist; the message suggests one.
        Unavailable: the package that registers it cannot be loaded.
        Conflict: see :func:`names`; not for agon's own disciplines.
    """
    if name in BUILT_IN:
        own: Discipline = import_module(f"agon.disciplines.{name}").DISCIPLINE
        return own
    plugins = _plugins()
    if name not in plugins:
        raise NotFound(f"there is no discipline {name!r}: {did_you_mean(name, names())}")
    return _load(plugins[name])


@cache
def _plugins() -> Mapping[str, "EntryPoint"]:
    """Return the entry points of the installed disciplines, ordered by name.

    Raises:
        Conflict: two have the same name, or one has a name that cannot be registered.
    """
    from importlib.metadata import entry_points  # takes 0.03 s; only needed here

    plugins: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        name = entry.name
        if name in BUILT_IN:
            raise Conflict(
                f"{_distribution(entry)} registers the discipline {name!r}, which agon has itself; "
                "uninstall it, or rename its entry point"
            )
        if _NAME.fullmatch(name) is None:
            raise Conflict(
                f"{_distribution(entry)} registers the discipline {name!r}; expected 1 to 40 "
                "lowercase letters, digits and hyphens, a letter first"
            )
        if name in plugins and plugins[name] != entry:
            raise Conflict(
                f"{_distribution(plugins[name])} and {_distribution(entry)} both register the "
                f"discipline {name!r}; uninstall one of them"
            )
        plugins[name] = entry
    return plugins


def _load(entry: "EntryPoint") -> "Discipline":
    """Return the discipline of an entry point.

    Raises:
        Unavailable: it cannot be imported, or is not a discipline of that name.
    """
    from agon.disciplines.definition import Discipline

    remedy = "update or uninstall that package"
    try:
        loaded = entry.load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        raise Unavailable(
            f"the discipline {entry.name!r} of {_distribution(entry)} cannot be loaded from "
            f"{entry.value} ({type(error).__name__}: {error}); {remedy}"
        ) from error
    if not isinstance(loaded, Discipline):
        raise Unavailable(
            f"the discipline {entry.name!r} of {_distribution(entry)} is not a Discipline: "
            f"{entry.value} is of type {type(loaded).__name__}; {remedy}"
        )
    if loaded.name != entry.name:
        raise Unavailable(
            f"{_distribution(entry)} registers {entry.value} as the discipline {entry.name!r}, but "
            f"its name is {loaded.name!r}; {remedy}"
        )
    return loaded


def load_part(owner: str, place: str, kind: type[Part]) -> Part:
    """Return an object that a discipline names by its place, ``module:NAME``.

    Args:
        owner: the name of the discipline.
        place: ``Discipline.attack_lab`` or ``Discipline.command``.
        kind: the type of the object.

    Raises:
        Unavailable: it cannot be imported, or is of another type.
    """
    from importlib.metadata import EntryPoint

    try:
        loaded = EntryPoint(owner, place, GROUP).load()
    except Exception as error:  # whatever a foreign module raises while it is imported
        raise Unavailable(
            f"{place} of the discipline {owner!r} cannot be loaded ({type(error).__name__}: "
            f"{error}); update or uninstall the package that adds the discipline"
        ) from error
    if not isinstance(loaded, kind):
        raise Unavailable(
            f"{place} of the discipline {owner!r} is of type {type(loaded).__name__}, expected "
            f"{kind.__name__}; update or uninstall the package that adds the discipline"
        )
    return loaded


def _distribution(entry: "EntryPoint") -> str:
    """Return the name of the package that registers an entry point."""
    return "an unknown package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
