"""A live PostgreSQL: its own types, its own schemas, and everything that can keep one out of it."""

import socket
import time
from collections.abc import Iterator

import pytest

from agon.errors import Unavailable, Unreadable
from agon.records import inspect, read, read_rows
from agon.records.sources.postgresql import parse_address
from postgresql_server import Postgresql
from records.contest import SCHEMA, values

PEERBENCH = """
CREATE SCHEMA auth;
CREATE TYPE kind AS ENUM ('essay', 'poem');
CREATE TABLE auth.people (id uuid PRIMARY KEY, name varchar(80), joined_at timestamptz,
    active boolean, age smallint, encrypted_password text);
CREATE TABLE works (id bigserial PRIMARY KEY, author_id uuid REFERENCES auth.people,
    kind kind NOT NULL, score numeric(9, 4), words numeric);
CREATE TABLE votes (work_id bigint, person_id uuid, points integer, stamped date);
INSERT INTO auth.people VALUES
    ('00000000-0000-0000-0000-00000000000a', 'Ada', '2026-01-01T10:00:00+02', true, 36, 'x'),
    ('00000000-0000-0000-0000-00000000000b', 'Bob', NULL, NULL, NULL, 'y');
INSERT INTO works (author_id, kind, score, words) VALUES
    ('00000000-0000-0000-0000-00000000000a', 'essay', 0.5, 9007199254740993.000),
    (NULL, 'poem', NULL, NULL);
INSERT INTO votes VALUES (1, NULL, 3, '2026-01-01'),
    (NULL, '00000000-0000-0000-0000-00000000000b', 1, NULL)
"""


@pytest.fixture
def peerbench(postgresql: Postgresql) -> str:
    """Return the address of a database with schemas and types as PeerBench's own."""
    database = postgresql.emptied()
    postgresql.run(*PEERBENCH.split(";"), database=database)
    return postgresql.address(database)


@pytest.mark.exhaustive
def test_uuids_enums_numerics_and_zoned_times_are_read(peerbench: str) -> None:
    """Ids of uuid are text, bigints stay numbers, times are in UTC, and auth.people is people."""
    ada, bob = (f"00000000-0000-0000-0000-00000000000{end}" for end in "ab")
    joined = "2026-01-01T08:00:00"
    expected = read_rows(
        SCHEMA,
        {
            "people": [
                {"id": ada, "name": "Ada", "joined_at": joined, "active": True, "age": 36},
                {"id": bob, "name": "Bob", "joined_at": None, "active": None, "age": None},
            ],
            "works": [
                {"id": 1, "author_id": ada, "kind": "essay", "score": 0.5, "words": 2**53 + 1},
                {"id": 2, "author_id": None, "kind": "poem", "score": None, "words": None},
            ],
            "votes": [
                {"work_id": 1, "person_id": None, "points": 3},
                {"work_id": None, "person_id": bob, "points": 1},
            ],
        },
    )
    with read(SCHEMA, peerbench) as records:
        for table in SCHEMA:
            assert records.arrow(table.name).equals(expected.arrow(table.name))
        assert records.sha256 == expected.sha256


@pytest.mark.exhaustive
def test_infinite_times_and_numerics_that_are_none_are_reported_as_written(
    postgresql: Postgresql, peerbench: str
) -> None:
    """Only PostgreSQL has infinities and such years."""
    postgresql.run(
        "UPDATE auth.people SET joined_at = 'infinity' WHERE name = 'Ada'",
        "UPDATE auth.people SET joined_at = '4000-01-01 BC' WHERE name = 'Bob'",
        "UPDATE works SET score = 'NaN', words = 'NaN' WHERE id = 1",
        "UPDATE works SET words = 1e30 WHERE id = 2",
    )
    _, issues = inspect(SCHEMA, peerbench)
    result = {(one.code, one.column, one.value) for one in issues}
    assert result == {
        ("bad-timestamp", "joined_at", "infinity"),
        ("bad-timestamp", "joined_at", "4000-01-01 00:00:00+00 BC"),
        ("non-finite", "score", "nan"),
        ("wrong-type", "words", "NaN"),
        ("out-of-range", "words", "1" + "0" * 30),
    }
    assert {one.location for one in issues} == {"table auth.people", "table public.works"}


