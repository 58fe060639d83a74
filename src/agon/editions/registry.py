"""The released editions: read from their files, checked against the lock.

Every discipline has a folder of editions: agon's own ``released/<discipline>`` here, those of a
plugin in its package. ``<name>.toml`` is one edition; ``lock.toml`` holds the fingerprint of each
edition's rules. The values of a released edition never change: one whose fingerprint differs from
the lock is rejected.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any, overload

from agon.disciplines import BUILT_IN, discipline
from agon.disciplines import names as disciplines
from agon.editions.edition import Edition, Example
from agon.editions.mismatch import compare
from agon.errors import Conflict, NotFound, did_you_mean

LOCK = "lock.toml"
"""Name of the file with the fingerprints of a discipline's released editions."""

_REQUIRED = ("agon", "title", "released")
_KEYS = (*_REQUIRED, "base", "versions", "changelog", "rules", "reasons", "examples")


def editions(discipline_name: str | None = None) -> list[str]:
    """Return the full names of all released editions, or of one discipline's, oldest first."""
    return list(lock() if discipline_name is None else lock_of(discipline_name))


def default_edition(discipline_name: str) -> str:
    """Return the full name of a discipline's default edition: the reference one, released first.

    Raises:
        NotFound: there is no such discipline, or it has no released edition.
    """
    released = editions(discipline_name)
    if not released:
        raise NotFound(
            f"the discipline {discipline_name} has no released edition; add one to "
            f"{folder_of(discipline_name)} and run python -m agon.editions.release "
            f"{discipline_name}"
        )
    return released[0]


@overload
def edition(full_name: str, /) -> Edition: ...
@overload
def edition(discipline: str, name: str, /) -> Edition: ...
@overload
def edition(name: str, /, *, of: str | None) -> Edition: ...
def edition(first: str, second: str | None = None, /, *, of: str | None = None) -> Edition:
    """Return a released edition by its full name, or by discipline and name.

    Args:
        first: the full name, or the discipline, or with ``of`` the name.
        second: the name, after the discipline.
        of: the discipline, as a keyword.

    Raises:
        NotFound: there is none; the message suggests one.
        Conflict: its rules are not those that were released.
        TypeError: there are two disciplines.

    Example:
        >>> edition("dojo/0.1").full_name, edition("dojo", "0.1").full_name
        ('dojo/0.1', 'dojo/0.1')
    """
    if second is not None and of is not None:
        raise TypeError(f"edition() got two disciplines, {first!r} and {of!r}; leave out of=")
    of, name = (of, first) if second is None else (first, second)
    full = name if of is None or name.startswith(f"{of}/") else f"{of}/{name}"
    names = editions(full.partition("/")[0] if "/" in full else None)
    if full not in names:
        if name in disciplines():
            raise NotFound(
                f"{name} is a discipline, not an edition; its default edition is "
                f"{default_edition(name)}"
            )
        raise NotFound(f"there is no edition {name!r}: {did_you_mean(full, names)}")
    return _load(full)


@cache
def lock() -> Mapping[str, str]:
    """Return the ``rules_sha256`` of every released edition by full name, in order of release."""
    return {
        full: fingerprint
        for discipline_name in disciplines()
        for full, fingerprint in lock_of(discipline_name).items()
    }


@cache
def lock_of(discipline_name: str) -> Mapping[str, str]:
    """Return the lock of one discipline's editions.

    Raises:
        NotFound: there is no such discipline.
    """
    file = folder_of(discipline_name) / LOCK
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def file_of(full_name: str) -> Traversable:
    """Return the file that holds an edition."""
    discipline_name, _, name = full_name.partition("/")
    return folder_of(discipline_name) / f"{name}.toml"


def folder_of(discipline_name: str) -> Traversable:
    """Return the folder with a discipline's editions and their lock.

    Raises:
        NotFound: there is no such discipline.
    """
    package = None if discipline_name in BUILT_IN else discipline(discipline_name).editions
    if package is None:
        return files("agon.editions") / "released" / discipline_name
    return files(package) / "editions"


def forget() -> None:
    """Read locks and editions again when they are asked for: a lock has changed."""
    for known in (lock, lock_of, _load):
        known.cache_clear()


