"""The records of one discipline as typed tables inside the embedded engine.

Small or large, records live in one DuckDB connection: as views over Parquet files, DuckDB files
and Arrow tables, or as tables read from text. Relational facts ask for Ibis tables, sequential
ones for Arrow.
"""

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from agon.errors import Unavailable
from agon.kernel.progress import is_observed, step
from agon.records.counting import Counts
from agon.records.names.unused import NameReport
from agon.records.raw import MemoryEngine, memory_of, quote, sorting_memory
from agon.records.schemas import SQL_TYPES, Kind, Schema
from agon.records.values.typed import TYPED_SCHEMA, view_as_of

if TYPE_CHECKING:
    from agon.kernel.findings import Finding

_BATCH = 1 << 18  # rows, so that what is computed from one fits into the processor's cache


class Records:
    """The typed tables of one discipline.

    Every table and column of the schema exists (empty when the source has none), plus ``_row``: the
    number of the row in its source, from 1. Ids are integers when every id they are compared with
    is one, and text otherwise; the same records have the same types in every file format.

    Attributes:
        schema: the tables' description.
        source: where the records came from, as people know it (never with a password).
        cutoff: the time the records are seen at (``as_of``), or None for all of them.
        caches: what disciplines cache of single rows by their numbers. It is shared by all that
            show these rows at other times or positions; a row of a number says the same in all.
        notes: what was decided when they were read, one sentence each.
        names: how the names of the source were read.
        lines: returns the lines of rows, by table that was read from a text file.
        row_findings: what the rows of an imported table show that the records do not.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        schema: Schema,
        source: str,
        present: frozenset[str],
        *,
        space: str = TYPED_SCHEMA,
        as_of: datetime | None = None,
    ) -> None:
        self._engine = engine
        self._connection = engine.connection
        self._present = present
        self._space = space
        self._counts: dict[str, int] = {}
        self.schema = schema
        self.source = source
        self.cutoff = as_of
        self.caches: dict[str, Any] = {}
        self.notes: tuple[str, ...] = ()
        self.names = NameReport()
        self.lines: Mapping[str, Callable[[Collection[int]], dict[int, int]]] = {}
        self.row_findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        tables = ", ".join(table.name for table in self.schema if self.has(table.name))
        cutoff = "" if self.cutoff is None else f" as of {self.cutoff.isoformat()}"
        return f"<{type(self).__name__} {self.discipline} from {self.source}{cutoff}: {tables}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def has_rows(self) -> bool:
        """Whether rows can be read; of tables that stay in an engine only counts can."""
        return True

    @property
    def discipline(self) -> str:
        """The discipline these records belong to."""
        return self.schema.discipline

    def has(self, table: str) -> bool:
        """Return whether the source has the table (it may still be empty)."""
        return table in self._present

    def count(self, table: str) -> int:
        """Return the number of a table's rows."""
        if table not in self._counts:
            sql = f"SELECT count(*) FROM {self.relation(table)}"
            self._counts[table] = int(self._connection.execute(sql).fetchall()[0][0])
        return self._counts[table]

    def relation(self, table: str) -> str:
        """Return the SQL after ``FROM`` that reads a table."""
        return f"{self._space}.{quote(table)}"

    def counts(self) -> Counts:
        """Return what asks for whole numbers of relations; of few rows, in one statement."""
        return Counts(self._connection, together=self._engine.is_shared)

    @property
    def memory(self) -> int:
        """Return the bytes of memory of the machine, or of this process's cgroup."""
        return memory_of(self._connection)

    def is_integer(self, table: str, column: str) -> bool:
        """Return whether a column's values are integers."""
        described = self._connection.sql(f"SELECT {quote(column)} FROM {self.relation(table)}")
        return str(described.types[0]) == SQL_TYPES[Kind.INTEGER]

    def table(self, name: str) -> Any:
        """Return a table as an Ibis expression, computed inside the engine.

        Raises:
            Unavailable: Ibis is not installed.
        """
        return self._ibis.table(name, database=self._space)

    def arrow(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a table (or some of its columns) as Arrow, in the order of its source."""
        selected = "*" if columns is None else ", ".join(map(quote, columns))
        sql = f"SELECT {selected} FROM {self._space}.{quote(name)} ORDER BY _row"
        with reading_progress(self._connection):
            return self._connection.sql(sql).to_arrow_table()

    def sql(self, query: str) -> pa.Table:
        """Run a query over the tables by their names and return Arrow; only facts use it.

        Tables stand under their schema names; nothing else is visible by a bare name.
        """
        self._engine.use(self._space)
        with reading_progress(self._connection):
            return self._connection.sql(query).to_arrow_table()

    def batches(self, query: str, *, rows: int = _BATCH) -> Iterator[pa.RecordBatch]:
        """Run a query as :meth:`sql` does and yield its rows in batches, which are not kept.

        No other query may run before the last batch.

        Args:
            query: what :meth:`sql` takes.
            rows: most rows of a batch.
        """
        self._engine.use(self._space)
        with reading_progress(self._connection):
            yield from self._connection.sql(query).to_arrow_reader(rows)

    def reconnect(self) -> "Records | None":
        """Return the records on another connection, for a thread; None: not all are in files."""
        arguments = self.schema, self.source, self._present
        return Records(MemoryEngine(connected_to=self._engine), *arguments, space=self._space,
                       as_of=self.cutoff) if self._engine.in_files else None  # fmt: skip

    @cached_property
    def sha256(self) -> str:
        """Hash what the records say, independent of file format and meaningless row order."""
        from agon.records.hashing import records_sha256

        present = {name: self.relation(name) for name in sorted(self._present)}
        few = self._engine.is_shared
        memory = nullcontext() if few else sorting_memory(self._connection)
        with reading_progress(self._connection), memory:
            return records_sha256(self._connection, self.schema, present, together=few)

    def as_of(self, time: datetime | None) -> Self:
        """Return the records as they were at ``time``: without the rows of later times.

        Rows without a time stay; what ended later (a deleted set) had not ended yet. A time
        without a zone is in UTC. The result shares the engine: closing either closes both.
        """
        if time is None:
            return self
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
        space = f"{self._space}_{time.isoformat()}".translate(_PLAIN)
        self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {space}")
        for table in self.schema:
            sql = view_as_of(table, self._space, space, time.isoformat(sep=" "))
            self._connection.execute(sql)
        visible = type(self)(
            self._engine, self.schema, self.source, self._present, space=space, as_of=time
        )
        visible.caches = self.caches
        visible.notes, visible.names = self.notes, self.names
        visible.row_findings = self.row_findings
        return visible

    def close(self) -> None:
        """Close the engine and remove its temporary files; a second call does nothing."""
        self._engine.close()

    @cached_property
    def _ibis(self) -> Any:
        try:
            import ibis
        except ModuleNotFoundError as error:
            raise Unavailable(
                "Ibis expressions need Ibis: pip install 'agon-engine[ibis]'"
            ) from error
        return ibis.duckdb.from_connection(self._connection)


_PLAIN = str.maketrans("-:.T", "____")


@contextmanager
def reading_progress(connection: Any) -> Iterator[None]:
    """Let the share of the engine's current statement be asked for while the block reads."""
    if not is_observed():
        yield
        return
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    with step("reading", lambda: _share(connection.query_progress())):
        yield
    connection.execute("SET enable_progress_bar = false")


def _share(percent: float) -> float | None:
    """Return the engine's percentage as a share; None where it knows none."""
    return percent / 100 if percent >= 0 else None


class TablesView(Records):
    """The records visible at one position of append-only tables; later rows do not change them.

    Closing it drops its views only; the engine belongs to the tables.
    """

    _pending_drops: list[str]
    _of: Records | None = None
    _release: Callable[[], object]

    def release_into(self, pending: list[str], *, owner: Records | None = None) -> Self:
        """Queue the views in ``pending`` to be dropped after the last use (of ``of``, too)."""
        self._pending_drops, self._of = pending, owner
        # Views that read other ones need those to live as long, and may go with them.
        last = weakref.finalize(owner or self, pending.append, self._space)
        self._release = owner.close if owner else last
        return self

    def as_of(self, timestamp: datetime | None) -> Self:
        """Return the records as they were at a time."""
        view = super().as_of(timestamp)
        return view if view is self else view.release_into(self._pending_drops, owner=self)

    def rows_where(self, table: str, column: str, values: Collection[str]) -> dict[int, str]:
        """Return the rows whose column, as text, has one of some values: number → value."""
        sql = (
            f"SELECT _row, {quote(column)}::VARCHAR FROM {self.relation(table)} "
            f"WHERE {quote(column)}::VARCHAR IN (SELECT unnest(?::VARCHAR[])) ORDER BY _row"
        )
        return dict(self._connection.execute(sql, [list(values)]).fetchall())

    def close(self) -> None:
        """Drop the views; a second call does nothing."""
        self._release()
