"""Open databases by URL: SQLite in WAL mode, PostgreSQL by psycopg."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ArgumentError

from agon.errors import Unavailable, Unreadable
from agon.store.connection.database_errors import require_storable, translate_errors

LOCK_TIMEOUT_S: Final = 20.0
"""How long a session waits for another that writes, by default: less than a request may take."""

IDLE_TIMEOUT_S: Final = 10.0
"""How long a session that writes may be idle, by default: less than others wait for its locks.

PostgreSQL ends it then, so that a process that was stopped within it does not hold its locks.
"""

CHANNEL: Final = "agon_stored"
"""On PostgreSQL, every session that stored something is notified on this channel."""

_BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_NOTIFY_AND_COMMIT: Final = f"""
SELECT pg_notify('{CHANNEL}', '') WHERE txid_current_if_assigned() IS NOT NULL; COMMIT
"""
"""Only a session that stored something has a transaction id; others send no notification."""

_POOL_SIZE: Final = 8
_OVERFLOW: Final = 8

_STATEMENT_TIMEOUT_S: Final = 120
_READING_IDLE_TIMEOUT_S: Final = 600
_UNACKNOWLEDGED_MS: Final = 30_000
"""How long what PostgreSQL sends may stay unread by a client that is stopped."""

_ASK_AGAIN_S: Final = 0.005

_PRAGMAS: Final = (
    "PRAGMA synchronous = NORMAL",  # safe in WAL: a power cut may undo the last commits, no more
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",  # 64 MiB: the indexes of a million entries
)


def parse_url(url: str) -> URL:
    """Return the URL of a database, parsed.

    Raises:
        Unreadable: it is not a URL, or of a database that is not supported.

    Example:
        >>> parse_url("sqlite:///agon.db").database
        'agon.db'
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # The text itself may contain a password.
        raise Unreadable(
            "the database's URL cannot be read: write sqlite:///agon.db or "
            "postgresql://user@host/name"
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        if parsed.database in {None, "", ":memory:"} or parsed.query:
            raise Unreadable("SQLite needs a file that sessions share: write sqlite:///agon.db")
        return parsed.set(drivername="sqlite+pysqlite")
    if kind == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    raise Unreadable(
        f"{kind} is not supported: write sqlite:///agon.db or postgresql://user@host/name"
    )


def display_url(url: URL) -> str:
    """Return a database's name for messages, without user and password.

    Example:
        >>> display_url(make_url("postgresql://ada:secret@db/agon"))
        'the database agon on db'
    """
    if url.get_backend_name() == "sqlite":
        return f"the database {url.database}"
    return f"the database {url.database or 'of the user'} on {url.host or 'this machine'}"


def open_engine(url: str, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Engine:
    """Return an engine for a database; the first session connects.

    Args:
        url: the database.
        lock_timeout_s: how long a session waits for another that writes.

    Raises:
        Unreadable: the URL is not of SQLite or PostgreSQL.
        Unavailable: the driver is not installed.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(
            parsed, connect_args={"check_same_thread": False}, pool_size=8, max_overflow=64
        )
        event.listen(engine, "connect", partial(_prepare_sqlite, lock_timeout_s=lock_timeout_s))
        event.listen(engine, "before_cursor_execute", _check_texts)
        return engine
    settings = (
        f"-c statement_timeout={_STATEMENT_TIMEOUT_S}s -c lock_timeout={_ms(lock_timeout_s)} "
        f"-c idle_in_transaction_session_timeout={_READING_IDLE_TIMEOUT_S}s "
        f"-c tcp_user_timeout={_UNACKNOWLEDGED_MS} -c timezone=UTC"
    )
    arguments = {"connect_timeout": 10, "application_name": "agon", "options": settings}
    try:
        engine = create_engine(
            parsed, connect_args=arguments, isolation_level="AUTOCOMMIT",  # begin() sends BEGIN
            pool_size=_POOL_SIZE, max_overflow=_OVERFLOW, pool_recycle=1800,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        raise Unavailable(
            "PostgreSQL needs psycopg: pip install 'agon-engine[postgres]'"
        ) from error
    event.listen(engine, "before_cursor_execute", _check_texts)
    return engine


@contextmanager
def begin(
    engine: Engine, *, writing: bool, idle_timeout_s: float = IDLE_TIMEOUT_S
) -> Iterator[Connection]:
    """Begin a transaction; commit it at the end of the block, or roll it back on an error.

    On SQLite a writing transaction takes the write lock at its beginning, so that it never fails
    later because of another writer. On PostgreSQL a transaction that stored something notifies
    watchers when it commits, and one that is idle for longer than ``idle_timeout_s`` is ended. A
    reading transaction sees one consistent state and cannot write.

    Raises:
        Unavailable: the database cannot be reached, or stays locked.
    """
    database = display_url(engine.url)
    if engine.dialect.name == "sqlite":
        with translate_errors(database), engine.connect() as connection, connection.begin():
            connection.exec_driver_sql(f"PRAGMA query_only = {int(not writing)}")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
            yield connection
        return
    idle = f"SET LOCAL idle_in_transaction_session_timeout = {_ms(idle_timeout_s)}"
    opening = f"BEGIN; {idle}" if writing else _BEGIN_READING
    with (
        translate_errors(database),
        _connection_of(engine, opening) as connection,
        connection.begin(),  # on an error it rolls back
    ):
        yield connection
        if writing:
            _send(connection, _NOTIFY_AND_COMMIT)


@contextmanager
def _connection_of(engine: Engine, opening: str) -> Iterator[Connection]:
    """Lend a connection to PostgreSQL on which statements were run.

    A connection of the pool that the server has closed meanwhile is replaced by the next one, at
    last by a new one. So none has to be tried before, which would take a round trip.
    """
    for is_last in (*[False] * (_POOL_SIZE + _OVERFLOW), True):
        with engine.connect() as connection:
            try:
                _send(connection, opening)
            except Exception:
                if is_last or not _is_closed(connection):
                    raise
                connection.invalidate()
                continue
            yield connection
            return


def _send(connection: Connection, statements: str) -> None:
    """Run statements without values on PostgreSQL, all of them in one round trip."""
    driver: Any = connection.connection.driver_connection
    driver.execute(statements, prepare=False)


def _is_closed(connection: Connection) -> bool:
    driver: Any = connection.connection.driver_connection
    return bool(driver.closed)


def create_file(url: str) -> None:
    """Create a SQLite file and its folder if they are missing; do nothing for PostgreSQL.

    Only its owner may read it: it holds hidden answers and hashes of passwords.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        path = Path(parsed.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            create_private_file(path)


def create_private_file(path: Path) -> None:
    """Create an empty file that only its owner may read, unless it exists."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _ms(seconds: float) -> int:
    """Return milliseconds, at least one: for PostgreSQL 0 is no limit."""
    return max(1, round(seconds * 1000))


def _check_texts(
    _connection: Any, _cursor: Any, _statement: str, values: Any, _context: Any, _many: object
) -> None:
    """Require texts that both databases can hold, in one set of values or in several."""
    for some in values if isinstance(values, list) else (values,):
        require_storable(some.values() if isinstance(some, dict) else some or ())


def _prepare_sqlite(connection: Any, _record: object, *, lock_timeout_s: float) -> None:
    """Turn off the driver's implicit transactions; :func:`begin` manages them."""
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {_ms(lock_timeout_s)}")
    connection.execute("PRAGMA page_size = 16384")  # of a new file: entries of 400 bytes fill less
    _write_ahead(connection, timeout_s=lock_timeout_s)
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _write_ahead(connection: Any, *, timeout_s: float) -> None:
    """Let readers and the one writer of a file not wait for each other: log its pages ahead.

    Of processes that open a new file together one changes its mode. SQLite does not let the others
    wait for it, whatever ``busy_timeout`` is, as each holds what the change needs: they ask again.
    """
    ends = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                raise
            time.sleep(_ASK_AGAIN_S)
        else:
            return
