"""Backups: complete while others write, checked before use, between both kinds of database."""

import gzip
import io
import sqlite3
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from agon.errors import CheckFailed, Conflict, NotFound, Unavailable, Unreadable
from agon.ledger.entry import genesis
from agon.store import open_store
from agon.store.connection.engines import begin, open_engine
from agon.store.maintenance import archive
from agon.store.maintenance.backup import backup, restore
from agon.store.maintenance.verify import verify
from agon.store.migrations import current, upgrade
from agon.store.schema import METADATA
from agon.store.session import Store
from store.factories import NOON, chained, contest, created, job, later, new, vote
from store.sample import fill

pytestmark = pytest.mark.one_database

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""


def _rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Read everything a database holds."""
    engine = open_engine(url)
    with begin(engine, writing=False) as connection:
        result = {
            table.name: [
                tuple(row)
                for row in connection.execute(table.select().order_by(*table.primary_key))
            ]
            for table in METADATA.sorted_tables
        }
    engine.dispose()
    return result


@pytest.mark.exhaustive
def test_an_archive_restores_into_either_kind(filled: str, other_url: str, tmp_path: Path) -> None:
    """A contest instance moves from SQLite to PostgreSQL when it grows, and back."""
    before = _rows(filled)
    made = backup(filled, tmp_path / "all.tar.gz", now=NOON)
    assert made.size == made.path.stat().st_size > 0
    result = restore(made.path, other_url, now=NOON)
    assert (result.contests, result.entries, result.issues) == (1, 4, ())
    assert _rows(other_url) == before
    store = open_store(other_url)
    with store.write() as session:  # numbers go on after those that came
        assert session.contests.add(contest("autumn")).no == before["contests"][0][0] + 1
    store.close()


@pytest.mark.exhaustive
def test_a_sqlite_file_restores_into_either_kind(tmp_path: Path, url: str) -> None:
    """The plain copy is the quick backup; it must not be a dead end."""
    source = f"sqlite:///{tmp_path}/source.db"
    fill(source)
    made = backup(source, tmp_path / "copy.db", now=NOON)
    assert sorted(path.name for path in tmp_path.iterdir() if "copy" in path.name) == ["copy.db"]
    restore(made.path, url, now=NOON)
    assert _rows(url) == _rows(source)


@pytest.mark.exhaustive
def test_a_backup_is_of_one_moment_while_others_write(url: str, tmp_path: Path) -> None:
    """The instance does not close for its backup."""
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        entries, head, seq = chained([created("spring")], previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head))
    enough = threading.Event()
    begun_writing = threading.Event()

    def write() -> None:
        number = 0
        while not enough.is_set():
            number += 1
            _add_vote(store, number)
            begun_writing.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        begun_writing.wait()
        made = [backup(url, tmp_path / f"{n}.tar.gz", now=NOON).path for n in range(3)]
        if url.startswith("sqlite"):
            made.append(backup(url, tmp_path / "copy.db", now=NOON).path)
    finally:
        enough.set()
        thread.join()
        store.close()
    for number, path in enumerate(made):
        target = f"sqlite:///{tmp_path}/restored{number}.db"
        result = restore(path, target, now=NOON)
        assert result.issues == ()
        assert result.entries > 1


def _add_vote(store: Store, number: int) -> None:
    with store.write() as session:
        locked = session.contests.lock("spring")
        entries, head, seq = chained([vote(number)], previous=locked.head, seq=locked.seq)
        session.entries.append(locked.no, entries)
        session.contests.save(replace(locked, seq=seq, head=head))


@pytest.mark.exhaustive
def test_a_database_that_holds_something_is_not_restored_into(filled: str, tmp_path: Path) -> None:
    """A restore into the wrong place would mix two instances."""
    made = backup(filled, tmp_path / "all.tar.gz", now=NOON)
    before = _rows(filled)
    with pytest.raises(Conflict, match="is not empty"):
        restore(made.path, filled, now=NOON)
    assert _rows(filled) == before


@pytest.mark.exhaustive
def test_an_empty_database_that_is_laid_out_may_be_restored_into(url: str, tmp_path: Path) -> None:
    """A server that was started once has laid it out already."""
    source = f"sqlite:///{tmp_path}/source.db"
    fill(source)
    upgrade(url)
    restore(backup(source, tmp_path / "copy.db", now=NOON).path, url, now=NOON)
    assert _rows(url) == _rows(source)


@pytest.mark.exhaustive
def test_files_are_never_written_over(filled: str, tmp_path: Path) -> None:
    """The last good backup is worth more than the next one."""
    target = tmp_path / "all.tar.gz"
    target.write_text("good")
    with pytest.raises(Conflict, match="another name"):
        backup(filled, target, now=NOON)
    assert target.read_text() == "good"


def test_postgresql_is_backed_up_as_an_archive_only(tmp_path: Path) -> None:
    """The name determines the format; a wrong one is an error before anything is done."""
    with pytest.raises(Unreadable, match=r"name the file all\.db\.tar\.gz"):
        backup("postgresql://nobody@127.0.0.1:1/x", tmp_path / "all.db", now=NOON)


@pytest.mark.parametrize("name", ["all.tar.gz", "all.db"])
def test_what_is_not_there_or_empty_is_not_backed_up(tmp_path: Path, name: str) -> None:
    """An empty file must not pass as a backup."""
    with pytest.raises(Unavailable, match="agon db upgrade"):
        backup(f"sqlite:///{tmp_path}/none.db", tmp_path / name, now=NOON)
    with pytest.raises(NotFound, match="no file"):
        restore(tmp_path / name, f"sqlite:///{tmp_path}/new.db", now=NOON)
    assert not (tmp_path / name).exists()


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as tar:
        for member in tar:
            stream = tar.extractfile(member)
            assert stream is not None
            yield member.name, stream.read()


def _rewrite(path: Path, change: Callable[[str, bytes], bytes | None]) -> None:
    members = [(name, change(name, content)) for name, content in _members(path)]
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members:
            if content is not None:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


def _other_revision(name: str, content: bytes) -> bytes:
    if name != "agon.json":
        return content
    return orjson.dumps(orjson.loads(content) | {"revision": "9999"})


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut short": (
        lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a complete archive",
    ),
    "text": (lambda path: path.write_text("Dear Ada"), "not a complete archive"),
    "empty": (lambda path: path.write_bytes(b""), "not a complete archive"),
    "other content": (
        lambda path: path.write_bytes(gzip.compress(b"x" * 99)), "not a complete archive",
    ),
    "a chunk missing": (
        lambda path: _rewrite(path, lambda name, old: None if "users/" in name else old),
        "damaged in users",
    ),
    "a chunk changed": (
        lambda path: _rewrite(path, lambda name, old: old.replace(b"Spring", b"Autumn")
                              if name.startswith("contests") else old),
        "damaged in contests",
    ),
    "no manifest": (
        lambda path: _rewrite(path, lambda name, old: None if name == "manifest.json" else old),
        "ends before its manifest",
    ),
    "another table": (
        lambda path: _rewrite(path, lambda name, old: b"[1]\n" if "users/" in name else old),
        "not a complete archive",
    ),
    "other revision": (lambda path: _rewrite(path, _other_revision), "revision 9999"),
    "other columns": (
        lambda path: _rewrite(path, lambda name, old: old.replace(b'"users"', b'"losers"')
                              if name == "agon.json" else old),
        "not those of revision 0001",
    ),
}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_is_rejected_and_leaves_nothing(
    filled: str, other_url: str, tmp_path: Path, damage: str
) -> None:
    """Half an instance must not open."""
    path = backup(filled, tmp_path / "all.tar.gz", now=NOON).path
    harm, said = DAMAGES[damage]
    harm(path)
    with pytest.raises(Unreadable, match=said):
        restore(path, other_url, now=NOON)
    if current(other_url) is not None:
        assert not any(_rows(other_url).values())
    assert not list(tmp_path.glob(".*"))


def test_a_backup_whose_ledger_is_broken_is_refused(filled: str, tmp_path: Path) -> None:
    """A backup of a damaged database must say so before it is relied on."""
    engine = open_engine(filled)
    with begin(engine, writing=True) as connection:
        connection.exec_driver_sql("UPDATE contests SET seq = 3")
    engine.dispose()
    path = backup(filled, tmp_path / "all.tar.gz", now=NOON).path
    with pytest.raises(CheckFailed, match="is at 3, its entries end at 4"):
        restore(path, f"sqlite:///{tmp_path}/new.db", now=NOON)
    assert not (tmp_path / "new.db").exists()


def test_a_file_copied_half_is_refused(tmp_path: Path) -> None:
    """SQLite's own pages are checked too."""
    source = f"sqlite:///{tmp_path}/source.db"
    fill(source)
    path = backup(source, tmp_path / "copy.db", now=NOON).path
    path.write_bytes(path.read_bytes()[: 20 * 4096])
    with pytest.raises((Unavailable, CheckFailed)):
        restore(path, f"sqlite:///{tmp_path}/new.db", now=NOON)
    assert not (tmp_path / "new.db").exists()