@cache
def _load(full: str) -> Edition:
    released = parse(file_of(full).read_text(encoding="utf-8"), full_name=full)
    mismatch = compare(
        released.rules,
        edition=full,
        recorded=lock_of(full.partition("/")[0])[full],
        alternatives=() if released.base is None else (edition(released.base).rules,),
    )
    if mismatch is not None:
        raise Conflict(
            f"the file of edition {full} does not state the rules that were released: {mismatch}"
        )
    return released


def parse(text: str, *, full_name: str) -> Edition:
    """Return an edition from its TOML text.

    With ``base``, the file states what differs from that edition: rules, reasons and versions by
    name, examples by title.

    Raises:
        NotFound: an unknown key or discipline, a missing key, or a base that is not released.
        InvalidRule: unknown rules and values out of bounds, all at once.
    """
    content = tomllib.loads(text)
    discipline_name, _, name = full_name.partition("/")
    rules = discipline(discipline_name).rules
    if unknown := sorted(content.keys() - set(_KEYS)):
        raise NotFound(f"edition {full_name} has unknown keys: {', '.join(unknown)}")
    if missing := [key for key in _REQUIRED if key not in content]:
        raise NotFound(f"edition {full_name} lacks {', '.join(missing)}; add them")
    base = _base(full_name, content.get("base"))
    values = dict(content.get("rules", {}))
    examples = [_example(item) for item in content.get("examples", ())]
    replaced = {example.title for example in examples}
    return Edition(
        discipline=discipline_name,
        name=name,
        agon=content["agon"],
        title=content["title"],
        released=str(content["released"]),
        base=None if base is None else base.full_name,
        versions={**(base.versions if base else {}), **content.get("versions", {})},
        changelog=tuple(content.get("changelog", ())),
        rules=rules.of(values) if base is None else base.with_rules(values),
        stated=frozenset(values) | (base.stated if base else frozenset()),
        reasons={**(base.reasons if base else {}), **content.get("reasons", {})},
        examples=(
            *(example for example in (base.examples if base else ())
              if example.title not in replaced),
            *examples,
        ),
    )  # fmt: skip


def _base(full_name: str, name: str | None) -> Edition | None:
    """Return the edition that another one is based on; it was released before.

    Raises:
        NotFound: there is no such edition.
    """
    if name is None:
        return None
    earlier = editions(full_name.partition("/")[0])
    if full_name in earlier:
        earlier = earlier[: earlier.index(full_name)]
    if name not in earlier:
        raise NotFound(
            f"edition {full_name} has the base {name!r}, which was not released before it: "
            f"{did_you_mean(name, earlier)}"
        )
    return _load(name)


def _example(content: Mapping[str, Any]) -> Example:
    return Example(
        title=content["title"],
        records={name: expand_rows(rows) for name, rows in content["records"].items()},
        overrides=content.get("set", {}),
        board=content["board"],
        expect=content.get("expect", {}),
        unscored=tuple(content.get("unscored", ())),
        tolerance=float(content.get("tolerance", 1e-9)),
    )


def expand_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the compact rows of a worked example as plain ones.

    A list, or ``{from = 1, to = 3}``, means each of its values; a row with several is
    repeated for every combination. ``{from = 1}`` counts on from row to row.

    Example:
        >>> compact = {"id": {"from": 7}, "user": ["ada", "bob"], "prompt": {"from": 1, "to": 2}}
        >>> expand_rows([compact])  # doctest: +NORMALIZE_WHITESPACE
        [{'id': 7, 'user': 'ada', 'prompt': 1}, {'id': 8, 'user': 'ada', 'prompt': 2},
         {'id': 9, 'user': 'bob', 'prompt': 1}, {'id': 10, 'user': 'bob', 'prompt': 2}]
    """
    plain = []
    for row in rows:
        choices = [_choices(value) for value in row.values()]
        for number, values in enumerate(product(*choices)):
            counted = (start(number) if callable(start) else start for start in values)
            plain.append(dict(zip(row, counted, strict=True)))
    return plain


def _choices(value: Any) -> Sequence[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and "to" in value:
        return range(value["from"], value["to"] + 1)
    return [value["from"].__add__ if isinstance(value, dict) else value]
