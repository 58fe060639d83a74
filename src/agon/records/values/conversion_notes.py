"""Write the notes about values that are converted."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from agon.errors import did_you_mean
from agon.records.names.mapping import SourceMapping
from agon.records.raw import SourceTables
from agon.records.schemas import Schema
from agon.records.values.json_values import UNIT_NAMES

_MAX_NAMED: Final = 4


def unknown_names(schema: Schema, source: SourceTables, mapping: SourceMapping) -> Iterator[str]:
    """Yield a note for each column that a mapping names and the source does not have."""
    known = {
        name
        for table in schema
        for column in table.columns
        for raw in [source.tables.get(table.name)]
        for spelled in [(raw.spelled if raw else {}).get(column.name, column.name)]
        for name in mapping.names_of(table.name, column.name, spelled)
    }
    for kind, names in (("values", mapping.values), ("skip_missing", mapping.skip_missing)):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                yield f"{kind}: no column {name!r} is read: {hint}"


def read_words(label: str, meant: Mapping[tuple[str, str], int], *, names: int = 0) -> str:
    """Return the note about words that were read as what they mean, and how many rows had them.

    Args:
        label: the column, as the source names it.
        meant: the number of rows by word and meaning.
        names: the number of rows with the name of a side.

    Example:
        >>> read_words("votes.vote", {("draw", "tie"): 2}, names=1)
        "votes.vote: read names as the side of that name (1 row), 'draw' as tie (2 rows)"
    """
    parts = [
        f"{word!r} as {meaning} ({count_rows(count)})" for (word, meaning), count in meant.items()
    ]
    if names:
        parts.insert(0, f"names as the side of that name ({count_rows(names)})")
    return f"{label}: read {list_parts(parts)}"


def read_truths(label: str, meant: Mapping[str, str]) -> str:
    """Return the note about words that were read as true or false."""
    return f"{label}: read {list_parts([f'{word!r} as {sense}' for word, sense in meant.items()])}"


def read_numbers_as_times(label: str, units: Iterable[int]) -> str:
    """Return the note about numbers that were read as times; a unit is its parts of a second."""
    return f"{label}: read as {' and '.join(UNIT_NAMES[unit] for unit in units)} since 1970"


def read_whole_ids(label: str) -> str:
    """Return the note about ids such as ``10.0`` in a column of whole ids."""
    return f"{label}: read 10.0 as 10"


def read_as_utc(labels: Iterable[str]) -> str:
    """Return the note about times without a zone."""
    return f"times without a zone are read as UTC: {list_parts(list(labels))}"


def count_rows(count: int) -> str:
    """Return a number of rows in words."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def list_parts(parts: list[str]) -> str:
    """Return the first parts, and the number of the others."""
    rest = len(parts) - _MAX_NAMED
    return ", ".join(parts[:_MAX_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
