"""Read the rows of stored boards with the database driver only, without sessions.

A session costs many times the page that is read in it: a connection from the pool, a transaction,
on PostgreSQL a thread. Here one connection answers all requests that arrived meanwhile, so that a
page costs little more than its bytes.
"""

import asyncio
import sqlite3
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias
from zlib import crc32

import orjson

from agon.entities.contests import ROWS_PER_CHUNK
from agon.errors import DatabaseUnavailable
from agon.store.connection.database_errors import require_storable, translate_errors
from agon.store.connection.engines import display_url, parse_url
from agon.store.connection.transaction import with_percent_marks

_TIMEOUT_S: Final = 10
"""Maximum number of seconds the database may take for one read."""

StateToken: TypeAlias = Hashable
"""The state of a database: two equal tokens mean that nothing was stored in between."""


class _Chunk(NamedTuple):
    """The key of a chunk of lines (by its number), or of a bucket of ids (by a hash of an id)."""

    kind: Literal["rows", "unscored", "ids"]
    snapshot: int
    number: int


class _ChunkReader(Protocol):
    async def read(self, chunks: Sequence[_Chunk]) -> tuple[StateToken, list[bytes | None]]:
        """Return the state of the database and the chunks in it; None for one that is not there."""

    async def query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    async def close(self) -> None:
        """Close the connection."""


def open_board_rows(url: str) -> "BoardRows":
    """Return a reader of a database's stored boards; its first use connects.

    Raises:
        Unreadable: the URL is neither of SQLite nor of PostgreSQL.
    """
    on_sqlite = parse_url(url).get_backend_name() == "sqlite"
    reader = _SqliteReader(url) if on_sqlite else _PostgresqlReader(url)
    return BoardRows(reader, display_url(parse_url(url)))


