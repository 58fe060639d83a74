"""Read columns under the names their source gives them.

``{"model_a": "left"}`` reads the column ``model_a`` of the schema from the source's column
``left``. Sources are opened with a schema of their own names; what they give is renamed before any
value is read, and issues name the column as the source does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agon.errors import Unreadable, did_you_mean
from agon.records.issues import RowIssue
from agon.records.raw import RawTable, SourceTables, quote
from agon.records.schemas import Schema, Table

_ROW = quote("source row:")


@dataclass(frozen=True)
class ColumnNames:
    """The source's name of each column that has another one in the schema.

    Attributes:
        schema: the tables.
        by_table: for each table, the source's name by the schema's.
    """

    schema: Schema
    by_table: Mapping[str, Mapping[str, str]]

    def __bool__(self) -> bool:
        return bool(self.by_table)

    def source_schema(self) -> Schema:
        """Return the tables with the columns as the source names them, without their checks."""
        return replace(self.schema, tables=tuple(map(self._source_table, self.schema)))

    def rename_tables(self, source: SourceTables) -> SourceTables:
        """Return a source's tables with the schema's column names."""
        tables = {name: self._renamed_table(raw) for name, raw in source.tables.items()}
        return replace(source, tables=tables, issues=list(map(self.rename_issue, source.issues)))

    def rename_issue(self, issue: RowIssue) -> RowIssue:
        """Return an issue that names its column as the source does."""
        name = self.by_table.get(issue.table, {}).get(issue.column or "")
        return issue if name is None else replace(issue, column=name)

    def _source_table(self, table: Table) -> Table:
        names = self.by_table.get(table.name, {})
        columns = tuple(
            replace(column, name=names.get(column.name, column.name)) for column in table.columns
        )
        return Table(table.name, columns, required=table.required, aliases=table.aliases)

    def _renamed_table(self, raw: RawTable) -> RawTable:
        names = {
            own: source_name
            for own, source_name in self.by_table.get(raw.name, {}).items()
            if source_name in raw.types
        }
        if not names:
            return raw
        own_names = {source_name: own for own, source_name in names.items()}
        pairs = ", ".join(
            f"{quote(source_name)} AS {quote(own)}" for own, source_name in names.items()
        )
        # What a source holds under a name that is read from another column has no name here.
        hidden = [own for own in names if own in raw.types and own not in names.values()]
        excluded = f"EXCLUDE ({', '.join(map(quote, hidden))}) " if hidden else ""
        types = {
            own_names.get(name, name): kind
            for name, kind in raw.types.items()
            if name not in hidden
        }
        relation = f"(SELECT {raw.row} AS {_ROW}, * {excluded}RENAME ({pairs}) FROM {raw.relation})"
        return replace(raw, relation=relation, types=types, row=_ROW, stored=False)


def column_names(schema: Schema, columns: Mapping[str, str] | None) -> ColumnNames:
    """Return the names of columns in a source, each for the one table that has such a column.

    Args:
        schema: the tables.
        columns: the source's name by the schema's (``model_a`` or ``battles.model_a``).

    Raises:
        Unreadable: no table has such a column, or several have; every such name is listed.

    Example:
        >>> from agon.records.schemas import Column, Kind
        >>> schema = Schema("toy", (Table("battles", (Column("model_a", Kind.TEXT),)),))
        >>> column_names(schema, {"model_a": "left"}).by_table
        {'battles': {'model_a': 'left'}}
    """
    by_table: dict[str, dict[str, str]] = {}
    issues = []
    known = {table.name: {column.name for column in table.columns} for table in schema}
    for name, source_name in (columns or {}).items():
        table_name, dot, column = name.rpartition(".")
        tables = [
            table
            for table, names in known.items()
            if column in names and (not dot or table == table_name)
        ]
        if len(tables) == 1:
            by_table.setdefault(tables[0], {})[column] = source_name
        elif tables:
            choices = ", ".join(f"{table}.{column}" for table in tables)
            issues.append(f"{name!r} is a column of several tables; give one of {choices}")
        else:
            every = [*set().union(*known.values())]
            issues.append(f"no table has a column {name!r}: {did_you_mean(column, sorted(every))}")
    if issues:
        raise Unreadable("columns: " + "; ".join(issues))
    return ColumnNames(schema, by_table)


def require_names(columns: Any) -> None:
    """Check that names of columns are a mapping.

    Raises:
        Unreadable: they are not.
    """
    if not isinstance(columns, Mapping | None):
        raise Unreadable(
            f"columns is {columns!r}; give the source's name by the schema's, as in "
            "{'model_a': 'left'}"
        )
