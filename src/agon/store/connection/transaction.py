"""Run statements within one transaction, one by one or in bulk, and convert values of columns."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, islice, repeat
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, Boolean, Executable, Float, LargeBinary, Row, Select, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, CursorResult
from sqlalchemy.exc import OperationalError

from agon.errors import Unreadable
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.database_errors import require_storable

_COPY_TYPES: Final = {BigInteger: "int8", Boolean: "bool", Float: "float8", LargeBinary: "bytea"}

_BATCH: Final = 500
"""Number of rows one SQLite statement inserts; it takes 32,766 values at most."""

_END_STALLED: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE state = 'active' AND wait_event = 'ClientRead' AND usename = current_user
  AND clock_timestamp() - query_start
    > current_setting('idle_in_transaction_session_timeout')::interval
  AND EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = pg_stat_activity.pid
    AND granted AND mode = 'RowShareLock' AND relation = to_regclass(?))
"""
"""End sessions that locked rows of a table and wait for the rest of a COPY for too long.

PostgreSQL ends idle transactions itself, but within a COPY a session is not idle, and a limit of
its statement's time is not looked at while the server waits for the client.
"""

_LOCK_NOT_AVAILABLE: Final = "55P03"
"""PostgreSQL's SQLSTATE of a lock that was not free within ``lock_timeout``."""

_WAIT_AT_FIRST: Final = """
SELECT set_config('lock_timeout', current_setting('idle_in_transaction_session_timeout'), true)
"""