class BoardRows:
    """Reads rows of stored boards; used from one event loop.

    Every result comes with the state of the database it was read in. What is stored under a
    snapshot's number never changes, it is only deleted. So a caller that looked up in a session
    which snapshot is shown, and reads rows in the same state, knows that the session would give
    the same now.
    """

    def __init__(self, reader: _ChunkReader, database: str) -> None:
        self._reader = reader
        self._database = database

    async def state(self) -> StateToken:
        """Return the state of the database now.

        Raises:
            DatabaseUnavailable: the database does not answer.
        """
        return (await self._read([]))[0]

    async def lines(
        self, no: int, *, start: int, count: int, unscored: bool = False
    ) -> tuple[StateToken, list[bytes]]:
        """Return ``count`` JSON lines from index ``start`` (from 0) on, as far as they are stored.

        Raises:
            DatabaseUnavailable: the database does not answer.
        """
        first, end = start // ROWS_PER_CHUNK, -(-(start + count) // ROWS_PER_CHUNK)
        kind: Literal["rows", "unscored"] = "unscored" if unscored else "rows"
        state, chunks = await self._read(
            [_Chunk(kind, no, number) for number in range(first, end if count > 0 else first)]
        )
        skipped = start - first * ROWS_PER_CHUNK
        lines: list[bytes] = []
        for chunk in chunks:
            if chunk is None:
                break
            # Lines after the last one that is needed stay unsplit.
            lines += chunk.split(b"\n", skipped + count - len(lines))
        return state, lines[skipped : skipped + count]

    async def index(self, no: int, name: str) -> tuple[StateToken, int | None]:
        """Return the index of an id among the rows; None where it is not among them.

        Raises:
            DatabaseUnavailable: the database does not answer.
            Unreadable: the id holds half a character, which no database stores.
        """
        with translate_errors(self._database):
            id_hash = crc32(name.encode())
        state, [bucket] = await self._read([_Chunk("ids", no, id_hash)])
        return state, None if bucket is None else orjson.loads(bucket).get(name)

    async def query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; ``?`` marks a value.

        Raises:
            DatabaseUnavailable: the database does not answer.
        """
        require_storable(values)
        with translate_errors(self._database):
            return await self._reader.query(sql, values)

    async def close(self) -> None:
        """Close the connection; a second call does nothing."""
        await self._reader.close()

    async def _read(self, chunks: Sequence[_Chunk]) -> tuple[StateToken, list[bytes | None]]:
        with translate_errors(self._database):
            return await self._reader.read(chunks)


class _SqliteReader:
    """Reads on the event loop: readers of SQLite wait for nothing, and a thread costs more."""

    _LINES: Final = (
        "SELECT lines FROM snapshot_rows WHERE snapshot_no = ? AND unscored = {} AND chunk = ?"
    )
    _SQL: Final = {
        "rows": _LINES.format(0),
        "unscored": _LINES.format(1),
        "ids": "SELECT row_indexes FROM snapshot_ids WHERE snapshot_no = ?1 "
        "AND bucket = ?2 % (SELECT nullif(buckets, 0) FROM snapshots WHERE no = ?1)",
    }

    def __init__(self, url: str) -> None:
        self._file = Path(parse_url(url).database or "").absolute().as_uri()
        self._connection: sqlite3.Connection | None = None

    async def read(self, chunks: Sequence[_Chunk]) -> tuple[StateToken, list[bytes | None]]:
        if self._connection is None:
            self._connection = self._connect()
        execute = self._connection.execute
        try:
            execute("BEGIN")
            # Changes when another connection commits; this one never does.
            [state] = execute("PRAGMA data_version").fetchone()
            rows = [execute(self._SQL[chunk.kind], chunk[1:]).fetchone() for chunk in chunks]
            execute("COMMIT")
        except sqlite3.Error:
            await self.close()  # with the transaction that may be open
            raise
        return state, [None if row is None else row[0] for row in rows]

    async def query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection.execute(sql, values).fetchall()

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._file}?mode=rw",  # otherwise SQLite creates a file that is missing
            uri=True,
            timeout=_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -65536")
        return connection


class _PostgresqlReader:
    """Reads in one statement for all requests that arrived while the last one ran.

    PostgreSQL's current snapshot names every transaction that has ended. It stays equal exactly as
    long as no transaction ends that stored something.
    """

    _ARRAYS: Final = (
        "rows_of",
        "rows_at",
        "rows_unscored",
        "rows_as",
        "ids_of",
        "ids_at",
        "ids_as",
    )
    _SQL: Final = """
        SELECT 0, convert_to(pg_current_snapshot()::text, 'UTF8')
        UNION ALL
        SELECT key.number, stored.lines
        FROM unnest(
            %(rows_of)s::int8[], %(rows_at)s::int8[], %(rows_unscored)s::bool[],
            %(rows_as)s::int8[]
        ) AS key(snapshot, chunk, unscored, number)
        CROSS JOIN LATERAL (
            SELECT lines FROM snapshot_rows
            WHERE snapshot_no = key.snapshot AND unscored = key.unscored AND chunk = key.chunk
            OFFSET 0
        ) stored
        UNION ALL
        SELECT key.number, stored.row_indexes
        FROM unnest(%(ids_of)s::int8[], %(ids_at)s::int8[], %(ids_as)s::int8[])
            AS key(snapshot, hash, number)
        CROSS JOIN LATERAL (
            SELECT row_indexes FROM snapshot_ids
            WHERE snapshot_no = key.snapshot AND bucket = key.hash
                %% (SELECT nullif(buckets, 0) FROM snapshots WHERE no = key.snapshot) OFFSET 0
        ) stored
        """
    # OFFSET 0 makes the planner use the key for each, with any estimate of the arrays' length.

    _OPTIONS: Final = f"-c statement_timeout={_TIMEOUT_S}s -c default_transaction_read_only=on"

    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self._connection: Any = None
        self._waiting: list[_Request] = []
        self._task: asyncio.Task[None] | None = None
        self._turns = asyncio.Lock()

    async def read(self, chunks: Sequence[_Chunk]) -> tuple[StateToken, list[bytes | None]]:
        request = _Request(chunks, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._answer_all())
        return await request.result

    async def query(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return await self._execute(with_percent_marks(sql), values)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _answer_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                state, chunks = await self._fetch(
                    [chunk for request in batch for chunk in request.chunks]
                )
            except Exception as error:  # noqa: BLE001 (every request that waits gets it)
                for request in batch:
                    request.fail(error)
                continue
            rest = iter(chunks)
            for request in batch:
                request.finish(state, list(islice(rest, len(request.chunks))))

    async def _fetch(self, chunks: Sequence[_Chunk]) -> tuple[StateToken, list[bytes | None]]:
        arrays: dict[str, list[Any]] = {name: [] for name in self._ARRAYS}
        for number, chunk in enumerate(chunks, start=1):
            kind = "ids" if chunk.kind == "ids" else "rows"
            arrays[f"{kind}_of"].append(chunk.snapshot)
            arrays[f"{kind}_at"].append(chunk.number)
            arrays[f"{kind}_as"].append(number)
            if kind == "rows":
                arrays["rows_unscored"].append(chunk.kind == "unscored")
        values: dict[int, bytes] = dict(await self._execute(self._SQL, arrays))
        return values[0], [values.get(number) for number in range(1, len(chunks) + 1)]

    async def _execute(self, sql: str, values: Any) -> list[Any]:
        try:
            async with asyncio.timeout(_TIMEOUT_S), self._turns:
                if self._connection is None:
                    self._connection = await self._connect()
                cursor = self._connection.cursor(binary=True)
                await cursor.execute(sql, values, prepare=True)
                rows: list[Any] = await cursor.fetchall()
        except TimeoutError:
            await self.close()
            raise DatabaseUnavailable(
                f"{display_url(self._url)} took too long; try again"
            ) from None
        except Exception:
            await self.close()
            raise
        return rows

    async def _connect(self) -> Any:
        from psycopg import AsyncConnection

        _, arguments = self._url.get_dialect()().create_connect_args(self._url)
        return await AsyncConnection.connect(
            **{**arguments, "application_name": "agon", "options": self._OPTIONS}, autocommit=True
        )


@dataclass(frozen=True, eq=False)
class _Request:
    """The chunks one caller waits for, and the future that gets them."""

    chunks: Sequence[_Chunk]
    result: "asyncio.Future[tuple[StateToken, list[bytes | None]]]"

    def finish(self, state: StateToken, chunks: list[bytes | None]) -> None:
        if not self.result.done():
            self.result.set_result((state, chunks))

    def fail(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)
