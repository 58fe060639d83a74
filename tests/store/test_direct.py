"""Rows of stored boards, read by a connection without transactions, and the database's state."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from agon.entities.contests import ROWS_PER_CHUNK, Contest, Snapshot
from agon.errors import DatabaseUnavailable
from agon.store.connection.direct import DirectConnection
from agon.store.connection.engines import begin, parse_url
from agon.store.session import Store
from store.factories import snapshot

pytestmark = pytest.mark.one_database

N = 2 * ROWS_PER_CHUNK + 7


@pytest.fixture
def board(store: Store, spring: Contest) -> Snapshot:
    """Store a board of three chunks."""
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


def _lines(store: Store, board: Snapshot, start: int, count: int) -> list[bytes]:
    return store.rows().snapshots.lines(board.no, start=start, count=count)


@pytest.fixture
def direct(url: str) -> Iterator[DirectConnection]:
    """Return a connection to the database of a store."""
    connection = DirectConnection(parse_url(url))
    yield connection
    connection.close()
    connection.close()


def test_a_query_returns_what_a_session_would_read(
    direct: DirectConnection, store: Store, board: Snapshot
) -> None:
    """A page that is made of its results shows the same; an error ends none of the next."""
    sql = "SELECT no, board, manifest, stored FROM snapshots WHERE no = ? AND board LIKE '%e%'"
    with store.read() as session:
        rows = session.transaction.query(sql, [board.no])
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable, match=r"no such column|does not exist"):
            direct.query("SELECT missing FROM snapshots", [])
        assert direct.query(sql, [board.no]) == rows


def test_any_stretch_of_rows_is_what_a_session_would_give(store: Store, board: Snapshot) -> None:
    """Two ways to the same rows must not differ by one."""
    c = ROWS_PER_CHUNK
    lines = [_line(place) for place in range(N)]
    for start in (0, 1, c - 1, c, 2 * c, N - 1, N, N + 500):
        for count in (0, 1, 2, c, c + 1, 3 * c):
            assert _lines(store, board, start, count) == lines[start : start + count]


def test_threads_that_ask_at_once_get_each_what_they_asked_for(
    store: Store, board: Snapshot
) -> None:
    """They share one connection; each gets its own row."""
    places = [*range(0, N, 7), N - 1]

    def ask(place: int) -> tuple[dict[str, int], list[bytes]]:
        snapshots = store.rows().snapshots
        index = snapshots.row_indexes(board.no, [_name(place)])
        return index, snapshots.lines(board.no, start=place, count=2)

    lines = [_line(place) for place in range(N)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, places))
    assert answers == [({_name(place): place}, lines[place : place + 2]) for place in places]
    snapshots = store.rows().snapshots
    assert snapshots.row_indexes(board.no, ["nobody"]) == {}
    assert snapshots.row_indexes(board.no + 1, [_name(0)]) == {}
    assert snapshots.lines(board.no + 1, start=0, count=5) == []


def test_the_state_differs_once_anything_was_stored(
    url: str, direct: DirectConnection, store: Store, board: Snapshot
) -> None:
    """A cached row would otherwise be shown until something is stored."""
    assert board.no
    for _ in range(3):
        before = direct.state()
        with store.write() as session:
            session.contests.save(replace(session.contests.lock("spring"), title=f"{before!r}"))
            if not url.startswith("sqlite"):
                assert direct.state() == before, "it is not committed yet"
        assert direct.state() != before


def test_the_state_is_the_same_while_nothing_is_stored(
    direct: DirectConnection, store: Store, board: Snapshot
) -> None:
    """Otherwise every page would need a lookup; reading stores nothing."""
    states = []
    for _ in range(20):
        with store.read() as session:
            session.snapshots.get(board.no)
        states.append(direct.state())
    # PostgreSQL tidies up by itself now and then, and that counts.
    assert len(set(states)) < 10


def test_rows_that_were_deleted_are_gone(store: Store, board: Snapshot) -> None:
    """Rows of an old board are replaced by new ones; a partial page is worse than none."""
    assert _lines(store, board, 0, 5)
    with store.write() as session:
        session.snapshots.prune(board.contest_no, board.board, keep=[])
    assert _lines(store, board, 0, 5) == []
    assert store.rows().snapshots.row_indexes(board.no, [_name(0)]) == {}


def test_a_database_that_is_not_there_is_looked_for_again(url: str) -> None:
    """A restart of the database must not need one of the service."""
    nowhere = f"{url}.gone" if url.startswith("sqlite") else "postgresql://agon@127.0.0.1:1/agon"
    direct = DirectConnection(parse_url(nowhere))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            direct.state()


def test_a_failure_leaves_nothing_begun(store: Store, board: Snapshot) -> None:
    """Otherwise every later request would fail because of the earlier one."""

    def rename(before: str, after: str) -> None:
        with begin(store._engine, writing=True) as connection:
            connection.exec_driver_sql(f"ALTER TABLE {before} RENAME TO {after}")

    rename("snapshot_rows", "hidden_rows")
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            _lines(store, board, 0, 1)
    rename("hidden_rows", "snapshot_rows")
    assert _lines(store, board, 0, 1) == [_line(0)]


def test_a_connection_that_was_cut_is_opened_again(
    url: str, direct: DirectConnection, request: pytest.FixtureRequest, board: Snapshot
) -> None:
    """Databases are restarted, and networks fail; the next who asks is answered."""
    sql = "SELECT no FROM snapshots WHERE no = ?"
    assert direct.query(sql, [board.no])
    if url.startswith("sqlite"):
        direct.close()
    else:
        request.getfixturevalue("postgresql").run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'agon'"
        )
        with pytest.raises(DatabaseUnavailable):
            direct.state()
    assert direct.query(sql, [board.no]) == [(board.no,)]


@pytest.mark.usefixtures("store")
def test_a_thread_does_not_wait_for_ever_for_its_turn(
    direct: DirectConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that was stopped in a query must not occupy all threads of the process."""
    monkeypatch.setattr("agon.store.connection.direct.TIMEOUT_S", 0.01)
    with direct._turns, pytest.raises(DatabaseUnavailable, match="took too long"):
        direct.state()
    assert direct.state() is not None


def test_a_direct_connection_only_runs_queries(store: Store, spring: Contest) -> None:
    """It has no transaction in which something could be stored."""
    with pytest.raises(RuntimeError, match="only runs queries"):
        store.rows().contests.save(spring)
