"""A private PostgreSQL server, which all tests of a process share."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import psycopg

_TIMEOUT_S = 30.0

_EMPTY_TABLES = """
DO $$ DECLARE name text; BEGIN
    PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    PERFORM set_config('session_replication_role', 'replica', true);  -- checks no foreign keys
    FOR name IN SELECT tablename FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'alembic_version'
    LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
    PERFORM setval(oid::regclass, 1, false) FROM pg_class
        WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace;
END $$
"""
"""Deletes all rows, which takes a fifth of the time of TRUNCATE or of a copy of a database."""


@dataclass(frozen=True)
class Postgresql:
    """A running server: its port, credentials and folder."""

    port: int
    user: str
    password: str
    folder: Path
    _created: set[str] = field(default_factory=set)
    _kept: "dict[str, psycopg.Connection[Any]]" = field(default_factory=dict)

    def address(
        self, database: str = "postgres", *, user: str | None = None, password: str | None = None
    ) -> str:
        """Return the URL of a database."""
        who = f"{user or self.user}:{password or self.password}"
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements, each in a separate transaction, on a connection that is kept."""
        if database not in self._kept:
            self._kept[database] = self.connect(database)
        for statement in statements:
            self._kept[database].execute(statement)

    def connect(self, database: str = "postgres") -> "psycopg.Connection[Any]":
        """Connect in autocommit mode."""
        import psycopg  # few tests need a database

        return psycopg.connect(self.address(database), autocommit=True)

    def ingest(self, database: str, tables: Mapping[str, Any]) -> None:
        """Create Arrow tables in a database; this driver takes ten times as long to connect."""
        import adbc_driver_postgresql.dbapi as driver

        with (
            driver.connect(self.address(database), autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            for name, table in tables.items():
                cursor.adbc_ingest(name, table, mode="create")

    def start(self) -> None:
        """Start the server unless it is running; return when it accepts connections."""
        if (self.folder / "data" / "postmaster.pid").exists():
            return
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off"
        _run(_owner(), _programs() / "pg_ctl", "-D", self.folder / "data", "-o", options,
             "-l", self.folder / "log", "-w", "start")  # fmt: skip
        _wait_for(self)

    def stop(self) -> None:
        """Stop the server despite open connections; the calling test starts it again."""
        self.disconnect()
        _run(
            _owner(), _programs() / "pg_ctl", "-D", self.folder / "data", "-m", "fast", "-w", "stop"
        )

    def disconnect(self) -> None:
        """Close the connections that are kept."""
        while self._kept:
            self._kept.popitem()[1].close()

    def service(self) -> str:
        """Return the URL of a database with the tables of a service and no rows.

        Tests share it, because creating the tables takes longer than most of them.
        """
        url = self.address("service")
        if "service" in self._created:
            self.run(_EMPTY_TABLES, database="service")
        else:
            from agon.store import open_store

            self.run("CREATE DATABASE service")
            open_store(url).close()
            self._created.add("service")
        return url

    def emptied(self) -> str:
        """Empty the database that tests of other tables share and return its name."""
        self.run(
            "DO $$ DECLARE s name; BEGIN FOR s IN SELECT nspname FROM pg_namespace "
            "WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' "
            "LOOP EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END $$",
            "CREATE SCHEMA public",
        )
        return "postgres"


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgresql]:
    """Start a private PostgreSQL server; without an installation the tests that need it fail."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="agon-postgresql-"))
    server = Postgresql(_free_port(), "agon", secrets.token_hex(8), folder)
    owner = _owner()
    secret = folder / "password"
    secret.write_text(server.password)
    if owner is not None:
        for path in (folder, secret):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    data = folder / "data"
    try:
        _run(owner, programs / "initdb", "-D", data, "-U", server.user, f"--pwfile={secret}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")  # fmt: skip
        server.start()
        yield server
    finally:
        server.disconnect()
        if (data / "postmaster.pid").exists():
            _run(owner, programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Return the folder of the newest server that Debian installs, else of the one on the PATH."""
    clusters = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: int(path.parent.parent.name),
    )
    if clusters:
        return clusters[-1].parent
    initdb = shutil.which("initdb")
    if initdb is None:
        pytest.fail("PostgreSQL is missing: install the package postgresql", pytrace=False)
    return Path(initdb).resolve().parent


def _owner() -> pwd.struct_passwd | None:
    """Return the user that the server runs as, since it does not run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _run(owner: pwd.struct_passwd | None, *command: object) -> None:
    process = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server runs
        stderr=subprocess.DEVNULL,
        check=False,
        cwd="/",
        user=None if owner is None else owner.pw_uid,
        group=None if owner is None else owner.pw_gid,
        extra_groups=None if owner is None else [],
    )
    if process.returncode:
        pytest.fail(f"{command[0]} failed with exit code {process.returncode}", pytrace=False)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _wait_for(server: Postgresql) -> None:
    import psycopg

    end = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            server.connect().close()
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return
