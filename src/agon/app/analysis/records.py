"""Read records from any source that users have, and write them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

import pyarrow as pa

from agon.app.analysis.options import ReadingOptions, SourceOptions, with_options
from agon.app.importers import Format, format_of_frame, import_records
from agon.disciplines import ImportedRecords, Simulation, discipline
from agon.engines import open_tables, require_engine
from agon.errors import Conflict, Unreadable
from agon.records import (
    Column,
    InvalidRecords,
    Kind,
    Records,
    RowIssue,
    Schema,
    inspect,
    inspect_rows,
)
from agon.records.frames import Rows
from agon.records.names.mapping import NO_MAPPING, MappingSource, SourceMapping, source_mapping
from agon.records.names.unused import NameReport
from agon.records.relational import RelationalRecords, inspect_in, send_to
from agon.records.sources.formats import ending_of
from agon.records.sources.memory import arrow_table, is_table
from agon.records.writing import FORMATS, TableFormat, write_tables

RecordsSource = str | Path | Records | ImportedRecords | Simulation | Rows | Mapping[str, Rows]
"""All that records are read from: an address or a path, records, or tables in memory."""


@with_options
def read_records(
    discipline_name: str, source: RecordsSource, **options: Unpack[ReadingOptions]
) -> Records:
    """Read and check a discipline's records.

    A data frame is anything with the Arrow PyCapsule interface (``__arrow_c_stream__``: pandas,
    polars, pyarrow, a DuckDB relation) or a list of dicts.

    Args:
        discipline_name: the name of the discipline.
        source: one of

            * a folder with one CSV, NDJSON or Parquet file per table, a DuckDB or SQLite file, or
              ``postgresql://…``;
            * data frames by table name;
            * a single data frame, read in the discipline's format of one table (arena: battles
              with ``model_a``, ``model_b``, ``winner``; challenge: evaluations with ``uid``,
              ``validator``, ``score``, ``stake``);
            * a CSV, JSON, NDJSON or Parquet file of such a table;
            * imported or simulated records, or records that are read already.
        columns, where, mapping, ignore, engine: how and where the source is read
            (:class:`ReadingOptions`).

    Raises:
        InvalidRecords: with all issues.
        NotFound, Unreadable, Unavailable: there is no such discipline or engine, or the source
            cannot be opened.
        Conflict: the records belong to another discipline, or are read already and ``columns``,
            ``mapping`` or ``where`` is stated, or the engine cannot read the source.

    Example:
        >>> records = read_records("community", "examples/tutorial")
        >>> records.count("users"), records.count("quick_feedbacks")
        (7, 21)
        >>> battles = [{"left": "ann", "right": "bob", "winner": "model_a"}]
        >>> names = {"model_a": "left", "model_b": "right"}
        >>> read_records("arena", battles, columns=names).count("bots")
        2
    """
    records, issues = inspect_records(discipline_name, source, **options)
    if issues:
        records.close()
        raise InvalidRecords(issues, names=records.names)
    return records


def inspect_records(
    discipline_name: str,
    source: RecordsSource,
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    mapping: MappingSource | None = None,
    ignore: Iterable[str] | None = None,
    engine: str | None = None,
) -> tuple[Records, list[RowIssue]]:
    """Read a discipline's records and return them together with all that is wrong with them.

    Args:
        discipline_name: the name of the discipline.
        source: all that :func:`read_records` reads.
        columns: the source's name of a column by the schema's, where they differ.
        where: a value, or several, by column of the source.
        mapping: how names and values of the source are read.
        ignore: names of columns, tables or files that are not read.
        engine: where the tables are read (None: by the source).

    Raises:
        InvalidRecords: with all issues of a single table; without them it cannot be converted.
        NotFound, Unreadable, Unavailable, Conflict: as :func:`read_records` does.

    Example:
        >>> records, issues = inspect_records("dojo", {"user": [{"id": "ada"}]})
        >>> [issue.code for issue in issues if issue.table == "user"]
        ['unknown-table']
    """
    reads = source_mapping(mapping).with_columns(columns).with_ignored(ignore or ())
    schema = _extend(discipline(discipline_name).schema, reads.keep)
    renamed = bool(reads or where)
    if require_engine(engine, source).counts:
        return _inspect_in_engine(discipline_name, source, str(engine), reads=reads, where=where)
    if isinstance(source, Records):
        return _already_read(discipline_name, source, renamed=renamed), []
    label = str(source) if isinstance(source, str | Path) else "memory"
    single = is_table(source) or _is_file_of_rows(source)
    if isinstance(source, str | Path) and not single:
        return inspect(schema, source, mapping=reads, where=where)
    if single:
        form = _format_of_rows(discipline_name, source)
        table = cast("str | Path | Rows", source)
        source = import_records(form.name, table, mapping=reads, where=where)
        reads, where = NO_MAPPING, None
    if isinstance(source, ImportedRecords) and source.discipline != discipline_name:
        raise other_discipline(discipline_name, source.discipline)
    tables = getattr(source, "tables", source)
    if not isinstance(tables, Mapping):
        raise Unreadable(
            f"records cannot be read from a value of type {type(source).__name__}; give a folder, "
            "a file, a data frame, or data frames by table name"
        )
    records, issues = inspect_rows(schema, tables, mapping=reads, where=where)
    records.source = label
    if isinstance(source, ImportedRecords):
        records.names, records.notes = source.names or NameReport(), source.notes
        records.row_findings = source.findings
    return records, issues


def _extend(schema: Schema, kept: Mapping[str, str]) -> Schema:
    """Return a schema with further columns that are read where a source has them."""
    added: dict[str, list[Column]] = {}
    for name, kind in kept.items():
        table, _, column = name.partition(".")
        added.setdefault(table, []).append(Column(column, Kind(kind), required=False))
    tables = tuple(
        replace(
            table,
            columns=(
                *table.columns,
                *(
                    column
                    for column in added.get(table.name, ())
                    if column.name not in {own.name for own in table.columns}
                ),
            ),
        )
        for table in schema
    )
    return replace(schema, tables=tables) if added else schema


def _already_read(discipline_name: str, records: Records, *, renamed: bool) -> Records:
    """Return records that are read already.

    Raises:
        Conflict: they belong to another discipline, or ``columns`` or ``where`` is stated.
    """
    if renamed:
        raise Conflict("columns, mapping and where are about a source; give them to read_records")
    if records.discipline != discipline_name:
        raise other_discipline(discipline_name, records.discipline)
    return records


def _inspect_in_engine(
    discipline_name: str,
    source: Any,
    name: str,
    *,
    reads: SourceMapping,
    where: Mapping[str, Any] | None,
) -> tuple[Records, list[RowIssue]]:
    """Return the records in an engine in which the tables stay, and what is wrong with them.

    A mapping and conditions are applied on this machine, which sends what it has read.
    """
    if not discipline(discipline_name).traits.relational:
        raise Conflict(f"{discipline_name} is not counted on {name}; use --engine embedded")
    if isinstance(source, Records):
        if not isinstance(source, RelationalRecords):
            raise Conflict(f"expected a source for {name}, got records that are read already")
        return _already_read(discipline_name, source, renamed=bool(reads or where)), []
    schema = discipline(discipline_name).schema
    local = None
    if reads or where:
        local, issues = inspect(schema, source, mapping=reads, where=where)
        if issues:
            return local, issues
    engine = open_tables(name)
    try:
        if local is not None:
            return send_to(engine, local), []
        return inspect_in(engine, schema, source)
    except BaseException:
        engine.close()
        raise


def write_records(
    records: Records | ImportedRecords | Simulation | Mapping[str, Rows],
    out: Path | str,
    *,
    form: TableFormat = "parquet",
) -> None:
    """Write records, or data frames by table name, into a new folder.

    Args:
        records: the result of ``read_records``, ``import_records`` or ``simulate``, or data frames
            by table name. Records that were read are written in normal form: under the names of
            the schema, with values in its types.
        out: the folder; it is created when its content is complete.
        form: ``parquet``, ``csv`` or ``ndjson``.

    Raises:
        Conflict: the folder exists and is not empty.
        NotFound: its parent folder is missing.
        Unreadable: the records are of another type, or there is no such form.
    """
    if form not in FORMATS:
        raise Unreadable(f"there is no form {form!r}; give one of {', '.join(FORMATS)}")
    tables = normal_tables(records) if isinstance(records, Records) else records
    tables = getattr(tables, "tables", tables)
    if not isinstance(tables, Mapping):
        raise Unreadable(
            f"records cannot be written from a value of type {type(records).__name__}; give "
            "records, or data frames by table name"
        )
    arrow = {name: arrow_table(str(name), rows) for name, rows in tables.items()}
    write_tables(arrow, Path(out), format=form)


def normal_tables(records: Records) -> dict[str, pa.Table]:
    """Return the tables that records have, without the optional columns that have no value."""
    tables = {}
    for table in records.schema:
        if records.has(table.name):
            rows = records.arrow(table.name, [column.name for column in table.columns])
            filled = [
                column.name
                for column in table.columns
                if column.required or rows[column.name].null_count < len(rows)
            ]
            tables[table.name] = rows.select(filled)
    return tables


@with_options
def convert_records(
    discipline_name: str, source: str | Path, **options: Unpack[SourceOptions]
) -> ImportedRecords:
    """Return the tables of a source in normal form, to be written in any format.

    A file of one table is imported, so that its categories stay.

    Args:
        discipline_name: the name of the discipline.
        source: a file, a folder or an address that :func:`read_records` reads.
        columns, where, mapping, ignore: how it is read (:class:`SourceOptions`).

    Raises:
        InvalidRecords: with all issues; also for unused names that are near to a missing one.
        NotFound, Unreadable, Unavailable: the source cannot be opened.
    """
    form = format_of_file(discipline_name, source)
    if form is not None:
        return import_records(form.name, source, **options)
    with read_records(discipline_name, source, **options) as records:
        return ImportedRecords(
            discipline_name, normal_tables(records), records.notes, records.names
        )


def format_of_file(discipline_name: str, source: str | Path) -> Format | None:
    """Return the format of a file of one table; None: the source is no such file.

    Raises:
        Unreadable: it is one, and the discipline has no format of one table.
    """
    return _format_of_rows(discipline_name, source) if _is_file_of_rows(source) else None


def _format_of_rows(discipline_name: str, source: Any) -> Format:
    form = format_of_frame(discipline_name)
    if form is None:
        names = ", ".join(table.name for table in discipline(discipline_name).schema)
        if isinstance(source, str | Path):
            raise Unreadable(
                f"{source} is a file of one table, but {discipline_name} has several tables; "
                f"give a folder with a file for each table, named after it ({names})"
            )
        raise Unreadable(
            f"{discipline_name} has several tables; give data frames by table name ({names})"
        )
    return form


def _is_file_of_rows(source: Any) -> bool:
    """Return whether a source is the name of a file of rows, by its ending."""
    if not isinstance(source, str | Path) or "://" in str(source):
        return False
    path = Path(source)
    return path.is_file() and bool(ending_of(path.name))


def other_discipline(discipline_name: str, other: str) -> Conflict:
    """Return the error that records belong to another discipline."""
    return Conflict(
        f"expected records of {discipline_name}, got records of {other}; score them as {other}"
    )
