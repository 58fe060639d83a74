"""Know the formats of files of tables by their names, and read one file in any of them."""

import gzip
import shutil
import weakref
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, TypeAlias

from agon.records.issues import RowIssue
from agon.records.raw import RawTable, SourceTables
from agon.records.schemas import Schema, Table
from agon.records.sources import csv_file, csv_rows, json_file, ndjson_file, parquet_file, workbook
from agon.records.sources.issues import table_issue, unreadable
from agon.records.sources.text_file import BROKEN

ReadResult: TypeAlias = tuple[RawTable | None, list[RowIssue]]

_READERS: Final[dict[str, Callable[[Any, Table, Path], ReadResult]]] = {
    ".parquet": parquet_file.read,
    ".pq": parquet_file.read,
    ".csv": csv_file.read,
    ".tsv": csv_file.read,
    ".tab": csv_file.read,
    ".psv": csv_file.read,
    ".txt": csv_file.read,  # as spreadsheets call text with tabs
    ".ndjson": ndjson_file.read,
    ".jsonl": ndjson_file.read,
    ".json": json_file.read,
    ".xlsx": workbook.read,
    ".xlsm": workbook.read,
}
_STREAMED: Final = frozenset({csv_file.read, ndjson_file.read})
_PACKED: Final = (".gz", ".zst", ".zip")
ENDINGS: Final = (*_READERS, *(ending + packed for packed in _PACKED for ending in _READERS))
"""Endings of the names of files that are read, in small letters."""

USUAL: Final = (".parquet", ".csv", ".ndjson", ".json", ".xlsx")
"""The usual endings, as messages list them; ``.gz``, ``.zst`` and ``.zip`` may follow."""

_PIECE: Final = 1 << 20


def ending_of(name: str) -> str:
    """Return the ending of a file that is read, in small letters; empty for any other file.

    Example:
        >>> ending_of("Users.CSV"), ending_of("votes.ndjson.gz"), ending_of("notes.md")
        ('.csv', '.ndjson.gz', '')
    """
    lower = name.lower()
    return max((ending for ending in ENDINGS if lower.endswith(ending)), key=len, default="")


def form_of(name: str) -> str:
    """Return the form of a file that is read: parquet, csv, ndjson, json or xlsx.

    Example:
        >>> form_of("votes.TSV"), form_of("votes.jsonl.gz"), form_of("votes.pq")
        ('csv', 'ndjson', 'parquet')
    """
    reader = _READERS[_form_of(Path(name))[0]]
    return next(ending for ending in USUAL if _READERS[ending] is reader).removeprefix(".")


def read_file(connection: Any, table: Table, file: Path) -> ReadResult:
    """Read a file of one table by its name; see :data:`ENDINGS`."""
    ending, packed = _form_of(file)
    reader = _READERS[ending]
    if not packed or _is_streamed(reader, packed):
        return reader(connection, table, file)
    try:
        unpacked = _PlainCopy(file, ending, packed)
    except PermissionError:
        reason, remedy = "may not be read", "grant the permission to read it"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    except _NotOneFile as error:
        return None, [table_issue(table.name, file.name, str(error), "pack one file of the table")]
    except _BROKEN as error:
        return None, [unreadable(table.name, file.name, error)]
    raw, issues = reader(connection, table, unpacked.file)
    issues = [replace(issue, location=file.name) for issue in issues]
    return (None if raw is None else unpacked.hold(connection, raw, file.name)), issues


def read_files(connection: Any, schema: Schema, files: Mapping[str, Path]) -> SourceTables:
    """Read a file for each of some tables."""
    source = SourceTables(", ".join(file.name for file in files.values()))
    for name, file in files.items():
        raw, issues = read_file(connection, schema.table(name), file)
        source.issues.extend(issues)
        if raw is not None:
            source.tables[name] = raw
    return source


def columns_in(file: Path, known: Sequence[str] = ()) -> list[str]:
    """Return the columns of a file: CSV's header, a Parquet schema, or the keys of JSON objects.

    Of a file that cannot be read there are none: reading it states the reason.

    Args:
        file: the file.
        known: names of columns it may have, by which a CSV file's delimiter is recognized.
    """
    ending, packed = _form_of(file)
    reader = _READERS[ending]
    plain = file
    with suppress(*_BROKEN):
        if packed and not _is_streamed(reader, packed):
            unpacked = _PlainCopy(file, ending, packed)
            plain = unpacked.file
        if reader is csv_file.read:
            return csv_rows.columns_in(plain, known)
        if reader is parquet_file.read:
            return parquet_file.columns_in(plain)
        if reader is workbook.read:
            return workbook.columns_in(plain)
        return (json_file if reader is json_file.read else ndjson_file).columns_in(plain)
    return []


def _is_streamed(reader: Callable[..., ReadResult], packed: str) -> bool:
    """Return whether a reader unpacks a file itself while it reads it."""
    return packed == ".gz" and reader in _STREAMED


def _form_of(file: Path) -> tuple[str, str]:
    """Return the ending of a file's format, and that of how it is packed."""
    ending = ending_of(file.name)
    packed = next((packed for packed in _PACKED if ending.endswith(packed)), "")
    return ending.removesuffix(packed), packed


class _NotOneFile(Exception):
    """An archive does not hold exactly one file."""


_BROKEN: Final = (*BROKEN, zipfile.BadZipFile, _NotOneFile, json_file.NotRows)


class _PlainCopy:
    """A copy of a packed file, which is removed with the last use of it."""

    def __init__(self, packed_file: Path, ending: str, packed: str) -> None:
        folder = mkdtemp(prefix="agon-unpacked-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.file = Path(folder) / f"table{ending}"
        with self.file.open("wb") as target:
            if packed == ".zip":
                with zipfile.ZipFile(packed_file) as archive:
                    members = [item for item in archive.infolist() if _is_content(item)]
                    if len(members) != 1:
                        raise _NotOneFile(f"holds {len(members)} files")
                    with archive.open(members[0]) as source:
                        shutil.copyfileobj(source, target, _PIECE)
            elif packed == ".zst":
                import pyarrow as pa

                with pa.input_stream(str(packed_file), compression="zstd") as source:
                    shutil.copyfileobj(source, target, _PIECE)
            else:
                with gzip.open(packed_file, "rb") as source:
                    shutil.copyfileobj(source, target, _PIECE)

    def hold(self, connection: Any, raw: RawTable, name: str) -> RawTable:
        """Return a table that was read from the copy, under the name of the packed file."""
        if raw.in_place:
            copy = f'"unpacked:{raw.name}"'
            connection.execute(
                f'CREATE TABLE {copy} AS SELECT {raw.row} AS "row:", * FROM {raw.relation}'
            )
            return replace(raw, location=name, relation=copy, row='"row:"', in_place=False,
                           stored=True, examine=None)  # fmt: skip
        if raw.lines is None:
            return replace(raw, location=name)
        lines_of = raw.lines
        return replace(raw, location=name, lines=lambda rows: self._lines(lines_of, rows))

    def _lines(self, lines_of: Callable[[Any], dict[int, int]], rows: Any) -> dict[int, int]:
        return lines_of(rows)  # the copy exists as long as this method is bound to it


def _is_content(item: zipfile.ZipInfo) -> bool:
    """Return whether a member of an archive is a file, and none that a system adds."""
    name = item.filename
    return not (item.is_dir() or name.startswith("__MACOSX/") or Path(name).name.startswith("."))
