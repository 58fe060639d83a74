"""Read one Parquet file in place."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agon.records.issues import RowIssue
from agon.records.names.columns import spelled_as
from agon.records.names.matching import match_names
from agon.records.raw import NUMBERED, RawTable, file_literal, quote
from agon.records.schemas import Table
from agon.records.sources.issues import IssueTally, shown_bytes, table_issue, unreadable
from agon.records.sources.nested_names import nested_paths

_ROW = "file_row_number"
_NUMBERED = re.compile(r"_[0-9]+$")


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Return a Parquet file as a relation of the engine."""
    import duckdb

    path = file_literal(str(file))
    relation = f"read_parquet({path}, hive_partitioning = false)"
    try:
        with file.open("rb"):
            described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    except PermissionError:
        reason, remedy = "may not be read", "grant the permission to read it"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except (OSError, duckdb.Error):
        reason, remedy = "is not a Parquet file, or is damaged", "write it again as Parquet"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    kinds = {name: kind for name, kind, *_ in described}
    engine_name = dict(zip(_true_names(file, kinds), kinds, strict=True))
    nested, added, whole = _nested_columns(connection, table, relation, kinds)
    kinds |= nested
    engine_name |= {name: name for name in nested}
    matched = match_names([column.name for column in table.columns], engine_name)
    engine_names = {own: engine_name[name] for own, name in matched.names.items()}
    types = {own: kinds[name] for own, name in engine_names.items()}
    row = NUMBERED
    if _ROW not in kinds:
        relation = f"read_parquet({path}, hive_partitioning = false, {_ROW} = true)"
        row = f"{_ROW} + 1"
    if nested:
        relation = f"(SELECT *, {added} FROM {relation})"
    texts = [
        matched.names[own] for own, kind in types.items() if kind == "VARCHAR" and own not in nested
    ]
    examine = partial(_examine, table, file, texts)
    raw = RawTable(
        table.name,
        file.name,
        relation,
        types,
        row=row,
        in_place=True,
        others=tuple(name for name in matched.unused if name not in whole),
        examine=examine,
    )
    differing = {own: name for own, name in engine_names.items() if own != name}
    return replace(spelled_as(raw, differing), spelled=matched.respelled), []


def _nested_columns(
    connection: Any, table: Table, relation: str, kinds: Mapping[str, str]
) -> tuple[dict[str, str], str, set[str]]:
    """Return types and SQL of the columns that are inside a struct or a list, and those columns."""
    import duckdb

    types: dict[str, str] = {}
    items: list[str] = []
    whole: set[str] = set()
    for column in table.columns:
        for path in nested_paths(column.name, kinds):
            value = quote(path[0]) + "".join(map(_inside, path[1:]))
            with suppress(duckdb.BinderException):
                sql = f"DESCRIBE SELECT {value} FROM {relation}"
                types[column.name] = connection.execute(sql).fetchall()[0][1]
                items.append(f"{value} AS {quote(column.name)}")
                whole.add(path[0])
                break
    return types, ", ".join(items), whole


def _inside(name: str) -> str:
    """Return SQL of a field of a struct, or of an element of a list by its number from 0."""
    return f"[{int(name) + 1}]" if name.isdecimal() else f".{quote(name)}"


def columns_in(file: Path) -> list[str]:
    """Return the names of a file's columns; none of one that is no Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return [str(name) for name in pq.read_schema(file).names]
    except pa.ArrowException:
        return []


def _true_names(file: Path, kinds: Mapping[str, str]) -> list[str]:
    """Return the names of a file's columns; the engine numbers those that differ in case alone."""
    if not any(_NUMBERED.search(name) for name in kinds):
        return [*kinds]
    import pyarrow.parquet as pq

    names = list(pq.read_schema(file).names)
    return names if len(names) == len(kinds) else [*kinds]


def _examine(table: Table, file: Path, texts: list[str]) -> list[RowIssue]:
    """Return an issue for each text that is not UTF-8, or one issue for another damage."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tally = IssueTally(table.name, file.name)
    row = 0
    try:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(columns=texts):
                for name in texts:
                    values = batch.column(name)
                    if not pa.types.is_dictionary(values.type):
                        _add_invalid(tally, name, row, values)
                row += len(batch)
    except (pa.ArrowException, OSError) as error:
        return [unreadable(table.name, file.name, error)]
    return tally.issues()


def _add_invalid(tally: IssueTally, name: str, before: int, values: Any) -> None:
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        return
    for index, value in enumerate(values.cast(pa.binary()).to_pylist(), start=before + 1):
        try:
            (value or b"").decode()
        except UnicodeDecodeError:
            tally.add("wrong-encoding", index, name, shown_bytes(value), "is not UTF-8")
