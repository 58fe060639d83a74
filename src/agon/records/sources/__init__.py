"""Open a source of records: a folder, a DuckDB or SQLite file, or a PostgreSQL database."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agon.errors import NotFound, Unavailable, Unreadable
from agon.records.raw import SourceTables
from agon.records.schemas import Schema

SourceKind: TypeAlias = Literal["folder", "duckdb", "sqlite", "postgresql"]

_MAGIC_SQLITE = b"SQLite format 3\x00"
_MAGIC_DUCKDB = b"DUCK"
_NAMED = 8
_MAX_SMALL_BYTES = 2**18
_COMPRESSED = (".gz", ".zst", ".zip", ".xlsx")


def open_source(connection: Any, schema: Schema, source: str | Path) -> SourceTables:
    """Read a source's tables into the engine, raw, with the issues of unreadable rows.

    Args:
        connection: the embedded engine (a DuckDB connection).
        schema: the tables and columns to read.
        source: a folder, a file, or a ``postgresql://`` address.

    Raises:
        NotFound: there is no such folder or file.
        Unreadable: it is none of the kinds agon reads.
        Unavailable: a database is out of reach or its driver is not installed.
    """
    kind, text = source_kind(schema, source), str(source)
    if kind == "postgresql":
        from agon.records.sources import postgresql

        return postgresql.tables(connection, schema, text)
    if kind == "folder":
        from agon.records.sources import folder

        return folder.tables(connection, schema, Path(text))
    if kind == "sqlite":
        from agon.records.sources import sqlite_file

        return sqlite_file.tables(connection, schema, Path(text))
    from agon.records.sources import duckdb_file

    return duckdb_file.tables(connection, schema, Path(text))


def source_kind(schema: Schema, source: str | Path) -> SourceKind:
    """Detect the kind of a source by its address or its first bytes.

    Raises:
        NotFound: there is no such folder or file.
        Unreadable: it is none of the kinds agon reads.
        Unavailable: it is an address that agon does not read.
    """
    text = str(source)
    if text.startswith(("postgresql://", "postgres://")):
        return "postgresql"
    scheme, is_address, _ = text.partition("://")
    if is_address:
        raise Unavailable(
            f"agon does not read {scheme}:// addresses; give a folder, a DuckDB or SQLite file, "
            "or postgresql://…"
        )
    path = Path(text)
    try:
        if path.is_dir():
            return "folder"
        with path.open("rb") as file:
            head = file.read(16)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise NotFound(f"{text}: no such folder or file") from None
    except OSError as error:
        raise Unreadable(f"{text} cannot be read ({error.strerror})") from None
    if head == _MAGIC_SQLITE:
        return "sqlite"
    if head[8:12] == _MAGIC_DUCKDB:
        return "duckdb"
    names = [table.name for table in schema]
    listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    from agon.records.names.other_formats import remedy_of
    from agon.records.sources.formats import USUAL, ending_of

    kind = "is" if ending_of(path.name) else f"ends in none of {', '.join(USUAL)}, and is"
    remedy = f"{found}, or " if (found := remedy_of(path.name)) else ""
    raise Unreadable(
        f"{text} {kind} neither a DuckDB nor an SQLite file; {remedy}give a folder "
        f"that holds one file per table ({listed}), such a file, or postgresql://…"
    )


def is_small_folder(source: str | Path) -> bool:
    """Return whether a source is a folder with files alone, uncompressed and small together."""
    with suppress(OSError, ValueError):
        return are_small([*Path(source).iterdir()])
    return False


def are_small(paths: Collection[Path]) -> bool:
    """Return whether all paths are files, uncompressed and small together.

    Raises:
        OSError: one cannot be looked at.
    """
    sizes = [
        path.stat().st_size
        for path in paths
        if path.is_file() and not path.name.lower().endswith(_COMPRESSED)
    ]
    return len(sizes) == len(paths) and sum(sizes) <= _MAX_SMALL_BYTES
