"""Write the notes about values that are converted."""

from collections.abc import Iterator
from typing import Final

from agon.errors import did_you_mean
from agon.records.names.mapping import SourceMapping
from agon.records.raw import SourceTables
from agon.records.schemas import Schema

_MAX_NAMED: Final = 4


def unknown_names(schema: Schema, source: SourceTables, mapping: SourceMapping) -> Iterator[str]:
    """Yield a note for each column that a mapping names and the source does not have."""
    known = {
        name
        for table in schema
        for column in table.columns
        for raw in [source.tables.get(table.name)]
        for own in {column.name, (raw.spelled if raw else {}).get(column.name, column.name)}
        for name in (own, f"{table.name}.{own}")
    }
    for kind, names in (("values", mapping.values), ("skip_missing", mapping.skip_missing)):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, sorted(known))
                yield f"{kind}: no column {name!r} is read: {hint}"


def count_rows(count: int) -> str:
    """Return a number of rows in words."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def list_parts(parts: list[str]) -> str:
    """Return the first parts, and the number of the others."""
    rest = len(parts) - _MAX_NAMED
    return ", ".join(parts[:_MAX_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
