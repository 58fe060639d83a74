"""Read portions of stored boards with the driver alone, without sessions.

A session costs many times the page that is read in it: a connection borrowed, a transaction begun
and ended, on PostgreSQL a thread. Where one connection asks for all that came in meanwhile, a page
costs little more than its bytes.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol
from zlib import crc32

import orjson

from agon.entities.contests import ROWS_PER_CHUNK
from agon.errors import DatabaseUnavailable
from agon.store.database_errors import translate_errors
from agon.store.engines import display_url, parse_url
from agon.store.row_reader import State

_PATIENCE_SECONDS: Final = 10
"""So long the database may take for what is asked at once."""


class _Wanted(NamedTuple):
    """Name a portion of rows by its number, or a bucket of ids by the number its ids share."""

    kind: Literal["rows", "ids"]
    snapshot: int
    number: int


class _Reader(Protocol):
    async def read(self, wanted: Sequence[_Wanted]) -> tuple[State, list[bytes | None]]:
        """Return the state of the database, and in it what is wanted; None for what is gone."""

    async def close(self) -> None:
        """Let go of the connection."""


def open_portions(url: str) -> "StoredPortions":
    """Prepare to read a database's stored boards; the first use connects.

    Raises:
        Unreadable: the URL is none of SQLite or PostgreSQL.
    """
    on_sqlite = parse_url(url).get_backend_name() == "sqlite"
    return StoredPortions(
        _OnSqlite(url) if on_sqlite else _OnPostgresql(url), display_url(parse_url(url))
    )


class StoredPortions:
    """Keep the promises of :class:`agon.store.row_reader.Portions`."""

    def __init__(self, reader: _Reader, database: str) -> None:
        self._reader = reader
        self._database = database

    async def state(self) -> State:
        """Return the state of the database now."""
        return (await self._read([]))[0]

    async def lines(self, no: int, *, start: int, count: int) -> tuple[State, list[bytes]]:
        """Return the JSON lines of the rows from place ``start`` (from 0) on, as far as stored."""
        first, end = start // ROWS_PER_CHUNK, -(-(start + count) // ROWS_PER_CHUNK)
        state, found = await self._read([_Wanted("rows", no, one) for one in range(first, end)])
        skipped = start - first * ROWS_PER_CHUNK
        lines: list[bytes] = []
        for portion in found:
            if portion is None:
                break
            lines += portion.split(
                b"\n", skipped + count - len(lines)
            )  # what is behind stays whole
        return state, lines[skipped : skipped + count]

    async def place(self, no: int, name: str) -> tuple[State, int | None]:
        """Return the place of an id among the rows; None: it is not among them."""
        with translate_errors(self._database):
            shared = crc32(name.encode())
        state, [bucket] = await self._read([_Wanted("ids", no, shared)])
        return state, None if bucket is None else orjson.loads(bucket).get(name)

    async def close(self) -> None:
        """Let go of the connection; a second call does nothing."""
        await self._reader.close()

    async def _read(self, wanted: Sequence[_Wanted]) -> tuple[State, list[bytes | None]]:
        with translate_errors(self._database):
            return await self._reader.read(wanted)


class _OnSqlite:
    """Ask at once: SQLite's readers wait for nobody, and handing over takes longer."""

    _SQL: Final = {
        "rows": "SELECT lines FROM snapshot_rows "
        "WHERE snapshot_no = ? AND unscored = 0 AND chunk = ?",
        "ids": "SELECT row_indexes FROM snapshot_ids WHERE snapshot_no = ?1 "
        "AND bucket = ?2 % (SELECT nullif(buckets, 0) FROM snapshots WHERE no = ?1)",
    }

    def __init__(self, url: str) -> None:
        self._file = Path(parse_url(url).database or "").absolute().as_uri()
        self._connection: sqlite3.Connection | None = None

    async def read(self, wanted: Sequence[_Wanted]) -> tuple[State, list[bytes | None]]:
        if self._connection is None:
            self._connection = self._connected()
        ask = self._connection.execute
        try:
            ask("BEGIN")
            # Its number changes when another connection stores something; this one never does.
            [state] = ask("PRAGMA data_version").fetchone()
            found = [ask(self._SQL[one.kind], one[1:]).fetchone() for one in wanted]
            ask("COMMIT")
        except sqlite3.Error:
            await self.close()  # with whatever was begun on it
            raise
        return state, [None if row is None else row[0] for row in found]

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._file}?mode=rw",  # else it would make a file that is missing
            uri=True,
            timeout=_PATIENCE_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -65536")
        return connection


