"""Read the released editions from their files, and hold them to the lock.

``released/<discipline>/<name>.toml`` is one edition; ``lock.toml`` holds the SHA-256 of each
file's bytes. A released file never changes: an edition whose bytes differ from the lock is refused.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import product
from typing import Any

from agon.disciplines import NAMES, discipline
from agon.editions.edition import Edition, Example
from agon.errors import Conflict, NotFound, did_you_mean

_KEYS = {
    "discipline",
    "name",
    "title",
    "released",
    "versions",
    "changelog",
    "rules",
    "reasons",
    "examples",
}


def editions(of: str | None = None) -> list[str]:
    """List the full names of all released editions, or of one discipline's, oldest first."""
    return [name for name in lock() if of is None or name.startswith(f"{of}/")]


def default_edition(of: str) -> str:
    """Return the full name of a discipline's default edition: the literal one, listed first."""
    return editions(of)[0]


def edition(name: str, *, of: str | None = None) -> Edition:
    """Return a released edition by full name, or by short name within a discipline.

    Raises:
        NotFound: there is none; the message suggests one.
        Conflict: its file is not the one that was released.

    Example:
        >>> edition("0.1", of="dojo").full_name
        'dojo/0.1'
    """
    full = name if of is None or name.startswith(f"{of}/") else f"{of}/{name}"
    known = editions(of)
    if full not in known:
        raise NotFound(f"there is no edition {name!r}: {did_you_mean(full, known)}")
    return _load(full)


@cache
def lock() -> Mapping[str, str]:
    """Return the SHA-256 of every released edition's file, by full name, in order of release."""
    text = (files("agon.editions") / "lock.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text))


def file_of(full_name: str) -> Traversable:
    """Return the file that holds an edition."""
    return files("agon.editions") / "released" / f"{full_name}.toml"


@cache
def _load(full: str) -> Edition:
    content = file_of(full).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != lock()[full]:
        raise Conflict(
            f"edition {full} is not the file that was released: SHA-256 {digest[:12]}…, "
            f"lock {lock()[full][:12]}…; restore it and release changes under a new name"
        )
    return parse(content.decode())


def parse(text: str) -> Edition:
    """Read an edition from its TOML text; every rule must have a value there."""
    given = tomllib.loads(text)
    unknown = sorted(given.keys() - _KEYS)
    if unknown:
        raise NotFound(f"edition has unknown keys: {', '.join(unknown)}")
    if given["discipline"] not in NAMES:
        raise NotFound(f"there is no discipline {given['discipline']!r}")
    rules = discipline(given["discipline"]).rules
    return Edition(
        discipline=given["discipline"],
        name=given["name"],
        title=given["title"],
        released=str(given["released"]),
        versions=given.get("versions", {}),
        changelog=tuple(given.get("changelog", ())),
        rules=rules.of(given["rules"]),
        reasons=given.get("reasons", {}),
        examples=tuple(_example(one) for one in given.get("examples", ())),
    )


def _example(given: Mapping[str, Any]) -> Example:
    return Example(
        title=given["title"],
        records={name: unfolded(rows) for name, rows in given["records"].items()},
        overrides=given.get("set", {}),
        board=given["board"],
        expect=given.get("expect", {}),
        unscored=tuple(given.get("unscored", ())),
        tolerance=float(given.get("tolerance", 1e-9)),
    )


def unfolded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Unfold the compact rows of a worked example into plain ones.

    A list, or ``{from = 1, to = 3}``, stands for each of its values; a row with several is
    repeated for every combination. ``{from = 1}`` counts on from row to row.

    Example:
        >>> unfolded([{"id": {"from": 7}, "user": ["ada", "bob"], "prompt": {"from": 1, "to": 2}}])
        ... # doctest: +NORMALIZE_WHITESPACE
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
