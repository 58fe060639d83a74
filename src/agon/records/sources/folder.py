"""Read a folder with one file, or one folder of Parquet files, per table."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agon.errors import Unreadable
from agon.records.issues import RowIssue
from agon.records.names.matching import fold_name, nearest_file
from agon.records.names.other_formats import file_hint
from agon.records.raw import RawTable, SourceTables
from agon.records.schemas import Schema, Table
from agon.records.sources import parquet_folder
from agon.records.sources.formats import ENDINGS, USUAL, ending_of, read_file
from agon.records.sources.issues import table_issue

_EXPORTED: Final = "ledger.ndjson"
"""The file of the entries in an exported ledger."""


def tables(connection: Any, schema: Schema, folder: Path) -> SourceTables:
    """Read every table of the schema that has a file; other files are left alone."""
    in_folder = table_files(schema, folder)
    source = SourceTables(str(folder), others=in_folder.others, spelled=in_folder.spelled)
    for table in schema:
        paths = in_folder.files[table.name]
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
    return source


@dataclass(frozen=True)
class TableFiles:
    """The names in a folder.

    Attributes:
        files: the names of each table's files.
        others: all other names of files and folders.
        spelled: the name of a table's file by the table, where it is spelled otherwise.
    """

    files: Mapping[str, list[str]]
    others: tuple[str, ...]
    spelled: Mapping[str, str]


def table_files(schema: Schema, folder: Path) -> TableFiles:
    """Return the names of each table's files in a folder, and all other names in it.

    A folder named like a table is one of them where it has Parquet files, or the table no file.
    A name in another spelling (``Users.CSV``) is the table's where no name is exact.

    Raises:
        Unreadable: the folder cannot be read, or no table has a file.
    """
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise Unreadable(f"{folder} cannot be read ({error.strerror})") from None
    files = {table.name: _present(folder, table, names) for table in schema}
    spelled = {}
    respelled = _by_table(schema, folder, names)
    for name, present in files.items():
        if not present and name in respelled:
            files[name] = respelled[name]
            spelled[name] = respelled[name][0]
    others = set(names) - {name for paths in files.values() for name in paths}
    if not any(files.values()):
        raise Unreadable(_nothing(schema, folder, others))
    named = (name for name in sorted(others) if "." in name or (folder / name).is_dir())
    return TableFiles(files, tuple(named), spelled)


def _present(folder: Path, table: Table, names: list[str]) -> list[str]:
    """Return the names in a folder that are exactly a table's."""
    files = [name for name in _names(table) if name in names and ending_of(name)]
    folders = [name for name in table.source_names if name in names and (folder / name).is_dir()]
    return files + [name for name in folders if not files or any(folder.glob(f"{name}/*.parquet"))]


def _names(table: Table) -> Iterator[str]:
    for name in table.source_names:
        yield name
        for ending in ENDINGS:
            yield name + ending


def _by_table(schema: Schema, folder: Path, names: list[str]) -> dict[str, list[str]]:
    """Return the names of files that are a table's in another spelling."""
    table_of = {fold_name(name): table.name for table in schema for name in table.source_names}
    by_table: dict[str, list[str]] = {}
    for name in names:
        stem = name[: len(name) - len(ending_of(name))]
        table = table_of.get(fold_name(stem))
        if table is not None and (ending_of(name) or (folder / name).is_dir()):
            by_table.setdefault(table, []).append(name)
    return by_table


def _read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    if file.is_dir() and not ending_of(file.name):
        return parquet_folder.read(connection, table, file)
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "is not a file (a broken link?)"
        return None, [table_issue(table.name, file.name, kind, "put the table's file there")]
    return read_file(connection, table, file)


def _nothing(schema: Schema, folder: Path, others: Collection[str]) -> str:
    if _EXPORTED in others:
        return (
            f"{folder} is the exported ledger of a contest, not a folder of tables; agon replay "
            f"{folder} computes its boards, and agon arena audit examines that of an arena"
        )
    names = [table.name for table in schema]
    needed = [table.name for table in schema if table.required]
    needed = [*needed, *(group[0] for group in schema.one_table_of)] or names[:1]
    near = [candidate for name in names if (candidate := nearest_file(name, others)) is not None]
    hint = "".join(map(file_hint, dict.fromkeys(near)))
    return (
        f"{folder} holds no {schema.discipline} table; looked for {', '.join(names)} "
        f"as {', '.join(USUAL)}{hint}; give the folder that holds them, or, for records "
        f"without rows, an empty file for {' and '.join(needed)}"
    )
