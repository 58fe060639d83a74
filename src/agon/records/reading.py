"""Read sources and tables in memory, check all of them, and return typed records."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.records.issues import InvalidRecords, RowIssue
from agon.records.names.columns import column_names
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.names.unused import columns_read, name_report, without_ignored
from agon.records.raw import MemoryEngine, SourceTables
from agon.records.row_filter import row_filter
from agon.records.schemas import Schema
from agon.records.tables import Records, reading_progress
from agon.records.values.conversions import convert_values
from agon.records.values.typed import make_typed, trust

_MAX_SHARED_ROWS = 10_000  # that are read in the engine that a process shares


def read(
    schema: Schema,
    source: str | Path,
    *,
    where: Mapping[str, Any] | None = None,
    mapping: SourceMapping = NO_MAPPING,
) -> Records:
    """Read a source and validate all of it.

    Args:
        schema: the discipline's tables.
        source: a folder of Parquet, CSV or NDJSON files named after the tables, a DuckDB or
            SQLite file, or a ``postgresql://`` address.
        where: a value, or several, by column of the source; only such rows are read, and the rows
            of other tables that do not refer to another row.
        mapping: how names and values of the source are read.

    Raises:
        InvalidRecords: with everything that is wrong, at once.
        NotFound, Unreadable, Unavailable: the source itself cannot be opened.
    """
    return _valid(*inspect(schema, source, where=where, mapping=mapping))


def inspect(
    schema: Schema,
    source: str | Path,
    *,
    where: Mapping[str, Any] | None = None,
    mapping: SourceMapping = NO_MAPPING,
) -> tuple[Records, list[RowIssue]]:
    """Read a source and return the records together with all that is wrong with them.

    Values that cannot be read are empty in such records, and rows that cannot be are left out.

    Raises:
        NotFound, Unreadable, Unavailable: the source itself cannot be opened.
    """
    from agon.records.sources import is_small_folder, open_source

    engine = MemoryEngine(shared=is_small_folder(source))
    return _inspect(
        engine,
        schema,
        lambda item, tables: open_source(item, tables, source),
        where,
        mapping,
    )


def inspect_files(
    schema: Schema,
    files: Mapping[str, Path],
    *,
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> tuple[Records, list[RowIssue]]:
    """Read a file for each table and return the records with all that is wrong with them."""
    from agon.records.sources import are_small
    from agon.records.sources.formats import read_files

    return _inspect(
        MemoryEngine(shared=are_small(files.values())),
        schema,
        lambda item, tables: read_files(item, tables, files),
        where,
        mapping,
    )


def read_rows(
    schema: Schema,
    tables: Mapping[str, Any],
    *,
    where: Mapping[str, Any] | None = None,
    mapping: SourceMapping = NO_MAPPING,
) -> Records:
    """Read tables in memory, by table name: data frames, or lists of dicts.

    Args:
        schema: the discipline's tables.
        tables: objects with the Arrow PyCapsule interface (``__arrow_c_stream__``: pyarrow, polars,
            pandas, DuckDB relations) or lists of dicts.
        where: a value, or several, by column, as for :func:`read`.
        mapping: how names and values of the tables are read.

    Raises:
        InvalidRecords: with everything that is wrong, at once.
        Unreadable: a table is neither.
    """
    return _valid(*inspect_rows(schema, tables, where=where, mapping=mapping))


def inspect_rows(
    schema: Schema,
    tables: Mapping[str, Any],
    *,
    where: Mapping[str, Any] | None = None,
    mapping: SourceMapping = NO_MAPPING,
) -> tuple[Records, list[RowIssue]]:
    """Read tables in memory and return the records together with all that is wrong with them.

    Raises:
        Unreadable: a table is neither a data frame nor a list of dicts.
    """
    from agon.records.sources.memory import from_memory

    known = [len(rows) for rows in tables.values() if isinstance(rows, list | pa.Table)]
    engine = MemoryEngine(shared=len(known) == len(tables) and sum(known) <= _MAX_SHARED_ROWS)
    return _inspect(
        engine,
        schema,
        lambda item, named: from_memory(item, named, tables, ignore=mapping.ignore),
        where,
        mapping,
    )


def _inspect(
    engine: MemoryEngine,
    schema: Schema,
    open_tables: Callable[[Any, Schema], SourceTables],
    where: Mapping[str, Any] | None,
    mapping: SourceMapping,
) -> tuple[Records, list[RowIssue]]:
    try:
        with reading_progress(engine.connection), engine.unoptimized():
            return _read(engine, schema, open_tables, where, mapping)
    except BaseException:
        engine.close()
        raise


def _read(
    engine: MemoryEngine,
    schema: Schema,
    open_tables: Callable[[Any, Schema], SourceTables],
    where: Mapping[str, Any] | None,
    mapping: SourceMapping,
) -> tuple[Records, list[RowIssue]]:
    conditions = row_filter(schema, where, mapping.columns)
    names = column_names(
        conditions.source_schema() if conditions else schema, mapping.columns, mapping.tables
    )
    source_schema = names.source_schema() if names or conditions else schema
    source = without_ignored(open_tables(engine.connection, source_schema), mapping.ignore)
    report = name_report(source_schema, source, mapping.ignore)
    if names:
        missing = names.missing(source)
        source = names.rename_tables(source)
        report = replace(report, columns=columns_read(source))
        source.issues.extend(missing)
    if conditions:
        source = conditions.apply(engine.connection, source)
    records, issues = _read_typed(engine, schema, source, mapping)
    records.names, records.notes = report, (*report.notes, *records.notes)
    records.lines = {
        name: raw.lines for name, raw in source.tables.items() if raw.lines is not None
    }
    return records, list(map(names.rename_issue, issues)) if names else issues


def _valid(records: Records, issues: list[RowIssue]) -> Records:
    if issues:
        records.close()
        raise InvalidRecords(issues)
    return records


def _read_typed(
    engine: MemoryEngine, schema: Schema, source: SourceTables, mapping: SourceMapping
) -> tuple[Records, list[RowIssue]]:
    import duckdb

    from agon.records.sources.failures import without_unreadable

    words = not any(raw.in_place for raw in source.tables.values())
    try:
        records, issues = _make_records(engine, schema, source, mapping, words_in_place=words)
        if not words and any(issue.code == "unknown-value" for issue in issues):
            records, issues = _make_records(engine, schema, source, mapping, words_in_place=True)
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error as error:
        # A file may turn out to be damaged only when it is read to its end.
        source = without_unreadable(engine.connection, source, error)
        records, issues = _make_records(engine, schema, source, mapping, words_in_place=True)
    return records, issues


def _make_records(
    engine: MemoryEngine,
    schema: Schema,
    source: SourceTables,
    mapping: SourceMapping,
    *,
    words_in_place: bool,
) -> tuple[Records, list[RowIssue]]:
    from agon.records.checks.validation import issues_of

    converted, notes = convert_values(
        engine.connection,
        schema,
        source,
        mapping,
        words_in_place=words_in_place,
        together=engine.is_shared,
    )
    typing = make_typed(engine.connection, schema, converted.tables, stored=engine.is_shared)
    issues = issues_of(engine.connection, schema, converted, typing)
    if not issues:
        for relation in _stored_relations(source) - _stored_relations(converted):
            engine.connection.execute(f"DROP TABLE {relation}")
        trust(engine.connection, schema, converted.tables, typing)
    engine.in_files = all(raw.in_place for raw in source.tables.values())
    records = Records(engine, schema, source.label, frozenset(source.tables))
    records.notes = tuple(notes)
    return records, issues


def _stored_relations(source: SourceTables) -> set[str]:
    return {raw.relation for raw in source.tables.values() if raw.stored}
