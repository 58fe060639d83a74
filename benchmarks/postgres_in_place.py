"""A community scored in PostgreSQL while others write: the rate of their transactions, one hash.

A simulated community is scored from a private server. Meanwhile a writer commits transactions at a
fixed rate, each a new user with a prompt and a feedback; it does not wait for the disk. What was
committed after the last user in the records is then deleted, and the score must have the same hash.
"""

import argparse
import os
import threading
import time
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import databases  # type: ignore[import-not-found]  # of this folder
import report  # type: ignore[import-not-found]  # same

import agon
from agon.disciplines.community.simulate import Density, simulate

_FIRST = 10**9
"""The first id of what the writer adds; above those simulated."""


class Writer(threading.Thread):
    """A connection that commits transactions at a rate, or as fast as it can."""

    def __init__(self, url: str, rate: float) -> None:
        super().__init__(daemon=True)
        self._url, self._rate, self.committed = url, rate, 0
        self._ended = threading.Event()

    def run(self) -> None:
        """Commit until the end is announced."""
        begin = time.monotonic()
        with driver.connect(self._url, autocommit=True) as connection, connection.cursor() as at:
            at.execute("SET synchronous_commit = off")
            while not self._ended.wait(
                max(0.0, begin + self.committed / self._rate - time.monotonic())
            ):
                new = _FIRST + self.committed
                at.execute(
                    f"DO $$ BEGIN INSERT INTO users (id) VALUES ({new});"
                    f"INSERT INTO prompts (id, uploader_id) VALUES ({new}, {new});"
                    "INSERT INTO quick_feedbacks (user_id, prompt_id, opinion) "
                    f"VALUES (1, {new}, 'positive'); END $$"
                )
                self.committed += 1

    def end(self) -> None:
        """End writing."""
        self._ended.set()
        self.join()


def main() -> None:
    """Score while a writer writes; delete what is later; score again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=20_000, help="users")
    parser.add_argument("--rate", type=float, default=500.0, help="transactions a second")
    options = parser.parse_args()
    report.header("duckdb", "pyarrow", "adbc-driver-postgresql")
    density = Density(prompts=5, feedbacks=50, responses=2, scores=2)
    tables = simulate(size=options.size, seed=1, density=density).tables
    with databases.database("postgresql") as url:
        _ingest(url, tables)
        quiet, _ = _score(url)
        writer = Writer(url, options.rate)
        writer.start()
        while not writer.committed:
            time.sleep(0.1)
        before, begin = writer.committed, time.perf_counter()
        busy, last = _score(url)
        seconds, committed = time.perf_counter() - begin, writer.committed - before
        writer.end()
        after = writer.committed
        _delete_after(url, last)
        again, _ = _score(url)
    assert busy[1] == again[1], "writing changed the hash"
    print(
        f"{options.size:,} users, {sum(map(len, tables.values())):,} rows: read and scored in "
        f"{quiet[0]:.1f} s without a writer and {busy[0]:.1f} s with one, which committed "
        f"{committed / seconds:.0f} transactions a second meanwhile ({options.rate:.0f} asked); "
        f"{after - (last - _FIRST + 1):,} of them were after the snapshot; the hash is that of the "
        f"snapshot; load {os.getloadavg()[0]:.1f}"
    )


def _ingest(url: str, tables: Any) -> None:
    with driver.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for name, table in tables.items():
            cursor.adbc_ingest(name, table, mode="create")
        cursor.execute("ANALYZE")


def _score(url: str) -> tuple[tuple[float, str], int]:
    """Return seconds and hash of a score, and the last id of a user in it."""
    begin = time.perf_counter()
    with agon.read_records("community", url) as records:
        sha256 = agon.score("community", records).board().sha256
        seconds = time.perf_counter() - begin
        last = records.sql("SELECT max(id::BIGINT) AS id FROM users")["id"][0].as_py()
    return (seconds, sha256), last


def _delete_after(url: str, last: int) -> None:
    columns = {"quick_feedbacks": "prompt_id", "prompts": "id", "users": "id"}
    _run(url, *(f"DELETE FROM {name} WHERE {columns[name]} > {last}" for name in columns))


def _run(url: str, *statements: str) -> None:
    with driver.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


if __name__ == "__main__":
    main()