class _OnPostgresql:
    """Ask for all that came in while the last answer was awaited, in one statement.

    What PostgreSQL calls its current snapshot names every transaction that is over. It stays the
    same exactly as long as none ends that stored anything.
    """

    _ARRAYS: Final = ("rows_in", "rows_at", "rows_as", "ids_in", "ids_at", "ids_as")
    _SQL: Final = """
        SELECT 0, convert_to(pg_current_snapshot()::text, 'UTF8')
        UNION ALL
        SELECT one.number, found.lines
        FROM unnest(%(rows_in)s::int8[], %(rows_at)s::int8[], %(rows_as)s::int8[])
            AS one(snapshot, portion, number)
        CROSS JOIN LATERAL (
            SELECT lines FROM snapshot_rows
            WHERE snapshot_no = one.snapshot AND NOT unscored AND chunk = one.portion OFFSET 0
        ) found
        UNION ALL
        SELECT one.number, found.row_indexes
        FROM unnest(%(ids_in)s::int8[], %(ids_at)s::int8[], %(ids_as)s::int8[])
            AS one(snapshot, shared, number)
        CROSS JOIN LATERAL (
            SELECT row_indexes FROM snapshot_ids
            WHERE snapshot_no = one.snapshot AND bucket = one.shared
                %% (SELECT nullif(buckets, 0) FROM snapshots WHERE no = one.snapshot) OFFSET 0
        ) found
        """
    # OFFSET 0 has each looked up by its key, however long the planner takes the arrays to be.

    _OPTIONS: Final = (
        f"-c statement_timeout={_PATIENCE_SECONDS}s -c default_transaction_read_only=on"
    )

    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self._connection: Any = None
        self._waiting: list[_Asked] = []
        self._asking: asyncio.Task[None] | None = None

    async def read(self, wanted: Sequence[_Wanted]) -> tuple[State, list[bytes | None]]:
        asked = _Asked(wanted, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asked.answer

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting, []
            try:
                state, found = await self._found(
                    [one for asked in together for one in asked.wanted]
                )
            except Exception as error:  # noqa: BLE001 (everybody who waits is told)
                await self.close()
                for asked in together:
                    asked.refuse(error)
                continue
            rest = iter(found)
            for asked in together:
                asked.give(state, list(islice(rest, len(asked.wanted))))

    async def _found(self, wanted: Sequence[_Wanted]) -> tuple[State, list[bytes | None]]:
        given: dict[str, list[int]] = {name: [] for name in self._ARRAYS}
        for number, one in enumerate(wanted, start=1):
            given[f"{one.kind}_in"].append(one.snapshot)
            given[f"{one.kind}_at"].append(one.number)
            given[f"{one.kind}_as"].append(number)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                if self._connection is None:
                    self._connection = await self._connected()
                cursor = await self._connection.cursor(binary=True).execute(
                    self._SQL, given, prepare=True
                )
                found: dict[int, bytes] = dict(await cursor.fetchall())
        except TimeoutError:
            raise DatabaseUnavailable(
                f"{display_url(self._url)} took too long; try again"
            ) from None
        return found[0], [found.get(number) for number in range(1, len(wanted) + 1)]

    async def _connected(self) -> Any:
        from psycopg import AsyncConnection

        _, arguments = self._url.get_dialect()().create_connect_args(self._url)
        return await AsyncConnection.connect(
            **{**arguments, "application_name": "agon", "options": self._OPTIONS}, autocommit=True
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """Hold what one request wants, and where it waits for it."""

    wanted: Sequence[_Wanted]
    answer: "asyncio.Future[tuple[State, list[bytes | None]]]"

    def give(self, state: State, found: list[bytes | None]) -> None:
        if not self.answer.done():
            self.answer.set_result((state, found))

    def refuse(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)
