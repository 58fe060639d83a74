"""Score a community in PostgreSQL, in place: one snapshot, few rights, bounded batches."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import agon
from agon.errors import Unavailable
from agon.kernel.progress import observe
from agon.records.sources import postgresql as source
from postgresql_server import Postgresql

_TIMEOUT_S = 120
_ROWS = 3_000

COMMUNITY = (
    "CREATE SCHEMA auth",
    "CREATE TYPE opinion AS ENUM ('positive', 'negative')",
    "CREATE TABLE auth.users (id integer PRIMARY KEY, email text)",
    "CREATE TABLE prompts (id integer, uploader_id integer, question text, created_at timestamptz)",
    (
        "CREATE TABLE quick_feedbacks (id serial, user_id integer, prompt_id integer, "
        "opinion opinion, created_at timestamptz, note text)"
    ),
    "CREATE TABLE sessions (id integer, secret text)",
    "INSERT INTO auth.users SELECT n, 'user' || n || '@x' FROM generate_series(1, 9) n",
    "INSERT INTO prompts SELECT n, 1 + n % 9, '?', '2026-01-01' FROM generate_series(1, 90) n",
    (
        "INSERT INTO quick_feedbacks (user_id, prompt_id, opinion, created_at) "
        "SELECT 1 + n % 9, 1 + n / 9 % 90, 'positive', '2026-01-02' "
        f"FROM generate_series(1, {_ROWS}) n"
    ),
    "ANALYZE",
)
GRANTS = (
    "DROP ROLE IF EXISTS scorer",
    "CREATE ROLE scorer LOGIN PASSWORD 'scorer'",
    "GRANT USAGE ON SCHEMA auth, public TO scorer",
    "GRANT SELECT (id) ON auth.users TO scorer",
    "GRANT SELECT (id, uploader_id, created_at) ON prompts TO scorer",
    "GRANT SELECT (id, user_id, prompt_id, opinion, created_at) ON quick_feedbacks TO scorer",
)


@pytest.fixture
def community(postgresql: Postgresql) -> Postgresql:
    """Return the server with a community in it, and a role that may read the needed columns."""
    postgresql.run(*COMMUNITY, *GRANTS, database=postgresql.emptied())
    return postgresql


def address(server: Postgresql, options: str = "") -> str:
    """Return the address for the role with few rights."""
    return server.address(user="scorer", password="scorer") + options  # noqa: S106 - of a server of the tests


class Writer(threading.Thread):
    """A user who joins, writes a prompt and gives feedback, in one transaction after the other."""

    def __init__(self, server: Postgresql) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._ended = threading.Event()
        self._changed = threading.Condition()
        self.committed = 0
        self.error: Exception | None = None

    def run(self) -> None:
        """Write until the end is announced."""
        try:
            with self._server.connect() as connection, connection.cursor() as cursor:
                while not self._ended.is_set():
                    user = 10 + self.committed
                    cursor.execute(
                        f"DO $$ BEGIN INSERT INTO auth.users VALUES ({user}, 'x');"
                        f"INSERT INTO prompts VALUES ({100 + user}, {user}, '?', '2026-01-03');"
                        "INSERT INTO quick_feedbacks (user_id, prompt_id, opinion, created_at) "
                        f"VALUES (1, {100 + user}, 'positive', '2026-01-03'); END $$"
                    )
                    with self._changed:
                        self.committed += 1
                        self._changed.notify_all()
        except Exception as error:  # noqa: BLE001 - the test's thread raises it
            with self._changed:
                self.error = error
                self._changed.notify_all()

    def wait_for(self, more: int) -> None:
        """Wait until some more transactions are committed."""
        with self._changed:
            until = self.committed + more
            self._changed.wait_for(
                lambda: self.error is not None or self.committed >= until, _TIMEOUT_S
            )
            assert self.error is None
            assert self.committed >= until

    def end(self) -> None:
        """End writing."""
        self._ended.set()
        self.join(_TIMEOUT_S)


@contextmanager
def writing(server: Postgresql) -> Iterator[Writer]:
    """Run a writer during the block."""
    writer = Writer(server)
    writer.start()
    try:
        yield writer
    finally:
        writer.end()


def before_each_table(monkeypatch: pytest.MonkeyPatch, call: Callable[[], None]) -> None:
    """Call a function before each table is read."""
    read = source._read_table

    def called(*args: Any) -> Any:
        call()
        return read(*args)

    monkeypatch.setattr(source, "_read_table", called)


@pytest.mark.exhaustive
def test_a_writer_during_the_read_changes_nothing(
    community: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables are of one moment: that of the users that are in the records, and no later one."""
    with writing(community) as writer:
        writer.wait_for(3)
        before_each_table(monkeypatch, lambda: writer.wait_for(5))
        with agon.read_records("community", address(community)) as records:
            score = agon.score("community", records).to_dict()
            joined = records.count("users") - 9
            writer.wait_for(1)
    assert 3 <= joined <= writer.committed - 10, "it wrote before two more tables were read"
    last = 9 + joined
    community.run(
        f"DELETE FROM auth.users WHERE id > {last}",
        f"DELETE FROM prompts WHERE uploader_id > {last}",
        f"DELETE FROM quick_feedbacks WHERE prompt_id > {100 + last}",
    )
    monkeypatch.undo()
    with agon.read_records("community", address(community)) as records:
        expected = agon.score("community", records).to_dict()
    assert score == expected


