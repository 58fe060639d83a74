"""Read a folder with one CSV, NDJSON or Parquet file, or one folder of Parquet files, per table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agon.errors import Unreadable
from agon.records.issues import RowIssue
from agon.records.raw import RawTable, SourceTables
from agon.records.schemas import Schema, Table
from agon.records.sources import csv_file, ndjson_file, parquet_file, parquet_folder
from agon.records.sources.issues import table_issue
from agon.records.sources.names import nearest

_READERS = {
    ".parquet": parquet_file.read,
    ".csv": csv_file.read,
    ".csv.gz": csv_file.read,
    ".ndjson": ndjson_file.read,
    ".ndjson.gz": ndjson_file.read,
    ".jsonl": ndjson_file.read,
    ".jsonl.gz": ndjson_file.read,
}


def tables(connection: Any, schema: Schema, folder: Path) -> SourceTables:
    """Read every table of the schema that has a file.

    Files of other names are left alone, unless one is so nearly named like a table that has none
    that it must be meant.
    """
    files, others = table_files(schema, folder)
    source = SourceTables(str(folder))
    for table in schema:
        paths = files[table.name]
        if len(paths) > 1:
            reason, remedy = "hold the same table", "keep one of them"
            both = " and ".join(paths)
            source.issues.append(
                table_issue(table.name, both, reason, remedy, code="ambiguous-table")
            )
        if paths:
            raw, issues = _read(connection, table, folder / paths[0])
            source.issues.extend(issues)
            if raw is not None:
                source.tables[table.name] = raw
    source.issues.extend(_nearly(schema, files, others))
    return SourceTables(source.label, source.tables, source.issues, tuple(sorted(others)))


def table_files(schema: Schema, folder: Path) -> tuple[dict[str, list[str]], set[str]]:
    """Return the names of each table's files in a folder, and all other names in it.

    A folder named like a table is one of them where it has Parquet files, or the table no file.

    Raises:
        Unreadable: the folder cannot be read, or no table has a file.
    """
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise Unreadable(f"{folder} cannot be read ({error.strerror})") from None
    files = {table.name: _present(folder, table, names) for table in schema}
    others = set(names) - {name for paths in files.values() for name in paths}
    if not any(files.values()):
        raise Unreadable(_nothing(schema, folder, others))
    return files, others


def _present(folder: Path, table: Table, names: list[str]) -> list[str]:
    """Return the names in a folder that are a table's."""
    files = [name for name in _names(table) if name in names]
    folders = [
        name for name in (table.name, *table.aliases) if name in names and (folder / name).is_dir()
    ]
    return files + [name for name in folders if not files or any(folder.glob(f"{name}/*.parquet"))]


def _names(table: Table) -> Iterator[str]:
    for name in (table.name, *table.aliases):
        for ending in _READERS:
            yield name + ending


def _read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    if file.is_dir() and file.name in (table.name, *table.aliases):
        return parquet_folder.read(connection, table, file)
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "is not a file (a broken link?)"
        return None, [table_issue(table.name, file.name, kind, "put the table's file there")]
    ending = next(end for end in sorted(_READERS, key=len)[::-1] if file.name.endswith(end))
    return _READERS[ending](connection, table, file)


def _nearly(schema: Schema, files: dict[str, list[str]], others: set[str]) -> list[RowIssue]:
    issues = []
    for table in schema:
        # A required table is reported as missing, together with the file that comes near it.
        near = None if files[table.name] or table.required else nearest(table.name, others)
        if near is not None:
            reason = f"is not a table of {schema.discipline} records, and {table.name} is missing"
            remedy = f"name it {table.name}.csv, .ndjson or .parquet, or take it out of the folder"
            issues.append(table_issue(table.name, near, reason, remedy, code="unknown-table"))
    return issues


def _nothing(schema: Schema, folder: Path, others: set[str]) -> str:
    names = [table.name for table in schema]
    needed = [table.name for table in schema if table.required]
    needed = [*needed, *(group[0] for group in schema.one_table_of)] or names[:1]
    near = [candidate for name in names if (candidate := nearest(name, others)) is not None]
    hint = f"; there is {', '.join(dict.fromkeys(near))}: is it meant?" if near else ""
    return (
        f"{folder} holds no {schema.discipline} table; looked for {', '.join(names)} "
        f"as {', '.join(_READERS)}{hint}; give the folder that holds them, or, for records "
        f"without rows, an empty file for {' and '.join(needed)}"
    )
