"""Read only the rows that have given values, and the rows of other tables that refer to them.

A condition may name a column that the schema does not have (``language`` of a match): such columns
are read for the condition alone, and are no part of the records.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agon.errors import Unreadable, did_you_mean
from agon.records.names.columns import require_names
from agon.records.raw import RawTable, SourceTables, literal, quote
from agon.records.schemas import Column, Kind, Schema, Table

_ROW = quote("filtered row:")
_MAX_VALUES = 5
_NUMERIC = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "U",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
)


@dataclass(frozen=True)
class RowFilter:
    """The values that columns must have; a row is read when every column has one of its values.

    Attributes:
        schema: the tables.
        conditions: values as text, by column (``language`` or ``matches.language``).
    """

    schema: Schema
    conditions: Mapping[str, tuple[str, ...]]

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def source_schema(self) -> Schema:
        """Return the tables with the columns of the conditions."""
        return replace(self.schema, tables=tuple(map(self._source_table, self.schema)))

    def apply(self, connection: Any, source: SourceTables) -> SourceTables:
        """Return a source's tables with the rows that satisfy the conditions.

        Raises:
            Unreadable: a column is in no table or in several, or no row has the values.
        """
        by_table: dict[str, list[str]] = {}
        for name, values in self.conditions.items():
            table, column = _locate(source, name)
            by_table.setdefault(table, []).append(_is_one_of(source.tables[table], column, values))
        tables = dict(source.tables)
        for name, terms in by_table.items():
            tables[name] = _where(tables[name], terms)
        for name, values in self.conditions.items():
            _require_rows(connection, source, tables, name, values)
        return replace(source, tables=self._without_dangling(tables, set(by_table)))

    def _source_table(self, table: Table) -> Table:
        known = {column.name for column in table.columns}
        names = {name.removeprefix(f"{table.name}.") for name in self.conditions}
        added = tuple(Column(name, Kind.TEXT, required=False) for name in sorted(names - known))
        return Table(
            table.name,
            (*table.columns, *added),
            required=table.required,
            aliases=table.aliases,
        )

    def _without_dangling(
        self, tables: dict[str, RawTable], filtered: set[str]
    ) -> dict[str, RawTable]:
        """Leave out the rows that refer to a row that is left out."""
        changed = True
        while changed:
            changed = False
            for table in self.schema:
                if table.name in filtered or table.name not in tables:
                    continue
                terms = [
                    _refers(column.name, *other)
                    for column in table.columns
                    if column.name in tables[table.name].types
                    and (other := _referenced_table(column, tables, filtered)) is not None
                ]
                if terms:
                    tables[table.name] = _where(tables[table.name], terms)
                    filtered.add(table.name)
                    changed = True
        known = {table.name: {column.name for column in table.columns} for table in self.schema}
        return {
            name: replace(raw, types={c: kind for c, kind in raw.types.items() if c in known[name]})
            for name, raw in tables.items()
        }


def row_filter(
    schema: Schema, where: Mapping[str, Any] | None, columns: Mapping[str, str] | None = None
) -> RowFilter:
    """Return the filter of conditions.

    Args:
        schema: the tables.
        where: a value, or several of which a row has one, by column. A column is named as in the
            source. Empty text or None is an empty value.
        columns: the source's name of a column by the schema's.

    Raises:
        Unreadable: ``where`` is not a mapping.

    Example:
        >>> schema = Schema("toy", (Table("battles", (Column("model_a", Kind.TEXT),)),))
        >>> row_filter(schema, {"language": ["en", "de"], "turn": 1}).conditions
        {'language': ('en', 'de'), 'turn': ('1',)}
    """
    require_names(columns)
    if not isinstance(where, Mapping | None):
        raise Unreadable(f"where is {where!r}; give values by column, as in {{'language': 'en'}}")
    own_names = {source_name: name for name, source_name in (columns or {}).items()}
    conditions = {
        _own_name(name, own_names): tuple(map(_text, _values(value)))
        for name, value in (where or {}).items()
    }
    return RowFilter(schema, conditions)


def _own_name(name: str, own_names: Mapping[str, str]) -> str:
    """Return the schema's name of a column that is named as in the source."""
    if name in own_names:
        return own_names[name]
    table, dot, column = name.rpartition(".")
    own = own_names.get(column, column)
    return own if "." in own and column in own_names else f"{table}{dot}{own}"


