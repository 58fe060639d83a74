"""Wait for rows that another session has locked, but not for a client that is stopped."""

from typing import Any, Final

from sqlalchemy import Row, Select
from sqlalchemy.exc import OperationalError

from agon.store.connection.transaction import Transaction

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


def lock_row(transaction: Transaction, query: Select[Any], table: str) -> Row[Any] | None:
    """Return a query's first row and lock it until the transaction ends; None if there is none.

    On PostgreSQL, rows that refer to the locked one can be added meanwhile: their writers may be
    waiting for this lock. After a wait as long as a writer may be idle, sessions whose clients
    stopped within a COPY are ended. SQLite has one writer at a time and needs no lock.

    Args:
        transaction: a transaction that writes.
        query: selects the row.
        table: the row's table.

    Raises:
        OperationalError: the row stays locked for longer than the session's ``lock_timeout``.
    """
    if transaction.on_sqlite:
        return transaction.first(query)
    row = transaction.first(query.with_for_update(key_share=True, skip_locked=True))
    if row is not None:
        return row
    locking = query.with_for_update(key_share=True)
    try:
        with transaction.savepoint():
            [[usual]] = transaction.query("SELECT current_setting('lock_timeout')")
            transaction.query(_WAIT_AT_FIRST)
            row = transaction.first(locking)
            transaction.query("SELECT set_config('lock_timeout', ?, true)", [usual])
            return row
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        transaction.query(_END_STALLED, [table])
        return transaction.first(locking)
