"""Find which of a source's tables break off in the middle, and set them aside."""

from dataclasses import replace
from typing import Any

from agon.records.issues import RowIssue
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.sources.issues import unreadable


def without_unreadable(connection: Any, source: SourceTables, error: Exception) -> SourceTables:
    """Return the source without the tables that cannot be read to their end.

    Args:
        connection: the engine.
        source: the tables as the source gave them.
        error: what the engine said; raised again when every table can be read after all.
    """
    issues = {
        name: table_issues
        for name, raw in source.tables.items()
        if (table_issues := _issues(connection, raw))
    }
    if not issues:
        raise error
    return replace(
        source,
        tables={name: raw for name, raw in source.tables.items() if name not in issues},
        issues=source.issues
        + [issue for table_issues in issues.values() for issue in table_issues],
    )


def _issues(connection: Any, raw: RawTable) -> list[RowIssue]:
    import duckdb

    hashed = ", ".join(f"max(hash({quote(name)}))" for name in raw.types)
    try:
        connection.execute(f"SELECT {hashed or 'count(*)'} FROM {raw.relation}").fetchall()
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error as error:
        return (raw.examine() if raw.examine else []) or [unreadable(raw.name, raw.location, error)]
    return []
