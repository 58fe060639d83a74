"""Read a table that is a folder of Parquet files (partitions) in place.

The rows of the files follow each other in the order of the files' names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agon.records.issues import RowIssue
from agon.records.names.columns import spelled_as
from agon.records.raw import NUMBERED, RawTable, file_literal
from agon.records.schemas import Table
from agon.records.sources import parquet_file
from agon.records.sources.issues import table_issue

_FILE, _ROW = "file_index", "file_row_number"
_SUFFIX = ".parquet"
_HIDDEN = ("_", ".")


@dataclass(frozen=True)
class _Part:
    """A file of a table: its name in messages, and itself as a table."""

    location: str
    raw: RawTable


def read(
    connection: Any, table: Table, folder: Path
) -> tuple[RawTable | None, list[RowIssue]]:  # fmt: skip
    """Return the Parquet files of a folder as one relation of the engine."""
    files, issues = _list(table, folder)
    parts = []
    for file in files:
        location = f"{folder.name}/{file.name}"
        raw, wrong = parquet_file.read(connection, table, file)
        issues += [replace(issue, location=location) for issue in wrong]
        if raw is not None:
            parts.append(_Part(location, raw))
    if not issues and not parts:
        reason, remedy = "has no Parquet files", "put the table's files there, or remove it"
        issues = [table_issue(table.name, folder.name, reason, remedy)]
    issues += [_different(table, part, parts[0]) for part in parts[1:] if _differ(part, parts[0])]
    return (None, issues) if issues else (_join(connection, table, folder, files, parts), [])


def files_of(folder: Path) -> list[Path]:
    """Return the Parquet files of a table's folder by name; hidden ones are left out."""
    return [path for path in _visible(folder) if path.name.endswith(_SUFFIX) and path.is_file()]


def _list(table: Table, folder: Path) -> tuple[list[Path], list[RowIssue]]:
    """Return the files, and an issue for all that is no Parquet file."""
    try:
        files, entries = files_of(folder), _visible(folder)
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        return [], [table_issue(table.name, folder.name, reason, "grant the permission to read it")]
    return files, [
        table_issue(
            table.name,
            f"{folder.name}/{path.name}",
            "is not a Parquet file",
            f"keep files named *{_SUFFIX} only in the folder of a table",
        )
        for path in entries
        if path not in files
    ]


def _visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith(_HIDDEN))


def _differ(part: _Part, first: _Part) -> bool:
    return _form(part) != _form(first)


def _form(part: _Part) -> tuple[Any, ...]:
    return part.raw.types, part.raw.row, part.raw.spelled


def _different(table: Table, part: _Part, first: _Part) -> RowIssue:
    names = sorted(
        name
        for name in part.raw.types.keys() | first.raw.types.keys()
        if part.raw.types.get(name) != first.raw.types.get(name)
        or part.raw.spelled.get(name) != first.raw.spelled.get(name)
    )
    which = f" ({', '.join(names)})" if names else ""
    reason = f"has other columns or types than {first.location}{which}"
    return table_issue(
        table.name, part.location, reason, "write all files of a table with the same ones"
    )


def _join(
    connection: Any, table: Table, folder: Path, files: Sequence[Path], parts: Sequence[_Part]
) -> RawTable:
    sql = f"SELECT num_rows FROM parquet_file_metadata({_file_list(files)})"
    counts = [rows for (rows,) in connection.execute(sql).fetchall()]
    starts = [sum(counts[:index]) for index in range(len(counts))]
    row = NUMBERED
    first = parts[0].raw
    if all(_ROW not in part.raw.others and _FILE not in part.raw.others for part in parts):
        row = _row(starts)

    def examine() -> list[RowIssue]:
        return [
            replace(issue, location=part.location)
            for part in parts
            for issue in (part.raw.examine() if part.raw.examine else [])
        ]

    joined = RawTable(
        table.name,
        folder.name,
        _relation(files),
        first.types,
        row=row,
        in_place=True,
        others=tuple(dict.fromkeys(name for part in parts for name in part.raw.others)),
        examine=examine,
        parts=tuple(zip((part.location for part in parts), starts, strict=True)),
    )
    return spelled_as(joined, first.spelled)


def _file_list(files: Sequence[Path]) -> str:
    return "[" + ", ".join(file_literal(str(file)) for file in files) + "]"


def _relation(files: Sequence[Path]) -> str:
    return f"read_parquet({_file_list(files)}, hive_partitioning = false)"


def _row(starts: Sequence[int]) -> str:
    """Return SQL for the number of a row, from 1, by the number of rows before each file."""
    return f"list_extract({starts}::BIGINT[], ({_FILE} + 1)::BIGINT) + {_ROW} + 1"