@pytest.mark.exhaustive
def test_each_table_is_read_by_one_statement_of_the_columns_needed(community: Postgresql) -> None:
    """Other columns and other tables are not the scorer's business."""
    community.run("ALTER ROLE scorer SET log_statement = 'all'")
    log = community.folder / "log"
    begin = len(log.read_bytes())
    agon.score("community", address(community)).records.close()
    statements = log.read_bytes()[begin:].decode()
    for table, columns in (
        ('"auth"."users"', '"id"'),
        ('"public"."prompts"', '"uploader_id"'),
        ('"public"."quick_feedbacks"', '"opinion"'),
    ):
        reads = [line for line in statements.splitlines() if f"FROM {table}" in line]
        assert len(reads) == 1
        assert columns in reads[0]
    for word in ("email", "question", "note", "sessions", "INSERT", "CREATE"):
        assert word not in statements


def test_rows_arrive_in_batches_and_show_progress(
    community: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is never in memory as a whole on its way, and a long read says how far it is."""
    whole = agon.read_records("community", address(community))
    monkeypatch.setattr(source, "_BATCH_BYTES", 4_096)
    sizes: list[int] = []
    shares: list[float] = []
    insert = source._insert

    def inserted(connection: Any, statement: str, rows: Any) -> None:
        insert(connection, statement, rows)
        if steps[-1].label == "reading quick_feedbacks":
            sizes.append(rows.num_rows)
            shares.append(steps[-1].share() or 0.0)

    monkeypatch.setattr(source, "_insert", inserted)
    with observe() as steps, whole, agon.read_records("community", address(community)) as records:
        assert records.sha256 == whole.sha256
        assert records.arrow("quick_feedbacks").equals(whole.arrow("quick_feedbacks"))
    assert sum(sizes) == _ROWS
    assert max(sizes) < _ROWS / 10
    assert shares == sorted(shares)
    assert 0 < max(shares) < 1


def test_a_statement_has_a_budget_and_a_message_names_the_remedy(
    community: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that hangs would hold its snapshot, and the server could not clean up meanwhile."""
    address_100_ms = address(community, "?options=-c%20statement_timeout%3D100ms")
    community.run(
        "ALTER TABLE prompts RENAME TO stored",
        "CREATE VIEW prompts AS SELECT id, uploader_id, created_at FROM stored, pg_sleep(60)",
        "GRANT SELECT ON prompts TO scorer",
    )
    with pytest.raises(Unavailable, match=r"statement timeout.*options=-c%20statement_timeout"):
        agon.read_records("community", address_100_ms)
    assert "30min" in source._BUDGET
    shown = source._BUDGET.replace("30min", "100ms")
    settings = tuple(shown if each is source._BUDGET else each for each in source._SETTINGS)
    monkeypatch.setattr(source, "_SETTINGS", settings)
    with pytest.raises(Unavailable, match="statement timeout"):
        agon.read_records("community", address(community))
