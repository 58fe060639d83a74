"""The database's hot paths: appending against a plain executemany, reading, boards, claims."""

import argparse
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta

import report  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder

from agon.entities.contests import Contest, NewEntry, Snapshot
from agon.entities.jobs import NewJob
from agon.store import open_store
from agon.store.session import Store

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LINE = (
    b'{"at":"2026-11-22T12:00:00.000000Z","body":{"row":{"a":"m1","b":"m2","id":"%d","judge":"ada",'
)
LINE += b'"winner":"a"},"table":"votes"},"by":"user:ada","external_id":null,"kind":"record-added"}'


def main() -> None:
    """Measure each kind of database in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="entries, and rows of a board")
    parser.add_argument("--claims", type=int, default=3000)
    parser.add_argument("--kind", choices=KINDS, action="append")
    options = parser.parse_args()
    report.header("sqlalchemy", "psycopg")
    for kind in options.kind or KINDS:
        with database(kind) as url:
            store = open_store(url)
            no = _contest(store)
            print(f"{kind}, {options.size:,} entries and rows", flush=True)
            _entries(store, no, options.size, kind)
            _board(store, no, options.size)
            _claims(store, options.claims)
            store.close()


def _entries(store: Store, no: int, size: int, kind: str) -> None:
    made = [_entry(seq) for seq in range(1, size + 1)]
    with _timed(f"append {size:,} entries") as ours, store.write() as session:
        session.entries.append(no, made)
    with _timed("read them"), store.read() as session:
        assert sum(1 for _ in session.entries.after(no)) == size
    keys = [entry.record or "" for entry in made[:20_000]]
    with _timed("find 20,000 record keys"), store.read() as session:
        assert len(session.entries.existing(no, records=keys)) == len(keys)
    if kind == "sqlite":
        with database(kind) as url:
            open_store(url).close()
            rows = [(1, *one[:2], 0, *one[3:]) for one in made]
            marks = ", ".join("?" * 9)
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as plainly:
                plainly.execute("PRAGMA synchronous = NORMAL")
                plainly.execute("PRAGMA cache_size = -65536")
                with _timed("the same rows by a plain executemany") as plain:
                    plainly.executemany(f"INSERT INTO entries VALUES ({marks})", rows)
                    plainly.commit()
        report.compare("append to SQLite", ours[0], "executemany", plain[0], 1 / 1.5, 1.0)


def _board(store: Store, no: int, size: int) -> None:
    ids = [f"model-{place}" for place in range(size)]
    line = '{{"id":"{}","rank":1,"score":1500.25,"wins":17,"losses":12,"matches":29}}'
    lines = [line.format(name).encode() for name in ids]
    board = Snapshot(
        no=0, contest_no=no, board="models", seq=1, at=NOW, published_at=NOW, manifest={},
        signature="", board_sha256="", rows=size, unscored=0, stored=True,
    )  # fmt: skip
    with _timed(f"store a board of {size:,} rows"), store.write() as session:
        board = session.snapshots.add(board, lines=lines, ids=ids, unscored=[])
    places = range(0, size, max(1, size // 200))
    with store.read() as session:
        with _timed("a page of 50 rows", times=len(places)):
            for place in places:
                session.snapshots.lines(board.no, start=place, count=50)
        with _timed("the place of an id", times=len(places)):
            for place in places:
                assert session.snapshots.row_indexes(board.no, [ids[place]]) == {ids[place]: place}


def _claims(store: Store, count: int) -> None:
    with store.write() as session:
        for number in range(count):
            session.queue.add(NewJob(id=f"j{number:06}", kind="judge", payload={}), now=NOW)
    span = timedelta(seconds=30)
    with _timed("a claim, committed", times=count):
        for number in range(count):
            with store.write() as session:
                assert session.queue.claim(
                    ["judge"], worker="w", lease=f"l{number}", now=NOW, span=span
                )


@contextmanager
def _timed(what: str, *, times: int = 1) -> Iterator[list[float]]:
    seconds: list[float] = []
    begin = time.perf_counter()
    yield seconds
    seconds.append((time.perf_counter() - begin) / times)
    print(f"  {what}: {seconds[0]:.3f} s" if times == 1 else f"  {what}: {seconds[0] * 1e3:.3f} ms",
          flush=True)  # fmt: skip


def _entry(seq: int) -> NewEntry:
    return NewEntry(
        seq=seq, kind="record-added", at=NOW, line=LINE % seq, sha256=os.urandom(32),
        table="votes", record=f"votes/m{seq * 7919 % 10_000_019}",
    )  # fmt: skip


def _contest(store: Store) -> int:
    contest = Contest(
        no=0, id="bench", discipline="arena", title="", description="", visibility="public",
        series=None, season=None, state="open", edition="arena/sentience-1", overrides={},
        boards=("models",), created_at=NOW, seq=0, head=bytes(32),
    )  # fmt: skip
    with store.write() as session:
        return session.contests.add(contest).no


if __name__ == "__main__":
    main()
