"""Read a setter's package: ``problem.json`` and ``setter.py``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.inspection import inspect, rules_in_force
from agon.app.files import (
    MAX_SOURCE_FILE,
    FileIssue,
    InvalidPackage,
    collect_issues,
    read_bytes,
    read_object,
    text_of,
    time_of,
)
from agon.app.package_keys import unknown_keys
from agon.app.sandbox import MAX_INDEX
from agon.disciplines.dojo.canonical import NotUtf8, canonicalize, source_hash
from agon.disciplines.dojo.imports import INTERFACES, Interface, interface
from agon.errors import NotFound
from agon.kernel.times import written_time

DECLARATION = "problem.json"
SETTER = "setter.py"
N_CHECK = 200
"""Terms of a problem that does not say how many (``dojo.md``, Programs)."""
_N_CHECK_BOUNDS = (2, 100_000)
FIRST_INDEX = 0
"""Index of the first term of a new problem that states none (document 002, 1.2: a_hat[0…])."""
PUBLISHED_FIRST_INDEX = 1
"""Index of the first term of a published problem that does not state it: before it could be stated,
every sequence began with a_1."""
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_KEYS: Final = (
    "title", "interface", "N_check", "first_index", "setter_user_id", "freeze_started_at", "slug",
)  # fmt: skip
_SYNONYMS: Final = {
    **dict.fromkeys(("setter", "author", "owner", "user", "userid", "setterid"), "setter_user_id"),
    **dict.fromkeys(
        (
            "deadline",
            "due",
            "closes",
            "closesat",
            "ends",
            "endsat",
            "freeze",
            "freezeat",
            "frozenat",
        ),
        "freeze_started_at",
    ),
    **dict.fromkeys(("terms", "nterms", "count", "length", "n"), "N_check"),
    **dict.fromkeys(("offset", "start", "startindex", "firstn"), "first_index"),
    **dict.fromkeys(("name", "heading"), "title"),
    **dict.fromkeys(("entry", "entrypoint", "function"), "interface"),
    **dict.fromkeys(("shortname", "short"), "slug"),
}
"""The right key, by the folded form of other words for it."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A setter's package; it contains the answer.

    Attributes:
        source: canonical bytes of ``setter.py``.
        interface: what it defines: ``seq(n)`` or ``gen(N)``.
        title: the title shown.
        n_check: how many terms a solver has to give.
        stated_first_index: index of the first term; None: the package does not state it.
        setter_user_id: its setter, who cannot score on it.
        freeze_started_at: from when on submissions are rejected, in UTC.
        slug: its short name, unique in a contest; None: none.
    """

    source: bytes = field(repr=False)
    interface: Interface
    title: str = ""
    n_check: int = N_CHECK
    stated_first_index: int | None = None
    setter_user_id: str | None = None
    freeze_started_at: datetime | None = None
    slug: str | None = None

    @property
    def id(self) -> str:
        """Return ``P_hash``: SHA-256 of the setter's canonical source (document 002, 1.3)."""
        return source_hash(self.source)

    @property
    def first_index(self) -> int:
        """Return the index of the first term: ``seq`` is called from it on."""
        return FIRST_INDEX if self.stated_first_index is None else self.stated_first_index

    def as_published(self, package: Mapping[str, Any] | None) -> "Problem":
        """Return the problem with the first index and slug of its publication, if it states none.

        Args:
            package: what was published under its id before; None: nothing.

        Example:
            >>> problem = Problem(source=b"def seq(n): return n", interface="seq")
            >>> problem.first_index, problem.as_published({"title": "n"}).first_index
            (0, 1)
        """
        if package is None:
            return self
        stated = self.stated_first_index
        return replace(
            self,
            stated_first_index=first_index_of(package) if stated is None else stated,
            slug=self.slug or package.get("slug"),
        )

    def understood(self) -> dict[str, str]:
        """Return what its declaration commits the setter to, for people, defaults included.

        Example:
            >>> Problem(source=b"def seq(n): return n", interface="seq").understood()["setter"]
            'none: anyone can score on it'
        """
        freeze = self.freeze_started_at
        return {
            "title": self.title,
            "setter": self.setter_user_id or "none: anyone can score on it",
            "freeze": "none: no submission is late" if freeze is None else written_time(freeze),
            "N_check": str(self.n_check),
            "first_index": str(self.first_index),
        }

    def declaration(self) -> dict[str, Any]:
        """Return its declaration, as ``problem.json`` has it; without a slug it has no such key."""
        freeze = self.freeze_started_at
        return {
            "title": self.title,
            "interface": self.interface,
            "N_check": self.n_check,
            "first_index": self.stated_first_index,
            "setter_user_id": self.setter_user_id,
            "freeze_started_at": None if freeze is None else written_time(freeze),
            **({} if self.slug is None else {"slug": self.slug}),
        }


