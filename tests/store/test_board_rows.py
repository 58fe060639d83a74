"""Portions of stored boards, read without sessions."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from agon.entities.contests import ROWS_PER_CHUNK, Contest, Snapshot
from agon.errors import DatabaseUnavailable
from agon.store.board_rows import BoardRows, open_board_rows
from agon.store.connection.engines import begin, open_engine
from agon.store.connection.transaction import Transaction
from agon.store.session import Store
from store.factories import snapshot

N = 2 * ROWS_PER_CHUNK + 7


@pytest.fixture
def board(store: Store, spring: Contest) -> Snapshot:
    """Store a board of three board_rows."""
    with store.write() as session:
        return session.snapshots.add(
            snapshot(spring.no, rows=N, unscored=1),
            lines=(_line(place) for place in range(N)),
            ids=(_name(place) for place in range(N)),
            unscored=[b'{"id":"nobody"}'],
        )


def _name(place: int) -> str:
    return f'model "ä" {place}'


def _line(place: int) -> bytes:
    return b'{"id":"model %d"}' % place


def run(url: str, ask: Callable[[BoardRows], Awaitable[Any]]) -> Any:
    """Ask in an event loop of its own, and let go."""

    async def asking() -> Any:
        board_rows = open_board_rows(url)
        try:
            return await ask(board_rows)
        finally:
            await board_rows.close()
            await board_rows.close()

    return asyncio.run(asking())


def test_a_query_returns_what_a_session_would_read(url: str, board: Snapshot) -> None:
    """A page that is made of its results shows the same."""
    sql = "SELECT no, board, manifest, stored FROM snapshots WHERE no = ? AND board LIKE '%e%'"

    async def ask(board_rows: BoardRows) -> Any:
        many = (board_rows.query(sql, [board.no]) for _ in range(3))
        with pytest.raises(DatabaseUnavailable, match=r"no such column|does not exist"):
            await board_rows.query("SELECT missing FROM snapshots", [])
        return await asyncio.gather(board_rows.state(), *many)

    _, *answers = run(url, ask)
    engine = open_engine(url)
    with begin(engine, writing=False) as connection:
        rows = Transaction(connection, "").query(sql, [board.no])
    engine.dispose()
    assert answers == [rows] * 3


def test_any_stretch_of_rows_is_what_a_session_would_give(url: str, board: Snapshot) -> None:
    """Two ways to the same rows must not differ by one."""
    c = ROWS_PER_CHUNK
    stretches = [
        (start, count)
        for start in (0, 1, c - 1, c, 2 * c, N - 1, N, N + 500)
        for count in (0, 1, 2, c, c + 1, 3 * c)
    ]

    async def ask(board_rows: BoardRows) -> list[list[bytes]]:
        return [
            (await board_rows.lines(board.no, start=start, count=count))[1]
            for start, count in stretches
        ]

    lines = [_line(place) for place in range(N)]
    for result, (start, count) in zip(run(url, ask), stretches, strict=True):
        assert result == lines[start : start + count]


def test_many_who_ask_at_once_get_each_what_they_asked_for(url: str, board: Snapshot) -> None:
    """One statement serves all waiting requests; each gets its own row."""
    places = [*range(0, N, 7), N - 1]

    async def ask(board_rows: BoardRows) -> Any:
        people = [board_rows.index(board.no, _name(place)) for place in places]
        rows = [board_rows.lines(board.no, start=place, count=2) for place in places]
        unknown = [
            board_rows.index(board.no, "nobody"),
            board_rows.index(board.no, "ä"),
            board_rows.index(board.no + 1, _name(0)),
            board_rows.lines(board.no + 1, start=0, count=5),
            board_rows.state(),
        ]
        return await asyncio.gather(*people, *rows, *unknown)

    result = run(url, ask)
    assert [place for _, place in result[: len(places)]] == places
    lines = [_line(place) for place in range(N)]
    rows = result[len(places) : 2 * len(places)]
    assert [row for _, row in rows] == [lines[place : place + 2] for place in places]
    assert [one for _, one in result[-5:-1]] == [None, None, None, []]


def test_the_state_differs_once_anything_was_stored(
    url: str, store: Store, board: Snapshot
) -> None:
    """A cached row would otherwise be shown until something is stored."""

    async def ask(board_rows: BoardRows) -> None:
        for _ in range(3):
            before = await board_rows.state()
            with store.write() as session:
                session.contests.save(replace(session.contests.lock("spring"), title=f"{before!r}"))
                if not url.startswith("sqlite"):
                    assert await board_rows.state() == before, "it is not committed yet"
            after, _ = await board_rows.lines(board.no, start=0, count=1)
            assert after != before

    run(url, ask)


def test_the_state_is_the_same_while_nothing_is_stored(
    url: str, store: Store, board: Snapshot
) -> None:
    """Otherwise every page would need a query; reading stores nothing."""

    async def ask(board_rows: BoardRows) -> list[Any]:
        states = []
        for _ in range(20):
            with store.read() as session:
                session.snapshots.get(board.no)
            states.append(await board_rows.state())
        return states

    # PostgreSQL tidies up by itself now and then, and that counts.
    assert len(set(run(url, ask))) < 10


def test_rows_that_were_forgotten_are_gone(url: str, store: Store, board: Snapshot) -> None:
    """Rows of an old board are replaced by new ones; a partial page is worse than none."""

    async def ask(board_rows: BoardRows) -> Any:
        await board_rows.lines(board.no, start=0, count=5)
        with store.write() as session:
            session.snapshots.prune(board.contest_no, board.board, keep=[])
        return [
            (await board_rows.lines(board.no, start=0, count=5))[1],
            (await board_rows.index(board.no, _name(0)))[1],
        ]

    assert run(url, ask) == [[], None]


def test_a_database_that_is_not_there_is_said_to_all_and_looked_for_again(
    url: str, board: Snapshot
) -> None:
    """A restart of the database must not need one of the service."""
    nowhere = f"{url}.gone" if url.startswith("sqlite") else "postgresql://agon@127.0.0.1:1/agon"

    async def ask(board_rows: BoardRows) -> list[Any]:
        asking = [board_rows.state(), board_rows.lines(board.no, start=0, count=1)]
        result: list[Any] = await asyncio.gather(*asking, return_exceptions=True)
        with pytest.raises(DatabaseUnavailable):
            await board_rows.state()
        return result

    assert [type(one) for one in run(nowhere, ask)] == [DatabaseUnavailable] * 2


def test_a_failure_leaves_nothing_begun(url: str, store: Store, board: Snapshot) -> None:
    """Otherwise every later request would fail because of the earlier one."""

    def rename(before: str, after: str) -> None:
        with begin(store._engine, writing=True) as connection:
            connection.exec_driver_sql(f"ALTER TABLE {before} RENAME TO {after}")

    async def ask(board_rows: BoardRows) -> Any:
        rename("snapshot_rows", "hidden_rows")
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                await board_rows.lines(board.no, start=0, count=1)
        rename("hidden_rows", "snapshot_rows")
        return await board_rows.lines(board.no, start=0, count=1)

    assert run(url, ask)[1] == [_line(0)]


def test_a_connection_that_was_cut_is_opened_again(
    url: str, board: Snapshot, request: pytest.FixtureRequest
) -> None:
    """Databases are restarted, and networks fail; the next who asks is answered."""
    cut = None if url.startswith("sqlite") else request.getfixturevalue("postgresql")

    async def ask(board_rows: BoardRows) -> Any:
        await board_rows.state()
        if cut is None:
            await board_rows.close()
        else:
            cut.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'agon'")  # fmt: skip
            with pytest.raises(DatabaseUnavailable):
                await board_rows.state()
        return await board_rows.lines(board.no, start=0, count=1)

    assert run(url, ask)[1] == [_line(0)]