def test_a_table_that_may_not_be_read_is_reported_with_the_grant_it_needs(
    postgresql: Postgresql, peerbench: str
) -> None:
    """It must not count as absent, which information_schema would make of it."""
    postgresql.run(
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN PASSWORD 'secret of reader'",
        "GRANT USAGE ON SCHEMA auth, public TO reader",
        "GRANT SELECT (id, name) ON auth.people TO reader",
        "GRANT SELECT ON works TO reader",
    )
    address = postgresql.address(user="reader", password="secret%20of%20reader")  # noqa: S106 - of a server of the tests
    records, issues = inspect(SCHEMA, address)
    records.close()
    assert {(one.code, one.table) for one in issues} == {
        ("unreadable-table", "people"),
        ("unreadable-table", "votes"),
    }
    assert "joined_at, active, age" in issues[0].reason
    assert "SELECT on auth.people" in issues[0].remedy
    assert peerbench


@pytest.mark.exhaustive
def test_records_are_read_in_one_snapshot_and_nothing_is_written(
    postgresql: Postgresql, peerbench: str
) -> None:
    """Reading leaves no temporary tables, no locks and no open transaction."""
    idle = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    with (
        read(SCHEMA, peerbench),
        postgresql.connect() as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(idle)
        assert cursor.fetchone() == (0,)


FORMS = ["s3:cr@t/é", "s3?cr@t", "s3%3Acr%40t%2F%C3%A9", "plain-s3"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://agon:{secret}@127.0.0.1:{port}/postgres",
        "postgresql://agon@127.0.0.1:{port}/postgres?password={secret}",
        "postgres://agon:{secret}@127.0.0.1:{port}/postgres?sslmode=nonsense",
        "postgresql://agon:{secret}@127.0.0.1:99999/postgres",
        "postgresql://agon:{secret}%ZZ@127.0.0.1:{port}/postgres",
        "postgresql://agon:{secret}@[::1:{port}/postgres",
        "postgresql://agon:{secret}@127.0.0.1:{port}/nowhere",
        "postgresql://agon:{secret}@127.0.0.1:1/postgres",
        "postgresql://agon:{secret}@no.such.host.invalid/postgres",
        "postgresql://agon:{secret}@127.0.0.1:{port}/postgres?{secret}={secret}",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_no_message_contains_a_password(postgresql: Postgresql, address: str, form: str) -> None:
    """Messages go to logs and bug reports, whatever is wrong with the address."""
    with pytest.raises((Unavailable, Unreadable)) as caught:
        read(SCHEMA, address.format(secret=form, port=postgresql.port))
    message = str(caught.value)
    assert "s3" not in message
    assert "cr" not in message.replace("scram", "")
    assert len(message.splitlines()) == 1


def test_records_know_their_source_without_its_password(peerbench: str) -> None:
    """The source is printed with every board."""
    with read(SCHEMA, peerbench) as records:
        assert records.source.startswith("postgresql://127.0.0.1:")
        assert "@" not in records.source


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ada:x@host:5433/contest?password=y&sslmode=require",
         "postgresql://host:5433/contest"),
        ("postgres://host", "postgres://host"),
        ("postgresql://", "postgresql://"),
        ("postgresql://ada@/contest?host=/run/postgresql", "postgresql:///contest"),
        ("postgresql://ada@[::1]:5432,other:1/contest", "postgresql://[::1]:5432,other:1/contest"),
    ],
)  # fmt: skip
def test_an_address_is_shown_by_host_and_database(address: str, shown: str) -> None:
    """Messages name the database, without user, password and options."""
    assert parse_address(address).display_url == shown
    assert "connect_timeout=5" in parse_address(address).patient


def test_an_address_may_say_how_long_to_wait() -> None:
    """A server far away may need longer than the usual five seconds."""
    address = "postgresql://host/contest?connect_timeout=60"
    assert parse_address(address).patient == address


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return a port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_host_that_does_not_answer_is_unavailable_within_seconds(silent_port: int) -> None:
    """Exit code 5, not a command that hangs."""
    begun = time.monotonic()
    with pytest.raises(Unavailable, match="cannot reach"):
        read(SCHEMA, f"postgresql://agon@127.0.0.1:{silent_port}/x?connect_timeout=2")
    assert time.monotonic() - begun < 60


@pytest.mark.exhaustive
def test_numbers_in_the_database_are_numbers_in_the_records(postgresql: Postgresql) -> None:
    """An integer id comes as one and stays one; a numeric id is the number that it writes."""
    database = postgresql.emptied()
    postgresql.run(
        "CREATE TABLE people (id numeric, name text, active boolean, age integer)",
        "INSERT INTO people VALUES (1.00, 'Ada', NULL, NULL), (20, 'Bob', NULL, NULL)",
        database=database,
    )
    with read(SCHEMA, postgresql.address(database)) as records:
        assert records.arrow("people").column("id").to_pylist() == [1, 20]
        assert values()["people"][0]["id"] == 1