def read_problem(folder: Path) -> Problem:
    """Read and check a setter's package; nothing is run.

    ``interface`` may be left out, since ``setter.py`` shows it; ``title`` too (the folder's name).

    Raises:
        NotFound: there is no such folder.
        InvalidPackage: with everything that is wrong with it.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder}: no such folder; name one with {DECLARATION} and {SETTER}")
    declaration, setter = str(folder / DECLARATION), str(folder / SETTER)
    issues: list[FileIssue] = []
    declared: dict[str, Any] = {}
    source: bytes | None = None
    with collect_issues(issues):
        declared = {
            "title": folder.resolve().name,
            **read_object(folder / DECLARATION, where=declaration),
        }
    with collect_issues(issues):
        source = _canonical(read_bytes(folder / SETTER, most=MAX_SOURCE_FILE, where=setter), setter)
    problem = problem_of(declared, source, issues=issues, declaration=declaration, setter=setter)
    if problem is None:
        raise InvalidPackage(*issues)
    return problem


def problem_of(
    declared: Mapping[str, Any],
    source: bytes | None,
    *,
    issues: list[FileIssue],
    declaration: str,
    setter: str,
) -> Problem | None:
    """Return the problem of a declaration and a setter's source.

    Args:
        declared: the declaration's keys and values.
        source: canonical bytes; None when there are none.
        issues: the issues so far; further ones are added.
        declaration: the declaration's name, for messages.
        setter: the source's name, for messages.

    Returns:
        The problem; None when anything is wrong.
    """
    issues += unknown_keys(declared, known=_KEYS, synonyms=_SYNONYMS, where=declaration)
    values: dict[str, Any] = {}
    for key, read in _READERS.items():
        if declared.get(key) is not None:
            with collect_issues(issues):
                values[key] = read(declared[key], declaration)
    if source is None:
        return None
    inspection = inspect(source, kind="setter", rules=rules_in_force())
    issues += [
        FileIssue(
            f"{setter}:{violation.line}" if violation.line else setter,
            violation.what,
            violation.remedy,
        )
        for violation in inspection.violations
    ]
    defined = interface(inspection.program) if inspection.program else None
    if defined and (declared_interface := values.get("interface", defined)) != defined:
        fact = f"interface is {declared_interface}, {setter} defines {defined}"
        issues.append(FileIssue(declaration, fact, "make them agree"))
    if issues or defined is None:
        return None
    return Problem(
        source=source,
        interface=defined,
        title=values.get("title", ""),
        n_check=values.get("N_check", N_CHECK),
        stated_first_index=values.get("first_index"),
        setter_user_id=values.get("setter_user_id"),
        freeze_started_at=values.get("freeze_started_at"),
        slug=values.get("slug"),
    )


def packaged_problem(package: Mapping[str, Any]) -> Problem:
    """Return the problem of a package as jobs and ledger entries carry it, source included.

    Raises:
        InvalidPackage: with everything that is wrong with it.
    """
    issues: list[FileIssue] = []
    declared = {name: value for name, value in package.items() if name not in {"source", "terms"}}
    declared["first_index"] = first_index_of(package)
    problem = problem_of(
        declared,
        str(package["source"]).encode(),
        issues=issues,
        declaration=DECLARATION,
        setter=SETTER,
    )
    if problem is None:
        raise InvalidPackage(*issues)
    return problem


def first_index_of(published: Mapping[str, Any]) -> int:
    """Return the index of the first term of a published package or of a row of ``problems``.

    Example:
        >>> first_index_of({"first_index": 0}), first_index_of({"title": "older"})
        (0, 1)
    """
    stated = published.get("first_index")
    return PUBLISHED_FIRST_INDEX if stated is None else int(stated)


def term_name(number: int, *, first_index: int) -> str:
    """Return a term's number, from 1, with its index where that is another one.

    Example:
        >>> term_name(3, first_index=0), term_name(3, first_index=1)
        ('term 3 (a_2)', 'term 3')
    """
    index = number - 1 + first_index
    return f"term {number}" if index == number else f"term {number} (a_{index})"


def _canonical(raw: bytes, where: str) -> bytes:
    try:
        return canonicalize(raw)
    except NotUtf8 as error:
        fact, _, remedy = str(error).partition("; ")
        raise InvalidPackage(FileIssue(where, fact, remedy)) from None


def _title(value: object, where: str) -> str:
    text = text_of(value)
    if text is None:
        raise InvalidPackage(FileIssue(where, "title is not a text", "give the title to display"))
    return text


def _interface(value: object, where: str) -> Interface:
    for name in INTERFACES:
        if value == name:
            return name
    raise InvalidPackage(FileIssue(where, f"interface is {value!r}", "give seq or gen"))


def _n_check(value: object, where: str) -> int:
    low, high = _N_CHECK_BOUNDS
    if type(value) is not int or not low <= value <= high:
        raise InvalidPackage(
            FileIssue(where, f"N_check is {value!r}", f"give a whole number {low} to {high:,}")
        )
    return value


def _first_index(value: object, where: str) -> int:
    if type(value) is not int or abs(value) > MAX_INDEX:
        fact = f"first_index is {value!r}"
        raise InvalidPackage(FileIssue(where, fact, "give a whole number such as 0 or 1"))
    return value


def _user(value: object, where: str) -> str:
    text = str(value) if type(value) is int else text_of(value)
    if not text:
        raise InvalidPackage(FileIssue(where, f"setter_user_id is {value!r}", "give the user's id"))
    return text


def _freeze(value: object, where: str) -> datetime:
    return time_of(value, where=where, key="freeze_started_at")


def _slug(value: object, where: str) -> str:
    if not isinstance(value, str) or _SLUG.fullmatch(value) is None:
        remedy = "give 1 to 63 lowercase letters, digits and hyphens, a letter or digit first"
        raise InvalidPackage(FileIssue(where, f"slug is {str(value)[:80]!r}", remedy))
    return value


_READERS: Final[Mapping[str, Callable[[object, str], Any]]] = {
    "title": _title,
    "interface": _interface,
    "N_check": _n_check,
    "first_index": _first_index,
    "setter_user_id": _user,
    "freeze_started_at": _freeze,
    "slug": _slug,
}
