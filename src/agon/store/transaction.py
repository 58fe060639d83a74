"""Speak to the database within one transaction, statement by statement or in bulk."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Executable, Float, LargeBinary, Row, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, CursorResult

from agon.store.threads import run_in_thread

_COPIED: Final = {BigInteger: "int8", Boolean: "bool", Float: "float8", LargeBinary: "bytea"}

_TOGETHER: Final = 1_000
"""So many rows one statement of SQLite's inserts; it takes 32,766 values at most."""


@dataclass(frozen=True)
class Transaction:
    """Hold a connection with a transaction begun on it."""

    connection: Connection
    database: str

    @property
    def on_sqlite(self) -> bool:
        """Say whether this is SQLite; else it is PostgreSQL."""
        return self.connection.dialect.name == "sqlite"

    def all(self, statement: Executable) -> Sequence[Row[Any]]:
        """Return all rows of a query."""
        return self.connection.execute(statement).all()

    def first(self, statement: Executable) -> Row[Any] | None:
        """Return a query's first row, None for none."""
        return self.connection.execute(statement).first()

    def scalar(self, statement: Executable) -> Any:
        """Return the first value of a query's first row, None for none."""
        return self.connection.execute(statement).scalar()

    def change(self, statement: Executable) -> int:
        """Run a statement that changes rows and return how many it changed."""
        counted = {"preserve_rowcount": True}
        result: CursorResult[Any] = self.connection.execute(statement, execution_options=counted)
        return result.rowcount

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block did, and no more, when an error leaves it."""
        with self.connection.begin_nested():
            yield

    def insert(self, table: Table) -> "postgresql.Insert | sqlite.Insert":
        """Begin an INSERT that may say what becomes of rows that are there already."""
        return sqlite.insert(table) if self.on_sqlite else postgresql.insert(table)

    def upsert(self, table: Table, values: Mapping[str, Any]) -> None:
        """Insert a row, or change the one with the same primary key.

        Args:
            table: where.
            values: the whole row.
        """
        keys = [column.name for column in table.primary_key]
        changed = {name: values[name] for name in values if name not in keys}
        self.change(
            self.insert(table).values(**values).on_conflict_do_update(
                index_elements=keys, set_=changed
            )
        )  # fmt: skip

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query as the driver does it, without SQLAlchemy's rows; ``?`` marks a value."""
        cursor = self._cursor()
        try:
            cursor.execute(sql if self.on_sqlite else _marked(sql), values)
            return cursor.fetchall()
        finally:
            cursor.close()

    def execute(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        self.connection.exec_driver_sql(sql)

    def load(self, table: Table, rows: Iterable[Sequence[Any]]) -> int:
        """Insert many rows, each with all columns in the table's order; return how many."""
        if self.on_sqlite:
            return self.execute_many(_inserting(table, 1), rows)
        return self.copy(table, rows)

    def start_insert(self, table: Table, rows: Iterable[Sequence[Any]]) -> Callable[[], object]:
        """Begin to insert rows as :meth:`load` does, on SQLite many by each statement.

        One statement for a thousand rows, the portion of an intake, takes a third less time than a
        thousand runs of it, and goes on beside the caller.

        Returns:
            What waits for the end, and raises what went wrong. Until it was called, nothing else
            may be asked of the transaction.
        """
        if not self.on_sqlite:
            self.copy(table, rows)
            return lambda: None
        portion = list(rows)
        if len(portion) != _TOGETHER:
            return partial(self.execute_many, _inserting(table, 1), portion)
        values = list(chain.from_iterable(portion))
        sql, cursor = _inserting(table, _TOGETHER), self._cursor()
        return run_in_thread(partial(cursor.execute, sql, values))

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement of SQLite's for many rows; return how many it changed."""
        cursor = self._cursor()
        try:
            cursor.executemany(sql, rows)
            return max(cursor.rowcount, 0)
        finally:
            cursor.close()

    def copy(self, table: Table, rows: Iterable[Sequence[Any]], *, into: str = "") -> int:
        """Send many rows to PostgreSQL by COPY; ``into`` names a table of the same columns."""
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        types = [_copied(column.type) for column in table.columns]
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
        """Yield a query's rows in portions; they are never all in memory."""
        with self.connection.execution_options(yield_per=batch).execute(statement) as result:
            yield from result.partitions()

    def _cursor(self) -> Any:
        driver = self.connection.connection.driver_connection
        if driver is None:
            raise RuntimeError("the connection was closed under its transaction")
        return driver.cursor() if self.on_sqlite else driver.cursor(binary=True)


@cache
def _inserting(table: Table, rows: int) -> str:
    """Write the statement of SQLite's that inserts so many rows."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    marks = f"({', '.join('?' * len(table.columns))})"
    return f"INSERT INTO {table.name} ({names}) VALUES {', '.join([marks] * rows)}"


def _copied(kind: object) -> str:
    return next((name for base, name in _COPIED.items() if isinstance(kind, base)), "text")


def _marked(sql: str) -> str:
    """Mark values as PostgreSQL's driver wants them marked."""
    return sql.replace("%", "%%").replace("?", "%s")
