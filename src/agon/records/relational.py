"""Records whose tables are in an engine that runs Ibis expressions, such as a cluster.

Facts are counted in the engine; rows stay there. Tables are read from a folder of Parquet files
that engine and this machine see under the same path.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self
from uuid import uuid4

import pyarrow as pa

from agon.errors import Conflict, Unavailable
from agon.records.counting import Counts
from agon.records.issues import RowIssue
from agon.records.names.unused import NameReport
from agon.records.parquet_columns import ARROW_TYPES, ParquetTable, parquet_tables, tables_of
from agon.records.reading import read
from agon.records.relational_checks import issues_of
from agon.records.schemas import Schema
from agon.records.tables import Records


class TableEngine(Protocol):
    """An engine that knows tables by name and runs Ibis expressions over them."""

    @property
    def name(self) -> str:
        """Return the engine's name in messages."""
        ...

    def read_parquet(self, name: str, path: Path, columns: Mapping[str, str]) -> None:
        """Name a Parquet file; ``columns`` are those to read, with their Ibis types.

        Times with a zone become times in UTC without one.

        Raises:
            Unavailable: the engine failed.
        """

    def add(self, name: str, rows: pa.Table) -> None:
        """Name some rows of this machine.

        Raises:
            Unavailable: the engine failed.
        """

    def divide(self, name: str, expression: Any, *, by: str) -> None:
        """Name the rows of an expression; those with one value of a column may be in one place.

        Raises:
            Unavailable: the engine failed.
        """

    def keep(self, name: str, expression: Any) -> None:
        """Name the rows of an expression; the engine may keep them until it is closed.

        Raises:
            Unavailable: the engine failed.
        """

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an Ibis expression over unbound tables.

        Raises:
            Unavailable: the engine failed.
        """

    def close(self) -> None:
        """End the connection; a second call does nothing."""


class RelationalRecords(Records):
    """The typed tables of one discipline in an engine, as unbound Ibis tables.

    Boards are computed from counts. What needs rows (explanations, findings) raises ``Conflict``.
    """

    def __init__(  # the embedded engine of the base class is started only when it is needed
        self,
        engine: TableEngine,
        schema: Schema,
        source: str,
        files: Mapping[str, ParquetTable],
        names: Mapping[str, str],
        *,
        local: Records | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self._tables = engine
        self._local = local
        self._files = files
        self._names = names
        self._present = frozenset(name for name, file in files.items() if file.path is not None)
        self.schema = schema
        self.source = source
        self.cutoff = as_of
        self.caches = {}
        self.notes = ()
        self.names = NameReport()
        self.row_findings = ()

    @property
    def has_rows(self) -> bool:
        """Return False: rows stay in the engine."""
        return False

    @property
    def engine(self) -> str:
        """Name the engine."""
        return self._tables.name

    def table(self, name: str) -> Any:
        """Return a table as an Ibis expression; the same unbound table each time."""
        return self._typed[name]

    def run(self, expression: Any) -> pa.Table:
        """Return the rows of an Ibis expression over :meth:`table`.

        Raises:
            Unavailable: the engine failed.
        """
        return self._tables.run(expression)

    def add(self, name: str, rows: pa.Table) -> Any:
        """Give rows of this machine to the engine, and return them as an Ibis table."""
        import ibis

        unique = _unique(name)
        self._tables.add(unique, rows)
        return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=unique)

    def divide(self, name: str, expression: Any, *, by: str) -> Any:
        """Return the rows of an expression as a table that the engine divides by a column.

        Raises:
            Unavailable: the engine failed.
        """
        unique = _unique(name)
        self._tables.divide(unique, expression, by=by)
        return _table_like(expression, unique)

    def keep(self, name: str, expression: Any) -> Any:
        """Return the rows of an expression as a table that the engine computes once.

        Raises:
            Unavailable: the engine failed.
        """
        unique = _unique(name)
        self._tables.keep(unique, expression)
        return _table_like(expression, unique)

    def count(self, table: str) -> int:
        """Count a table's rows."""
        return int(self.run(self.table(table).count().name("n").as_table())["n"][0].as_py())

    def counts(self) -> Counts:
        """Raise ``Conflict``: rows stay in the engine, and what counts them is no SQL."""
        raise self.needs_rows("what is counted by SQL")

    def is_integer(self, table: str, column: str) -> bool:  # noqa: ARG002 - as the base
        """Raise ``Conflict``: values stay in the engine."""
        raise self.needs_rows(f"the values of {table}")

    def arrow(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:  # noqa: ARG002 - as the base
        """Raise ``Conflict``: rows stay in the engine."""
        raise self.needs_rows(f"the rows of {name}")

    def sql(self, query: str) -> pa.Table:  # noqa: ARG002 - has the signature of the base class
        """Raise ``Conflict``: rows stay in the engine."""
        raise self.needs_rows("what needs single rows (explanations, findings)")

    def needs_rows(self, what: str) -> Conflict:
        """Return the error that something is computed from rows, which stay in the engine."""
        return Conflict(
            f"{self.schema.discipline}: {what} cannot be computed on {self.engine}, which counts "
            "for boards and returns no rows; use --engine embedded"
        )

    @cached_property
    def local(self) -> Records:
        """Return the records as this machine reads them, without the engine."""
        local = read(self.schema, self.source) if self._local is None else self._local
        return local.as_of(self.cutoff)

    @cached_property
    def sha256(self) -> str:
        """Hash what the records say, as this machine reads them."""
        return self.local.sha256

    def as_of(self, time: datetime | None) -> Self:
        """Return the records as they were at ``time``: without the rows of later times."""
        if time is None:
            return self
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
        return type(self)(
            self._tables, self.schema, self.source, self._files, self._names,
            local=self._local, as_of=time,
        )  # fmt: skip

    def reconnect(self) -> None:
        """Return None: the engine counts in parallel by itself."""

    def issues(self) -> list[RowIssue]:
        """Return what is wrong with the tables: each kind of issue with its count."""
        return issues_of(self.schema, self._files, self._typed, self.run)

    def close(self) -> None:
        """End the connection to the engine; a second call does nothing."""
        self._tables.close()
        if self._local is not None:
            self._local.close()
        elif "local" in self.__dict__:
            self.local.close()

    @cached_property
    def _typed(self) -> dict[str, Any]:
        return {table.name: self._typed_table(table.name) for table in self.schema}

    def _typed_table(self, name: str) -> Any:
        import ibis

        table, file = self.schema.table(name), self._files[name]
        rows = ibis.table(file.stored, name=self._names[name])
        # Empty text is an empty value, as it is in every format.
        rows = rows.select(
            **{
                column: ibis.null(kind)
                if column not in file.stored
                else rows[column].nullif("")
                if kind == "string"
                else rows[column]
                for column, kind in file.types.items()
            }
        )
        if self.cutoff is None:
            return rows
        time = ibis.timestamp(self.cutoff)
        if table.time:
            rows = rows.filter(rows[table.time].isnull() | (rows[table.time] <= time))
        if table.ends:
            ended = ibis.ifelse(rows[table.ends] <= time, rows[table.ends], ibis.null("timestamp"))
            rows = rows.mutate(**{table.ends: ended})
        return rows


def _unique(name: str) -> str:
    """Return a name that no other relation has; records and processes share a session."""
    return f"{name}_{uuid4().hex}"


def _table_like(expression: Any, name: str) -> Any:
    import ibis

    return ibis.table(expression.schema(), name=name)


def inspect_in(
    engine: TableEngine, schema: Schema, source: str | Path
) -> tuple[RelationalRecords, list[RowIssue]]:
    """Read a folder of Parquet files in an engine; return the records and what is wrong with them.

    Raises:
        NotFound, Unreadable: the folder cannot be read.
        Conflict: a table is not a Parquet file, or has values of a type that the engine reads
            in another way than this machine.
        Unavailable: Ibis is not installed, or the engine failed.
    """
    try:
        import ibis  # noqa: F401 - whether it is installed
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"the engine {engine.name} needs Ibis: pip install 'agon-engine[sail]'"
        ) from error
    files = parquet_tables(schema, Path(source))
    names = {name: _unique(name) for name in files}
    for name, file in files.items():
        if file.path is not None and file.present:
            engine.read_parquet(names[name], file.path.resolve(), file.stored)
        else:
            engine.add(names[name], file.empty())
    records = RelationalRecords(engine, schema, str(source), files, names)
    return records, records.issues()


def send_to(engine: TableEngine, records: Records) -> RelationalRecords:
    """Return records that this machine has read as tables of an engine, to which they are sent.

    They are those of a source with a mapping, which is applied where the source is read.

    Raises:
        Unavailable: the engine failed.
    """
    tables = tables_of(records)
    names = {name: _unique(name) for name in tables}
    for name, table in tables.items():
        rows = table.empty()
        if table.path is not None:
            columns = {column: records.arrow(name, [column])[column] for column in table.types}
            fields = [(column, ARROW_TYPES[kind]) for column, kind in table.types.items()]
            rows = pa.table(columns).cast(pa.schema(fields))
        engine.add(names[name], rows)
    sent = RelationalRecords(engine, records.schema, records.source, tables, names, local=records)
    sent.notes, sent.names, sent.row_findings = records.notes, records.names, records.row_findings
    return sent
