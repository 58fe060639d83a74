"""Freeze what a database of this version looks like, so that later versions are tested from it.

Run as a program it writes ``schemas/REVISION.KIND.sql`` of a new revision from a database URL, and
from SQLite the archive ``schemas/REVISION.tar.gz`` too:
``python tests/store/past.py sqlite:////tmp/new.db``. Dumps and archives of released revisions are
never written again.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agon.entities.access import User
from agon.entities.contests import Contest, Event, Moved
from agon.ledger.entry import genesis
from agon.store import open_store
from agon.store.backup import backup
from agon.store.engines import address, begun, open_engine
from agon.store.migrations import NEWEST
from store.made import NOON, contest, created, job, later, opened, sealed, snapshot, vote


def fill(url: str) -> None:
    """Store a little of everything that later versions must still read."""
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        drafts = [
            created("spring"),
            opened(at=later(1)),
            vote(1, at=later(2)),
            vote(2, at=later(3)),
        ]
        entries, head, seq = sealed(drafts, previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head, state="open"))
        session.snapshots.add(
            snapshot(spring.no, rows=2, unscored=1, seq=seq),
            lines=[b'{"id":"a"}', b'{"id":"b"}'], ids=["a", "b"], unscored=[b'{"id":"c"}'],
        )  # fmt: skip
        session.histories.add(
            spring.no, "models", [Moved(id="a", seq=4, at=NOON, rank=1, score=1.5)]
        )
        session.queue.add(job("j1", contest_no=spring.no, dedupe="d"), now=NOON)
        session.access.add_user(User(id="ada", name="Ada Ł", created_at=NOON))
        session.events.add(
            Event(no=0, contest_no=spring.no, seq=4, at=NOON, kind="contest-opened", body={})
        )
    store.close()


def another() -> Contest:
    """Make one more contest."""
    return contest("autumn")


def load(dump: Path, url: str) -> None:
    """Run a dump on an empty database."""
    found = address(url)
    if found.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(found.database))) as connection:
            connection.executescript(dump.read_text())
        return
    engine = open_engine(url)
    with begun(engine, writing=True) as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.execute(dump.read_text())
    engine.dispose()


def freeze(url: str, folder: Path) -> Path:
    """Write the dump of a database that :func:`fill` filled."""
    found = address(url)
    kind = found.get_backend_name()
    target = folder / f"{NEWEST}.{kind}.sql"
    if target.exists():
        raise FileExistsError(f"{target} is of a released revision; make a new revision first")
    if kind == "sqlite":
        with closing(sqlite3.connect(str(found.database))) as connection:
            target.write_text("\n".join(connection.iterdump()) + "\n")
        backup(url, folder / f"{NEWEST}.tar.gz", now=NOON)
        return target
    options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments"]
    program = max(Path("/usr/lib/postgresql").glob("*/bin/pg_dump"))
    said = subprocess.run(
        [program, *options, url], check=True, capture_output=True, text=True
    ).stdout
    kept = [
        line for line in said.splitlines()
        if line and not line.startswith(("--", "SET ", "\\", "SELECT pg_catalog.set_config",
                                         "CREATE SCHEMA public"))
    ]  # fmt: skip
    target.write_text("\n".join(kept) + "\n")
    return target


if __name__ == "__main__":
    fill(sys.argv[1])
    freeze(sys.argv[1], Path(__file__).parent / "schemas")