@dataclass(frozen=True)
class Transaction:
    """A connection with a transaction.

    Attributes:
        connection: the connection.
        database: its name in messages.
        results: what queries returned that are run once; None: the transaction may write.
    """

    connection: Connection
    database: str
    results: dict[Hashable, Any] | None = None

    @property
    def on_sqlite(self) -> bool:
        """Return whether this is SQLite; otherwise it is PostgreSQL."""
        return self.connection.dialect.name == "sqlite"

    def all(self, statement: Executable) -> Sequence[Row[Any]]:
        """Return all rows of a query."""
        return self.connection.execute(statement).all()

    def first(self, statement: Executable) -> Row[Any] | None:
        """Return a query's first row, None if there is none."""
        return self.connection.execute(statement).first()

    def scalar(self, statement: Executable) -> Any:
        """Return the first value of a query's first row, None if there is none."""
        return self.connection.execute(statement).scalar()

    def change(self, statement: Executable) -> int:
        """Run a statement that changes rows; return how many it changed."""
        counted = {"preserve_rowcount": True}
        result: CursorResult[Any] = self.connection.execute(statement, execution_options=counted)
        return result.rowcount

    def change_many(self, statement: Executable, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement that changes rows once for each set of values."""
        if rows:
            self.connection.execute(statement, rows)

    def lock_row(self, query: Select[Any], table: str) -> Row[Any] | None:
        """Return a query's first row and lock it until the transaction ends; None: there is none.

        On PostgreSQL, rows that refer to the locked one can be added meanwhile: their writers may
        be waiting for this lock. After a wait as long as a writer may be idle, sessions whose
        clients stopped within a COPY are ended. SQLite has one writer at a time and needs no lock.

        Args:
            query: selects the row.
            table: the row's table.

        Raises:
            OperationalError: the row stays locked for longer than the session's ``lock_timeout``.
        """
        if self.on_sqlite:
            return self.first(query)
        row = self.first(query.with_for_update(key_share=True, skip_locked=True))
        if row is not None:
            return row
        locking = query.with_for_update(key_share=True)
        try:
            with self.savepoint():
                [[usual]] = self.query("SELECT current_setting('lock_timeout')")
                self.query(_WAIT_AT_FIRST)
                row = self.first(locking)
                self.query("SELECT set_config('lock_timeout', ?, true)", [usual])
                return row
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            self.query(_END_STALLED, [table])
            return self.first(locking)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back the block, and nothing else, if it raises an error."""
        with self.connection.begin_nested():
            yield

    def insert(self, table: Table) -> "postgresql.Insert | sqlite.Insert":
        """Return an INSERT that can have an ON CONFLICT clause."""
        return sqlite.insert(table) if self.on_sqlite else postgresql.insert(table)

    def upsert(self, table: Table, values: Mapping[str, Any]) -> None:
        """Insert a row, or update the one with the same primary key.

        Args:
            table: where.
            values: the complete row.
        """
        keys = [column.name for column in table.primary_key]
        changed = {name: values[name] for name in values if name not in keys}
        self.change(
            self.insert(table).values(**values).on_conflict_do_update(
                index_elements=keys, set_=changed
            )
        )  # fmt: skip

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query, run by the driver without SQLAlchemy; ``?`` marks a value."""
        require_storable(values)
        cursor = self._cursor()
        try:
            cursor.execute(sql if self.on_sqlite else with_percent_marks(sql), values)
            return cursor.fetchall()
        finally:
            cursor.close()

    def query_once(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query as :meth:`query` does.

        A transaction that only reads runs it once and returns the same rows again: it sees one
        state. For queries of few rows that several operations of a page share.
        """
        if self.results is None:
            return self.query(sql, values)
        key = (sql, *values)
        if key not in self.results:
            self.results[key] = self.query(sql, values)
        rows: list[tuple[Any, ...]] = self.results[key]
        return rows

    def execute(self, sql: str) -> None:
        """Run a statement that returns no rows."""
        self.connection.exec_driver_sql(sql)

    def load(self, table: Table, rows: Iterable[Sequence[Any]]) -> int:
        """Insert many rows, each with all columns in the table's order; return how many."""
        if self.on_sqlite:
            names = tuple(column.name for column in table.columns)
            return self.execute_many(_insert_sql(table, 1, (), names), rows)
        return self.copy(table, rows)

    def insert_columns(
        self, table: Table, count: int, same: Mapping[str, Any], each: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert ``count`` rows given as columns, which together are all of the table's.

        On SQLite one statement that inserts 500 rows takes a third less time than 500 statements,
        less still when values that all rows share are bound once.

        Args:
            table: the table.
            count: the number of rows.
            same: columns in which all rows have one value.
            each: the values of each other column.
        """
        if not self.on_sqlite:
            columns = (each.get(column.name) or repeat(same.get(column.name), count)
                       for column in table.columns)  # fmt: skip
            self.copy(table, zip(*columns, strict=True))
            return
        rows, shared, names = zip(*each.values(), strict=True), tuple(same), tuple(each)
        values, cursor = tuple(same.values()), self._cursor()
        try:
            for _ in range(count // _BATCH):
                batch = chain.from_iterable(islice(rows, _BATCH))
                cursor.execute(_insert_sql(table, _BATCH, shared, names), [*values, *batch])
        finally:
            cursor.close()
        self.execute_many(_insert_sql(table, 1, shared, names), [values + row for row in rows])

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement for many rows; return how many it changed. ``?`` marks a value."""
        cursor = self._cursor()
        try:
            cursor.executemany(
                sql if self.on_sqlite else with_percent_marks(sql), map(_storable, rows)
            )
            return max(cursor.rowcount, 0)
        finally:
            cursor.close()

    def copy(self, table: Table, rows: Iterable[Sequence[Any]], *, into: str = "") -> int:
        """Send many rows to PostgreSQL by COPY; ``into`` names a table of the same columns."""
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        types = [_copy_type(column.type) for column in table.columns]
        cursor = self._cursor()
        try:
            with cursor.copy(
                f"COPY {into or table.name} ({names}) FROM STDIN (FORMAT BINARY)"
            ) as copying:
                copying.set_types(types)
                write = copying.write_row
                for row in rows:
                    write(row)
            return int(cursor.rowcount)
        finally:
            cursor.close()

    def stream(self, statement: Executable, *, batch: int = 5000) -> Iterator[Sequence[Row[Any]]]:
        """Yield a query's rows in batches; they are never all in memory."""
        with self.connection.execution_options(yield_per=batch).execute(statement) as result:
            yield from result.partitions()

    def _cursor(self) -> Any:
        driver = self.connection.connection.driver_connection
        if driver is None:
            raise RuntimeError("the connection was closed under its transaction")
        return driver.cursor() if self.on_sqlite else driver.cursor(binary=True)


@cache
def _insert_sql(table: Table, rows: int, same: tuple[str, ...], each: tuple[str, ...]) -> str:
    """Return SQLite's statement that inserts ``rows`` rows; shared values are bound first.

    Only the marks of shared values have numbers: SQLite searches all numbered ones for each next.
    """
    names = ", ".join(f'"{name}"' for name in same + each)
    marks = ", ".join([f"?{number + 1}" for number in range(len(same))] + ["?"] * len(each))
    return f"INSERT INTO {table.name} ({names}) VALUES {', '.join([f'({marks})'] * rows)}"


def _storable(row: Sequence[Any]) -> Sequence[Any]:
    require_storable(row)
    return row


def _copy_type(kind: object) -> str:
    return next((name for base, name in _COPY_TYPES.items() if isinstance(kind, base)), "text")


def with_percent_marks(sql: str) -> str:
    """Replace the marks of values by those of PostgreSQL's driver."""
    return sql.replace("%", "%%").replace("?", "%s")


def to_micros_or_none(at: datetime | None) -> int | None:
    """Return microseconds as :func:`agon.kernel.times.to_micros` does; None stays None."""
    return None if at is None else to_micros(at)


def from_micros_or_none(count: int | None) -> datetime | None:
    """Return a time as :func:`agon.kernel.times.from_micros` does; None stays None."""
    return None if count is None else from_micros(count)


def json_text(value: Any) -> str:
    """Return JSON text, keys in their own order.

    Example:
        >>> json_text({"b": (1, 2)})
        '{"b":[1,2]}'

    Raises:
        Unreadable: it holds an integer of more than 64 bits, or a lone surrogate.
    """
    try:
        return orjson.dumps(value, default=_plain).decode()
    except orjson.JSONEncodeError as error:
        raise Unreadable(
            f"a value cannot be stored as JSON ({error}); give valid Unicode text and integers "
            "of 64 bits"
        ) from error


def parse_json(text: str | None) -> Any:
    """Return the value of JSON text; None stays None."""
    return None if text is None else orjson.loads(text)


def _plain(value: object) -> Any:
    """Return a JSON value for one that orjson does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
