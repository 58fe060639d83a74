"""Read columns under the names their source gives them.

``{"model_a": "left"}`` reads the column ``model_a`` of the schema from the source's column
``left``. Sources are opened with a schema of their own names; what they give is renamed before any
value is read, and issues name the column as the source does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
        tables: the source's name of a table, by the schema's, where it is stated.
    """

    schema: Schema
    by_table: Mapping[str, Mapping[str, str]]
    tables: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_table or self.tables)

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
        return Table(
            table.name,
            columns,
            required=table.required,
            aliases=table.aliases,
            stored_as=self.tables.get(table.name, ""),
        )

    def missing(self, source: SourceTables) -> list[RowIssue]:
        """Return an issue for each stated name that a source does not have, before renaming."""
        issues = []
        for table, stored in self.tables.items():
            if table not in source.tables and not self.schema.table(table).required:
                near = did_you_mean(stored, source.others) if source.others else "there is no other"
                issues.append(
                    RowIssue("missing-table", table, stored, None, None, None,
                             f"is missing; {table} is to be read from it", near)
                )  # fmt: skip
        for name, names in self.by_table.items():
            raw = source.tables.get(name)
            for own, stored in names.items():
                if raw is None or stored in raw.types:
                    continue
                if not self.schema.table(name).column(own).required:
                    hint = did_you_mean(stored, raw.others) if raw.others else "correct its name"
                    issues.append(
                        RowIssue("missing-column", name, raw.location, None, stored, None,
                                 f"is missing; {own} is to be read from it", hint)
                    )  # fmt: skip
        return issues

    def _renamed_table(self, raw: RawTable) -> RawTable:
        names = {
            own: source_name
            for own, source_name in self.by_table.get(raw.name, {}).items()
            if source_name in raw.types
        }
        if not names:
            return raw
        # What a source holds under a name that is read from another column has no name here.
        hidden = {own for own in names if own not in names.values()}
        own_names = {source_name: own for own, source_name in names.items()}
        stored = {own_names.get(name, name): name for name in raw.types if name not in hidden}
        spelled = names | {
            own_names.get(name, name): name_there for name, name_there in raw.spelled.items()
        }
        types = {own: raw.types[name] for own, name in stored.items()}
        others = (*raw.others, *(name for name in raw.types if name in hidden))
        return replace(_select_columns(raw, stored), types=types, spelled=spelled, others=others)


def spelled_as(raw: RawTable, names: Mapping[str, str]) -> RawTable:
    """Return a table whose relation has the schema's names instead of the source's spelling.

    Args:
        raw: a table with the types of the schema's columns.
        names: the source's name of a column, by the schema's, where they differ.
    """
    if not names:
        return raw
    stored = {own: names.get(own, own) for own in raw.types}
    return replace(_select_columns(raw, stored), spelled=names)


def _select_columns(raw: RawTable, stored: Mapping[str, str]) -> RawTable:
    """Return a table with some columns of its relation under other names."""
    items = [f"{raw.row} AS {_ROW}"]
    items += [f"{quote(name)} AS {quote(own)}" for own, name in stored.items()]
    relation = f"(SELECT {', '.join(items)} FROM {raw.relation})"
    return replace(raw, relation=relation, row=_ROW, stored=False)


def column_names(
    schema: Schema,
    columns: Mapping[str, str] | None,
    tables: Mapping[str, str] | None = None,
) -> ColumnNames:
    """Return the names of columns in a source, each for the one table that has such a column.

    Args:
        schema: the tables.
        columns: the source's name by the schema's (``model_a`` or ``battles.model_a``).
        tables: the source's name of a table, by the schema's.

    Raises:
        Unreadable: no table has such a column, several have, or two columns are read from one;
            every fault is listed.

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
        having = [
            table
            for table, names in known.items()
            if column in names and (not dot or table == table_name)
        ]
        if not source_name:
            issues.append(f"{name!r} is mapped to nothing; give the source's name")
        elif len(having) == 1:
            by_table.setdefault(having[0], {})[column] = source_name
        elif having:
            choices = ", ".join(f"{table}.{column}" for table in having)
            issues.append(f"{name!r} is a column of several tables; give one of {choices}")
        else:
            issues.append(_unknown_column(table_name, column, known))
    for table, named in by_table.items():
        issues += _sharing(named, f"of {table} are" if len(known) > 1 else "are")
    of_tables = [_unknown_table(name, known) for name in tables or {} if name not in known]
    of_tables += _sharing(tables or {}, "are tables")
    faults = {"columns": issues, "tables": of_tables}
    if issues or of_tables:
        raise Unreadable(
            "\n".join(f"{part}: {'; '.join(listed)}" for part, listed in faults.items() if listed)
        )
    return ColumnNames(schema, by_table, tables or {})


def _unknown_table(name: str, known: Mapping[str, set[str]]) -> str:
    return f"there is no table {name!r}: {did_you_mean(name, sorted(known))}"


def _unknown_column(table: str, column: str, known: Mapping[str, set[str]]) -> str:
    """Return the fault of a column that no table has, or not the one that is named with it."""
    if not table:
        every = sorted(set().union(*known.values()))
        return f"no table has a column {column!r}: {did_you_mean(column, every)}"
    if table not in known:
        return _unknown_table(table, known)
    return f"{table} has no column {column!r}: {did_you_mean(column, sorted(known[table]))}"


def _sharing(names: Mapping[str, str], are: str) -> list[str]:
    """Return a fault for each name of the source that several names are read from."""
    own_names: dict[str, list[str]] = {}
    for own, stored in names.items():
        own_names.setdefault(stored, []).append(own)
    return [
        f"{' and '.join(own)} {are} read from {stored!r}; give each its own"
        for stored, own in own_names.items()
        if len(own) > 1
    ]


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