def _values(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple | set | frozenset) else (value,)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _locate(source: SourceTables, name: str) -> tuple[str, str]:
    """Return the table and the column of a condition."""
    table_name, dot, column = name.rpartition(".")
    if not dot or table_name not in source.tables:
        table_name, column = "", name
    tables = [
        raw.name
        for raw in source.tables.values()
        if column in raw.types and table_name in ("", raw.name)
    ]
    if len(tables) == 1:
        return tables[0], column
    if tables:
        choices = ", ".join(f"{table}.{column}" for table in tables)
        raise Unreadable(f"where: {column!r} is a column of several tables; give one of {choices}")
    known = sorted({name for raw in source.tables.values() for name in (*raw.types, *raw.others)})
    raise Unreadable(f"where: no table has a column {column!r}: {did_you_mean(column, known)}")


def _is_one_of(raw: RawTable, column: str, values: tuple[str, ...]) -> str:
    """Return SQL that is true where a column has one of the values."""
    name, kind = quote(column), raw.types[column].upper()
    terms = [_equals(name, kind, value) for value in values]
    return f"({' OR '.join(terms) or 'false'})"


def _equals(name: str, kind: str, value: str) -> str:
    if not value:
        return f"coalesce(CAST({name} AS VARCHAR), '') = ''"
    if kind.endswith("]"):
        return f"list_contains(CAST({name} AS VARCHAR[]), {literal(value)})"
    if kind.startswith(_NUMERIC):
        return f"{name} = TRY_CAST({literal(value)} AS DOUBLE)"
    if kind == "BOOLEAN":
        return f"{name} = TRY_CAST({literal(value)} AS BOOLEAN)"
    text = f"json_extract_string({name}, '$')" if kind == "JSON" else f"CAST({name} AS VARCHAR)"
    if value in {"true", "false"}:  # a CSV file of pandas has True
        text = f"lower({text})"
    return f"{text} = {literal(value)}"


def _where(raw: RawTable, terms: list[str]) -> RawTable:
    numbered = f"(SELECT {raw.row} AS {_ROW}, * FROM {raw.relation})"
    relation = f"(SELECT * FROM {numbered} WHERE {' AND '.join(terms)})"
    return replace(raw, relation=relation, row=_ROW, stored=False)


def _referenced_table(
    column: Column, tables: Mapping[str, RawTable], filtered: set[str]
) -> tuple[RawTable, str] | None:
    """Return the filtered table and its column that a column refers to."""
    name, _, key = (column.references or "").partition(".")
    if name not in filtered or name not in tables or key not in tables[name].types:
        return None
    return tables[name], key


def _refers(column: str, raw: RawTable, key: str) -> str:
    name = quote(column)
    ids = f"SELECT CAST({quote(key)} AS VARCHAR) FROM {raw.relation}"
    return f"({name} IS NULL OR CAST({name} AS VARCHAR) IN ({ids}))"


def _require_rows(
    connection: Any,
    source: SourceTables,
    tables: Mapping[str, RawTable],
    name: str,
    values: tuple[str, ...],
) -> None:
    """Raise an error with the values of a column when no row satisfies the conditions."""
    import duckdb

    table, column = _locate(source, name)
    raw = source.tables[table]
    text = f"CAST({quote(column)} AS VARCHAR)"
    try:
        if connection.execute(f"SELECT 1 FROM {tables[table].relation} LIMIT 1").fetchall():
            return
        rows = connection.execute(
            f"SELECT {text}, count(*) AS n FROM {raw.relation} GROUP BY 1 ORDER BY n DESC, 1 "
            f"LIMIT {_MAX_VALUES}"
        ).fetchall()
    except duckdb.InterruptException:  # Ctrl-C is no error of the source
        raise
    except duckdb.Error:  # a damaged file; it is reported when its rows are read
        return
    if rows:
        wanted = " or ".join(f"{column}={value}" for value in values)
        most = ", ".join(f"{value} ({count:,})" for value, count in rows)
        raise Unreadable(f"where: no row has {wanted}; the most common values are {most}")