def test_tables_of_many_chunks_are_restored_completely(
    url: str, other_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory stays small; no row may be lost or duplicated between chunks."""
    monkeypatch.setattr(archive, "_BATCH_BYTES", 500)
    monkeypatch.setattr(archive, "_ROWS_PER_READ", 7)
    store = open_store(url)
    with store.write() as session:
        for number in range(60):
            session.queue.add(job(f"j{number:03}"), now=later(number))
    store.close()
    path = backup(url, tmp_path / "all.tar.gz", now=NOON).path
    assert sum(name.startswith("jobs/") for name, _ in _members(path)) > 5
    restore(path, other_url, now=NOON)
    assert _rows(other_url) == _rows(url)


def test_a_backup_can_be_read_by_sqlite_alone(tmp_path: Path) -> None:
    """One file without a journal: it can be copied anywhere."""
    url = f"sqlite:///{tmp_path}/source.db"
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        session.entries.append(spring.no, [new(1)])
    backup(url, tmp_path / "copy.db", now=NOON)
    store.close()
    with closing(sqlite3.connect(f"file:{tmp_path}/copy.db?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert verify(url).entries == 1


@pytest.mark.parametrize("name", ["copy.db", "copy.tar.gz"])
def test_only_the_owner_may_read_a_backup(tmp_path: Path, name: str) -> None:
    """Databases and backups hold hidden answers; another user of the machine sees none."""
    url = f"sqlite:///{tmp_path}/agon.db"
    upgrade(url)
    backup(url, tmp_path / name, now=NOON)
    restore(tmp_path / name, f"sqlite:///{tmp_path}/again.db", now=NOON)
    modes = {
        file: (tmp_path / file).stat().st_mode & 0o777 for file in ("agon.db", name, "again.db")
    }
    assert modes == dict.fromkeys(modes, 0o600)
