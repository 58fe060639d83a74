"""Back a database up while others write, and bring a backup back."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Final

from agon.errors import Conflict, NotFound, Unavailable, Unreadable
from agon.store.archive import archived_revision, is_empty, read_archive, write_archive
from agon.store.engines import address, begun, open_engine, place, private_file
from agon.store.failing import speaking
from agon.store.migrations import NEWEST, current, refuse_other_versions, upgrade
from agon.store.transactions import Transaction
from agon.store.verify import Verified, examined

ARCHIVE: Final = ".tar.gz"
"""How the name of an archive ends; any other name is of a SQLite file."""

_SQLITE: Final = b"SQLite format 3\x00"


@dataclass(frozen=True)
class BackedUp:
    """Hold what a backup made: the file and its bytes."""

    path: Path
    size: int


def backup(url: str, target: Path, *, now: datetime) -> BackedUp:
    """Write a database as one moment sees it to a file that is not there yet.

    A name that ends in ``.tar.gz`` gives an archive, from which a database of either kind can be
    restored; any other name gives a SQLite file, of a SQLite database. Others may write meanwhile.
    The file appears when it is whole.

    Args:
        url: the database.
        target: the file.
        now: the time, for the archive's first page.

    Raises:
        Conflict: the file is there.
        Unreadable: a database on PostgreSQL is to become a SQLite file at once.
        Unavailable: the database cannot be reached, or is of another version.
    """
    if target.exists():
        raise Conflict(f"{target} is there already; choose another name")
    archive = target.name.endswith(ARCHIVE)
    path = _file(url)
    if path is None and not archive:
        raise Unreadable(f"PostgreSQL is backed up as an archive: name it {target.name}{ARCHIVE}")
    with _appearing(target) as part:
        if archive:
            _archive(url, part, now=now)
        elif path is None or current(url) is None:
            raise Unavailable(f"{place(address(url))} is empty: run `agon db upgrade`")
        else:
            _copy(path, part)
    return BackedUp(target, target.stat().st_size)


def restore(source: Path, url: str, *, now: datetime) -> Verified:
    """Bring a backup back into a database that is not there, or holds nothing.

    All of it is checked before it counts, ledger by ledger; whatever fails, the database is as it
    was. A backup of an earlier revision is brought to this one, in a file of SQLite's beside the
    target or (for PostgreSQL) in a temporary folder.

    Args:
        source: what :func:`backup` wrote.
        url: the database.
        now: the time, for the archive that a SQLite file becomes on its way to PostgreSQL.

    Raises:
        NotFound: there is no such file.
        Conflict: the database holds something.
        Unreadable: the file is no backup, or is damaged.
        CheckFailed: its ledgers are not whole.
        Unavailable: the database cannot be reached.
    """
    if not source.is_file():
        raise NotFound(f"there is no file {source}; name what `agon db backup` wrote")
    with source.open("rb") as stream:
        is_sqlite = stream.read(len(_SQLITE)) == _SQLITE
    path = _file(url)
    is_newest = not is_sqlite and archived_revision(source) == NEWEST
    if path is not None and not path.exists():
        with _appearing(path) as part:
            if is_newest:
                return _load(source, _url(part))
            _bring(source, part, is_sqlite=is_sqlite)
            return _checked(_url(part))
    if is_newest:
        return _load(source, url)
    with TemporaryDirectory() as folder:
        copied, archived = Path(folder, "copy.db"), Path(folder, f"copy{ARCHIVE}")
        _bring(source, copied, is_sqlite=is_sqlite)
        _archive(_url(copied), archived, now=now)
        return _load(archived, url)


def _bring(source: Path, file: Path, *, is_sqlite: bool) -> None:
    """Copy a backup of any revision into a new SQLite file, and bring that to this revision."""
    url = _url(file)
    if is_sqlite:
        _copy(source, file)
    else:
        upgrade(url, to=archived_revision(source))
        engine = open_engine(url)
        try:
            with begun(engine, writing=True) as connection:
                read_archive(Transaction(connection, place(engine.url)), source)
        finally:
            engine.dispose()
    upgrade(url)


def _archive(url: str, target: Path, *, now: datetime) -> None:
    engine = open_engine(url)
    try:
        with begun(engine, writing=False) as connection:
            to = Transaction(connection, place(engine.url))
            refuse_other_versions(connection, to.place)
            _take_your_time(to)
            write_archive(to, target, now=now)
    finally:
        engine.dispose()


def _load(source: Path, url: str) -> Verified:
    """Read an archive into an empty database and check it, in one transaction."""
    upgrade(url)
    engine = open_engine(url)
    try:
        with begun(engine, writing=True) as connection:
            to = Transaction(connection, place(engine.url))
            _take_your_time(to)
            if not is_empty(to):
                raise Conflict(f"{to.place} holds something; restore into an empty database")
            read_archive(to, source)
            found = examined(to)
            found.raise_faults()
            return found
    finally:
        engine.dispose()


def _checked(url: str) -> Verified:
    engine = open_engine(url)
    try:
        with begun(engine, writing=False) as connection:
            found = examined(Transaction(connection, place(engine.url)))
            found.raise_faults()
            return found
    finally:
        engine.dispose()


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite file as one moment sees it; writers go on."""
    with (
        speaking(f"the database {source}"),
        closing(sqlite3.connect(source)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.execute("PRAGMA query_only = ON")
        old.execute(
            "PRAGMA schema_version"
        )  # what cannot be read is told before anything is written
        with speaking(f"the copy in {target.parent}"):
            old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # the copy is one file


def _take_your_time(to: Transaction) -> None:
    """Lift PostgreSQL's limit on how long a statement runs, for this transaction."""
    if not to.on_sqlite:
        to.run("SET LOCAL statement_timeout = 0")
        to.run("SET LOCAL idle_in_transaction_session_timeout = 0")


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """Give an empty file beside the target that becomes it when the block ends well.

    Its owner alone may read it, as the database itself.

    Raises:
        Unavailable: it cannot be written, or there is no room for it.
    """
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        private_file(part)
        yield part
        _settle(part)
        part.replace(target)
        _settle(target.parent)
    except OSError as error:
        raise Unavailable(
            f"{target} cannot be written ({error.strerror}); make room there, or name a place that "
            "can be written"
        ) from error
    finally:
        for rest in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                part.with_name(part.name + rest).unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file(url: str) -> Path | None:
    found = address(url)
    if found.get_backend_name() != "sqlite":
        return None
    return Path(found.database or "")


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
