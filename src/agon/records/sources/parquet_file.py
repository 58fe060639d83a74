"""Read one Parquet file in place."""

from functools import partial
from pathlib import Path
from typing import Any

from agon.records.issues import RowIssue
from agon.records.raw import NUMBERED, RawTable, file_literal
from agon.records.schemas import Table
from agon.records.sources.issues import IssueTally, shown_bytes, table_issue, unreadable

_ROW = "file_row_number"


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
    except (OSError, duckdb.Error) as error:
        first = str(error).splitlines()[0]
        reason, remedy = f"is not a Parquet file ({first})", "write it again as Parquet"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    columns = {column.name for column in table.columns}
    kinds = {name: kind for name, kind, *_ in described}
    types = {name: kind for name, kind in kinds.items() if name in columns}
    row = NUMBERED
    if _ROW not in kinds:
        relation = f"read_parquet({path}, hive_partitioning = false, {_ROW} = true)"
        row = f"{_ROW} + 1"
    others = tuple(name for name in kinds if name not in columns)
    examine = partial(_examine, table, file, types)
    raw = RawTable(
        table.name,
        file.name,
        relation,
        types,
        row=row,
        in_place=True,
        others=others,
        examine=examine,
    )
    return raw, []


def _examine(table: Table, file: Path, types: dict[str, str]) -> list[RowIssue]:
    """Return an issue for each text that is not UTF-8, or one issue for another damage."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tally = IssueTally(table.name, file.name)
    texts = [name for name, kind in types.items() if kind == "VARCHAR"]
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
    for at, value in enumerate(values.cast(pa.binary()).to_pylist(), start=before + 1):
        try:
            (value or b"").decode()
        except UnicodeDecodeError:
            tally.add("wrong-encoding", at, name, shown_bytes(value), "is not UTF-8")
