"""Find a schema's tables among the names a source has."""

from collections.abc import Collection

from agon.records.names.matching import fold_name
from agon.records.schemas import Schema


def pick(
    schema: Schema, present: Collection[tuple[str, str]], *, default_space: str
) -> dict[str, tuple[str, str]]:
    """Map each of the schema's tables that is present to its ``(space, name)`` in the database.

    A table is looked for under its own name in the default space, then under its aliases
    (``auth.users``), then under its own name in any other space, then in another spelling.
    """
    respelled: dict[str, list[tuple[str, str]]] = {}
    for space, name in sorted(present, key=lambda pair: (pair[0] != default_space, pair)):
        respelled.setdefault(fold_name(name), []).append((space, name))
    picked: dict[str, tuple[str, str]] = {}
    for table in schema:
        first, *aliases = table.source_names
        candidates = [(default_space, first)]
        for alias in (first, *aliases) if "." in first else aliases:
            space, dot, name = alias.rpartition(".")
            candidates.append((space if dot else default_space, name))
        candidates += sorted(pair for pair in present if pair[1] == first)
        candidates += respelled.get(fold_name(first), [])
        match = next((pair for pair in candidates if pair in present), None)
        if match is not None:
            picked[table.name] = match
    return picked
