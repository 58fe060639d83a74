"""Find a schema's tables among the names a source has."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from agon.records.schemas import Schema

_ALIKE = 0.8


def pick(
    schema: Schema, present: Collection[tuple[str, str]], *, default_space: str
) -> dict[str, tuple[str, str]]:
    """Map each of the schema's tables that is present to its ``(space, name)`` in the database.

    A table is looked for under its own name in the default space, then under its aliases
    (``auth.users``), then under its own name in any other space.
    """
    picked: dict[str, tuple[str, str]] = {}
    for table in schema:
        candidates = [(default_space, table.name)]
        for alias in table.aliases:
            space, dot, name = alias.rpartition(".")
            candidates.append((space if dot else default_space, name))
        candidates += sorted(pair for pair in present if pair[1] == table.name)
        match = next((pair for pair in candidates if pair in present), None)
        if match is not None:
            picked[table.name] = match
    return picked


def nearest(expected: str, names: Iterable[str]) -> str | None:
    """Return the name that may be ``expected`` with another case, ending or spelling.

    Example:
        >>> nearest("prompts", ["truth.csv", "promts.csv"])
        'promts.csv'
        >>> nearest("users", ["Users.xlsx"])
        'Users.xlsx'
        >>> nearest("users", ["votes.csv"])
    """
    plain: dict[str, str] = {}
    for name in sorted(names):
        plain.setdefault(_plain(name), name)
    close = get_close_matches(_plain(expected), plain, n=1, cutoff=_ALIKE)
    return plain[close[0]] if close else None


def _plain(name: str) -> str:
    return name.partition(".")[0].strip().lower().replace("-", "_").replace(" ", "_")
