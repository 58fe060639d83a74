"""Measure a source without reading its records: its tables, their rows and bytes."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from agon.errors import Unreadable
from agon.records.names.columns import column_names
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.names.matching import fold_name
from agon.records.raw import MemoryEngine, SourceTables, quote
from agon.records.schemas import Schema, Table
from agon.records.sources import source_kind
from agon.records.sources.formats import form_of, read_file
from agon.records.sources.parquet_folder import files_of

Counted: TypeAlias = Literal["metadata", "count", "lines", "estimate"]
"""Where a number of rows is from: the file's metadata, a count of the rows or of the lines, or an
estimate (by the first lines of a file, or by PostgreSQL's statistics)."""

_SAMPLE_BYTES: Final = 1 << 24
_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class TableSize:
    """The size of one table.

    Attributes:
        name: the schema's table.
        rows: the number of rows.
        bytes: bytes on disk; None: a part of one file.
        counted: where the number of rows is from.
    """

    name: str
    rows: int
    bytes: int | None
    counted: Counted


@dataclass(frozen=True)
class SourceSize:
    """The size of a source.

    Attributes:
        label: the source, as messages name it (never with a password).
        form: ``parquet``, ``csv``, ``ndjson``, ``json`` or ``xlsx`` (that of most rows),
            ``duckdb``, ``sqlite`` or ``postgresql``.
        bytes: bytes on disk.
        tables: the schema's tables in it.
    """

    label: str
    form: str
    bytes: int
    tables: tuple[TableSize, ...]

    @property
    def rows(self) -> int:
        """Return the number of rows of all tables."""
        return sum(table.rows for table in self.tables)


def source_size(
    schema: Schema, source: str | Path, *, mapping: SourceMapping = NO_MAPPING
) -> SourceSize:
    """Return the size of a folder, a DuckDB or SQLite file, or a PostgreSQL database.

    Args:
        schema: the tables.
        source: the folder, the file, or the address.
        mapping: how the source names its tables, and which of them are not read.

    Raises:
        NotFound: there is no such folder or file.
        Unreadable: it is none of the kinds agon reads, or is damaged, or the mapping names no
            table or column.
        Unavailable: a database is out of reach or its driver is not installed.

    Example:
        >>> from agon.disciplines import discipline
        >>> size = source_size(discipline("community").schema, "examples/tutorial")
        >>> size.form, size.rows, size.tables[0].counted
        ('csv', 69, 'lines')
    """
    schema = column_names(schema, mapping.columns, mapping.tables).source_schema()
    size = _size(schema, source)
    ignored = set(map(fold_name, mapping.ignore))
    tables = tuple(table for table in size.tables if fold_name(table.name) not in ignored)
    return replace(size, tables=tables)


def file_of_rows_size(table: Table, file: Path) -> SourceSize:
    """Return the size of one file of rows.

    Raises:
        Unreadable: it cannot be read, or is damaged.

    Example:
        >>> battles = Table("battles", ())
        >>> size = file_of_rows_size(battles, Path("tests/files/data/chess.csv"))
        >>> size.form, size.tables[0].name, size.rows
        ('csv', 'battles', 3)
    """
    form, size = _file_size(table, file)
    return SourceSize(str(file), form, size.bytes or 0, (size,))


def _size(schema: Schema, source: str | Path) -> SourceSize:
    kind = source_kind(schema, source)
    if kind == "folder":
        return _folder_size(schema, Path(source))
    if kind == "postgresql":
        from agon.records.sources import postgresql

        label, rows = postgresql.sizes(schema, str(source))
        tables = tuple(
            TableSize(name, count, size, "count" if counted else "estimate")
            for name, count, size, counted in rows
        )
        return SourceSize(label, kind, sum(table.bytes or 0 for table in tables), tables)
    path = Path(source)
    counts = _sqlite_counts(schema, path) if kind == "sqlite" else _duckdb_counts(schema, path)
    tables = tuple(TableSize(name, count, None, "count") for name, count in counts.items())
    return SourceSize(str(path), kind, path.stat().st_size, tables)


def _folder_size(schema: Schema, folder: Path) -> SourceSize:
    from agon.records.sources.folder import table_files

    files = table_files(schema, folder).files
    tables, rows_of_form = [], dict[str, int]()
    for name, paths in files.items():
        if not paths:
            continue
        form, table = _file_size(schema.table(name), folder / paths[0])
        rows_of_form[form] = rows_of_form.get(form, 0) + table.rows
        tables.append(table)
    form = max(rows_of_form, key=lambda form: rows_of_form[form], default="parquet")
    size = sum(table.bytes or 0 for table in tables)
    return SourceSize(str(folder), form, size, tuple(tables))


def _file_size(table: Table, path: Path) -> tuple[str, TableSize]:
    """Return the form of a table's file, or of its folder of files, and the table's size.

    Raises:
        Unreadable: a file cannot be read, or is damaged.
    """
    try:
        if path.is_dir():
            parts = [_file_size(table, file)[1] for file in files_of(path)]
            rows, size = sum(part.rows for part in parts), sum(part.bytes or 0 for part in parts)
            return "parquet", TableSize(table.name, rows, size, "metadata")
        size = path.stat().st_size
        rows, counted = _rows_in(table, path, size)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror or error})") from None
    return form_of(path.name), TableSize(table.name, rows, size, counted)


