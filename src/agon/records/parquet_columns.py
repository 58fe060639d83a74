"""Describe the Parquet files of a folder by columns and types that are equal on every engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from agon.errors import Conflict, Unreadable
from agon.records.schemas import Column, Kind, Schema, Table
from agon.records.sources import source_kind
from agon.records.sources.folder import table_files
from agon.records.tables import Records

ARROW_TYPES: Final[Mapping[str, Any]] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
}
"""The types of columns in an engine, by their names in Ibis."""

_TYPES: Final = {
    Kind.ID: "string",
    Kind.TEXT: "string",
    Kind.INTEGER: "int64",
    Kind.NUMBER: "float64",
    Kind.BOOLEAN: "boolean",
    Kind.TIMESTAMP: "timestamp",
}
_READABLE: Final = {
    Kind.ID: "whole numbers of at most 64 bits, or text",
    Kind.TEXT: "text",
    Kind.INTEGER: "whole numbers of at most 64 bits",
    Kind.NUMBER: "whole numbers or floats",
    Kind.BOOLEAN: "Booleans",
    Kind.TIMESTAMP: "times in milliseconds or microseconds",
}


@dataclass(frozen=True)
class ParquetTable:
    """The Parquet file of one table.

    Attributes:
        path: the file; None: the folder has none.
        types: the Ibis type of every column of the schema.
        present: the columns with values that the file has.
        missing: the required columns that the file does not have.
        rows: the number of rows by the file's metadata.
        constant_nan: the columns with NaN whose other values are all equal.
    """

    path: Path | None
    types: Mapping[str, str]
    present: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    rows: int = 0
    constant_nan: frozenset[str] = frozenset()

    @property
    def location(self) -> str:
        """Return the file's name."""
        return "" if self.path is None else self.path.name

    @property
    def stored(self) -> Mapping[str, str]:
        """Return the types of the columns with values; of a table without any, of all columns."""
        return {name: kind for name, kind in self.types.items()
                if not self.present or name in self.present}  # fmt: skip

    def empty(self) -> pa.Table:
        """Return the table without rows."""
        fields = [(name, ARROW_TYPES[kind]) for name, kind in self.types.items()]
        return pa.schema(fields).empty_table()


def parquet_tables(schema: Schema, folder: Path) -> dict[str, ParquetTable]:
    """Return every table of a schema as a folder has it.

    Raises:
        NotFound, Unreadable: the folder or a file cannot be read.
        Conflict: the source is no folder of Parquet files, or a column has values of a type that
            engines read in different ways.
    """
    if source_kind(schema, folder) != "folder":
        raise Conflict(f"{folder} is not a folder; clusters read folders of Parquet files")
    files = table_files(schema, folder).files
    paths = {name: _only_parquet(folder, names) for name, names in files.items()}
    metadata = {name: _metadata(path) for name, path in paths.items() if path is not None}
    columns = {
        table.name: _columns(table, metadata[table.name]) if table.name in metadata else {}
        for table in schema
    }
    families = schema.families()
    text = {
        family
        for (table, column), family in families.items()
        if column in columns[table] and not pa.types.is_integer(columns[table][column])
    }
    result = {}
    for table in schema:
        types = {
            column.name: "int64"
            if column.kind is Kind.ID and families[table.name, column.name] not in text
            else _TYPES[column.kind]
            for column in table.columns
        }
        path = paths[table.name]
        if path is None:
            result[table.name] = ParquetTable(None, types)
            continue
        meta = metadata[table.name]
        if meta.num_rows and not columns[table.name]:
            raise Unreadable(f"{path.name} has no values in the columns of {table.name}")
        names = set(meta.schema.to_arrow_schema().names)
        result[table.name] = ParquetTable(
            path,
            types,
            frozenset(columns[table.name]),
            tuple(c.name for c in table.columns if c.required and c.name not in names),
            meta.num_rows,
            frozenset(name for name in columns[table.name] if _has_constant_nan(path, meta, name)),
        )
    return result


def tables_of(records: Records) -> dict[str, ParquetTable]:
    """Return every table of records that this machine has read, as an engine reads it."""
    return {
        table.name: ParquetTable(
            Path(table.name) if records.has(table.name) else None,
            {
                column.name: "int64"
                if column.kind is Kind.ID and records.is_integer(table.name, column.name)
                else _TYPES[column.kind]
                for column in table.columns
            },
        )
        for table in records.schema
    }


def _only_parquet(folder: Path, names: list[str]) -> Path | None:
    if not names:
        return None
    if len(names) > 1 or not names[0].endswith(".parquet") or not (folder / names[0]).is_file():
        raise Conflict(
            f"clusters read one Parquet file per table, got {' and '.join(names)}; write the "
            "records as Parquet, or use --engine embedded"
        )
    return folder / names[0]


def _metadata(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except (OSError, pa.ArrowException) as error:
        raise Unreadable(f"{path.name} cannot be read ({str(error).splitlines()[0]})") from None


def _columns(table: Table, metadata: Any) -> dict[str, Any]:
    """Return the Arrow type of each column of the schema that has values."""
    fields = {field.name: field.type for field in metadata.schema.to_arrow_schema()}
    columns = {}
    for column in table.columns:
        kind = fields.get(column.name, pa.null())
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_null(kind):
            continue
        if not _is_readable(column, kind):
            raise Conflict(
                f"{table.name}, column {column.name}: clusters read {_READABLE[column.kind]}, got "
                f"{kind}; write the column so, or use --engine embedded"
            )
        columns[column.name] = kind
    return columns


def _is_readable(column: Column, kind: Any) -> bool:
    is_integer = pa.types.is_integer(kind) and kind != pa.uint64()
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_text = is_text or pa.types.is_string_view(kind)
    match column.kind:
        case Kind.ID:
            return is_integer or is_text
        case Kind.TEXT:
            return is_text
        case Kind.INTEGER:
            return is_integer
        case Kind.NUMBER:
            return is_integer or kind in {pa.float32(), pa.float64()}
        case Kind.BOOLEAN:
            return bool(pa.types.is_boolean(kind))
        case Kind.TIMESTAMP:
            return bool(pa.types.is_timestamp(kind)) and kind.unit in {"ms", "us"}


def _has_constant_nan(path: Path, metadata: Any, name: str) -> bool:
    """Return whether a column has NaN and other values that are all equal.

    The metadata of such a column states one smallest and largest value, since they leave NaN out;
    engines that trust them (DataFusion) read NaN as that value.
    """
    index = metadata.schema.names.index(name) if name in metadata.schema.names else -1
    if index < 0 or metadata.schema.column(index).physical_type not in {"FLOAT", "DOUBLE"}:
        return False
    ends = set()
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(index).statistics
        if statistics is not None and statistics.has_min_max:
            ends |= {statistics.min, statistics.max}
    if len(ends) != 1:
        return False
    import pyarrow.parquet as pq

    values = pq.read_table(path, columns=[name])[name]
    return bool(pc.any(pc.is_nan(values)).as_py())
