"""Back up a database while others write to it, and restore a backup."""

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
from agon.kernel.progress import step
from agon.store.connection.database_errors import translate_errors
from agon.store.connection.engines import (
    begin,
    create_private_file,
    display_url,
    open_engine,
    parse_url,
)
from agon.store.connection.transaction import Transaction
from agon.store.maintenance.archive import is_empty, read_archive, write_archive
from agon.store.maintenance.verify import DatabaseVerification, verify_within
from agon.store.migrations import current, require_newest, upgrade

ARCHIVE_SUFFIX: Final = ".tar.gz"
"""The end of an archive's name; a backup with any other name is a SQLite file."""

_SQLITE_MAGIC: Final = b"SQLite format 3\x00"


@dataclass(frozen=True)
class BackupFile:
    """A backup: its file and size in bytes."""

    path: Path
    size: int


def backup(url: str, target: Path, *, now: datetime) -> BackupFile:
    """Write a consistent copy of a database to a new file.

    A name that ends in ``.tar.gz`` gives an archive, which can be restored into SQLite and
    PostgreSQL; any other name gives a SQLite file, of a SQLite database only. Others may write to
    the database meanwhile. The file appears when it is complete.

    Args:
        url: the database.
        target: the file.
        now: the time, recorded in the archive's header.

    Raises:
        Conflict: the file exists.
        Unreadable: a PostgreSQL database cannot be copied to a SQLite file.
        Unavailable: the database cannot be reached, or has another revision.
    """
    if target.exists():
        raise Conflict(f"{target} exists; choose another name")
    is_archive = target.name.endswith(ARCHIVE_SUFFIX)
    path = _sqlite_path(url)
    if path is None and not is_archive:
        raise Unreadable(
            "PostgreSQL can only be backed up as an archive; name the file "
            f"{target.name}{ARCHIVE_SUFFIX}"
        )
    with _atomic_file(target) as part:
        if is_archive:
            _write_archive(url, part, now=now)
        elif path is None or current(url) is None:
            raise Unavailable(f"{display_url(parse_url(url))} is empty: run `agon db upgrade`")
        else:
            _copy(path, part)
    return BackupFile(target, target.stat().st_size)


def restore(source: Path, url: str, *, now: datetime) -> DatabaseVerification:
    """Restore a backup into a database that does not exist or is empty.

    Everything is verified before it is committed; on any error the database is unchanged.

    Args:
        source: a file that :func:`backup` wrote.
        url: the database.
        now: the time, for the archive that a SQLite file becomes on its way to PostgreSQL.

    Raises:
        NotFound: there is no such file.
        Conflict: the database is not empty.
        Unreadable: the file is not a backup, or is damaged.
        CheckFailed: a ledger in it is damaged.
        Unavailable: the database cannot be reached.
    """
    if not source.is_file():
        raise NotFound(f"there is no file {source}; give a file written by `agon db backup`")
    with source.open("rb") as stream:
        is_archive = stream.read(len(_SQLITE_MAGIC)) != _SQLITE_MAGIC
    path = _sqlite_path(url)
    if path is not None and not path.exists():
        with _atomic_file(path) as part:
            if is_archive:
                return _load(source, _sqlite_url(part))
            _copy(source, part)
            upgrade(_sqlite_url(part))
            return _verify(_sqlite_url(part))
    if is_archive:
        return _load(source, url)
    with TemporaryDirectory() as folder:
        copy, archive = Path(folder, "copy.db"), Path(folder, f"copy{ARCHIVE_SUFFIX}")
        _copy(source, copy)
        upgrade(_sqlite_url(copy))
        _write_archive(_sqlite_url(copy), archive, now=now)
        return _load(archive, url)


def _write_archive(url: str, target: Path, *, now: datetime) -> None:
    engine = open_engine(url)
    try:
        with begin(engine, writing=False) as connection:
            transaction = Transaction(connection, display_url(engine.url))
            require_newest(connection, transaction.database)
            _lift_timeouts(transaction)
            write_archive(transaction, target, now=now)
    finally:
        engine.dispose()


def _load(source: Path, url: str) -> DatabaseVerification:
    """Read an archive into an empty database and verify it, in one transaction."""
    upgrade(url)
    engine = open_engine(url)
    try:
        with begin(engine, writing=True) as connection:
            transaction = Transaction(connection, display_url(engine.url))
            _lift_timeouts(transaction)
            if not is_empty(transaction):
                raise Conflict(f"{transaction.database} is not empty; restore into an empty one")
            read_archive(transaction, source)
            result = verify_within(transaction)
            result.require_no_issues()
            return result
    finally:
        engine.dispose()


def _verify(url: str) -> DatabaseVerification:
    engine = open_engine(url)
    try:
        with begin(engine, writing=False) as connection:
            result = verify_within(Transaction(connection, display_url(engine.url)))
            result.require_no_issues()
            return result
    finally:
        engine.dispose()


def _copy(source: Path, target: Path) -> None:
    """Write a consistent copy of a SQLite file that others may write to."""
    with (
        translate_errors(f"the database {source}"),
        closing(sqlite3.connect(source)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.execute("PRAGMA query_only = ON")
        old.execute("PRAGMA schema_version")  # fails here if the source cannot be read
        with (
            translate_errors(f"the copy in {target.parent}"),
            step("copying", lambda: _share(source, target)),
        ):
            old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # without it the copy would need a second file


def _share(source: Path, copy: Path) -> float:
    """Return the size of a growing copy as a share of its source's."""
    return copy.stat().st_size / max(source.stat().st_size, 1)


def _lift_timeouts(transaction: Transaction) -> None:
    """Remove PostgreSQL's time limits of statements for this transaction."""
    if not transaction.on_sqlite:
        transaction.execute("SET LOCAL statement_timeout = 0")
        transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0")


@contextmanager
def _atomic_file(target: Path) -> Iterator[Path]:
    """Yield an empty file next to the target, renamed to it when the block ends without error.

    Only its owner may read it, like the database itself.

    Raises:
        Unavailable: it cannot be written, or the disk is full.
    """
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        create_private_file(part)
        yield part
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise Unavailable(
            f"{target} cannot be written ({error.strerror}); free disk space, or choose another "
            "path"
        ) from error
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                part.with_name(part.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file or folder is written to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sqlite_path(url: str) -> Path | None:
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    return Path(parsed.database or "")


def _sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"