def _rows_in(table: Table, path: Path, size: int) -> tuple[int, Counted]:
    """Return the number of rows of a file; JSON arrays, workbooks and archives are read for it."""
    form, packed = form_of(path.name), path.suffix.lower()
    if packed in {".parquet", ".pq"}:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_metadata(path).num_rows, "metadata"
        except pa.ArrowException as error:
            raise Unreadable(f"{path} is not a Parquet file ({error})") from None
    if form in {"csv", "ndjson"} and packed != ".zip":
        lines, share = _lines(path, size)
        rows = max(round(lines / share) - (form == "csv"), 0)
        return rows, "lines" if share >= 1 else "estimate"
    engine = MemoryEngine()
    try:
        raw, issues = read_file(engine.connection, table, path)
        if raw is None:
            raise Unreadable(f"{path} cannot be read: {issues[0]}")
        count = f"SELECT count(*) FROM {raw.relation}"
        return int(engine.connection.execute(count).fetchall()[0][0]), "count"
    finally:
        engine.close()


def _lines(path: Path, size: int) -> tuple[int, float]:
    """Return the number of lines in a text file's first 16 MiB, and their share of the file.

    The share is one of bytes on disk, which a compressed file has fewer of.
    """
    with path.open("rb") as file:
        text = _plain_stream(file, path.suffix.lower())
        lines = read = 0
        last = b"\n"
        while read < _SAMPLE_BYTES and (block := text.read(_BLOCK_BYTES)):
            lines, read, last = lines + block.count(b"\n"), read + len(block), block[-1:]
        if read < _SAMPLE_BYTES or not text.read(1):
            return lines + (last != b"\n"), 1.0
        return lines, min(file.tell() / size, 1.0)


def _plain_stream(file: IO[bytes], packed: str) -> Any:
    if packed not in {".gz", ".zst"}:
        return file
    import pyarrow as pa

    return pa.CompressedInputStream(file, {".gz": "gzip", ".zst": "zstd"}[packed])


def _duckdb_counts(schema: Schema, path: Path) -> dict[str, int]:
    """Count the rows of a DuckDB file's tables; it knows them without reading them."""
    from agon.records.sources import duckdb_file

    engine = MemoryEngine()
    try:
        source: SourceTables = duckdb_file.tables(engine.connection, schema, path)
        return {
            name: engine.connection.execute(f"SELECT count(*) FROM {raw.relation}").fetchall()[0][0]
            for name, raw in source.tables.items()
        }
    finally:
        engine.close()


def _sqlite_counts(schema: Schema, path: Path) -> dict[str, int]:
    """Count the rows of an SQLite file's tables."""
    from agon.records.sources.sqlite_file import stored_names

    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            return {
                name: int(database.execute(f"SELECT count(*) FROM {quote(full)}").fetchone()[0])
                for name, full in stored_names(schema, database)[0].items()
            }
    except sqlite3.Error as error:
        raise Unreadable(f"{path} cannot be read as an SQLite file ({error})") from None
