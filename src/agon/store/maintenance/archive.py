"""Write a database as one archive, and read it into an empty one, SQLite or PostgreSQL.

An archive is a gzipped tar: first ``agon.json`` (format, revision, time, the columns of each
table), then the rows of each table in batches, ``TABLE/000001.ndjson``, one JSON list a row (bytes
as Base64), last ``manifest.json`` with each table's number of rows and the SHA-256 over its
batches. Writing and reading hold one batch in memory at a time.
"""

import hashlib
import io
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson
from sqlalchemy import LargeBinary, Table, func, select, text

from agon.errors import Unreadable
from agon.kernel.progress import is_observed, step
from agon.ledger.files import share_read
from agon.store.connection.transaction import Transaction
from agon.store.migrations import NEWEST
from agon.store.schema import METADATA

FORMAT: Final = 1
MAX_MEMBER_BYTES: Final = 64 * 1024 * 1024

_BATCH_BYTES: Final = 4 * 1024 * 1024
_ROWS_PER_READ: Final = 2000
_HEADER: Final = "agon.json"
_MANIFEST: Final = "manifest.json"
_REMEDY: Final = "give a complete archive written by `agon db backup`"
_TABLES: Final[Mapping[str, Table]] = {str(table.name): table for table in METADATA.sorted_tables}
_LAYOUT: Final = {
    name: [str(column.name) for column in table.columns] for name, table in _TABLES.items()
}


@dataclass(frozen=True, kw_only=True)
class ArchiveSummary:
    """The content of an archive: when it was written, and the number of rows of each table."""

    at: str
    rows: Mapping[str, int]


def write_archive(transaction: Transaction, target: Path, *, now: datetime) -> ArchiveSummary:
    """Write all tables, as one transaction sees them, to a file; its old content is replaced."""
    time = now.isoformat()
    header = {"format": FORMAT, "revision": NEWEST, "at": time, "tables": _LAYOUT}
    sums: dict[str, dict[str, Any]] = {}
    written, total = 0, _count_rows(transaction) if is_observed() else 0
    with (
        tarfile.open(target, "w:gz", compresslevel=1) as tar,
        step("writing rows", lambda: written / max(total, 1)),
    ):
        _add(tar, _HEADER, orjson.dumps(header))
        for name, table in _TABLES.items():
            digest, rows = hashlib.sha256(), 0
            for number, (count, batch) in enumerate(_batches(transaction, table), 1):
                digest.update(batch)
                rows += count
                written += count
                _add(tar, f"{name}/{number:06}.ndjson", batch)
            sums[name] = {"rows": rows, "sha256": digest.hexdigest()}
        _add(tar, _MANIFEST, orjson.dumps({"tables": sums}))
    return ArchiveSummary(at=time, rows={name: table["rows"] for name, table in sums.items()})


def read_archive(transaction: Transaction, source: Path) -> ArchiveSummary:
    """Read an archive into empty tables; the caller commits all of it or nothing.

    Raises:
        Unreadable: the file is not an archive, has an unknown revision, or is damaged or
            incomplete.
    """
    try:
        with (
            source.open("rb") as file,
            tarfile.open(fileobj=file, mode="r|gz") as tar,
            step("loading", lambda: share_read(file)),
        ):
            return _read(transaction, tar)
    except (tarfile.TarError, EOFError, OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{source.name} is not a complete archive ({error}); {_REMEDY}") from error


def is_empty(transaction: Transaction) -> bool:
    """Return whether no table has a row."""
    return not any(
        transaction.first(select(text("1")).select_from(table).limit(1)) is not None
        for table in _TABLES.values()
    )


def _count_rows(transaction: Transaction) -> int:
    counts = (select(func.count()).select_from(table) for table in _TABLES.values())
    return sum(transaction.scalar(count) for count in counts)


def _read(transaction: Transaction, tar: tarfile.TarFile) -> ArchiveSummary:
    members = iter(tar)
    header = orjson.loads(_content(tar, next(members, None), _HEADER))
    if header["format"] != FORMAT or header["revision"] != NEWEST:
        raise Unreadable(
            f"the archive has revision {header['revision']}, which this version of agon does not "
            "know: restore it with the version that wrote it"
        )
    if header["tables"] != _LAYOUT:
        raise ValueError(f"its tables are not those of revision {NEWEST}")
    sums = {name: hashlib.sha256() for name in _TABLES}
    rows = dict.fromkeys(_TABLES, 0)
    for member in members:
        if member.name == _MANIFEST:
            expected = orjson.loads(_content(tar, member, _MANIFEST))["tables"]
            actual = {
                name: {"rows": rows[name], "sha256": sums[name].hexdigest()} for name in _TABLES
            }
            # Everything was loaded by now, in one transaction: an exception takes all of it back.
            if expected != actual:
                damaged = sorted(name for name in actual if expected.get(name) != actual[name])
                raise Unreadable(f"the archive is damaged in {', '.join(damaged)}; {_REMEDY}")
            _advance_sequences(transaction)
            return ArchiveSummary(at=header["at"], rows=rows)
        name = member.name.partition("/")[0]
        batch = _content(tar, member, member.name)
        sums[name].update(batch)
        rows[name] += transaction.load(_TABLES[name], _rows(_TABLES[name], batch))
    raise Unreadable(f"the archive ends before its manifest; {_REMEDY}")


def _batches(transaction: Transaction, table: Table) -> Iterator[tuple[int, bytes]]:
    """Yield a table's rows as lines, and how many they are."""
    write = _row_writer(table)
    buffer, count = io.BytesIO(), 0
    listing = select(table).order_by(*table.primary_key)
    for rows in transaction.stream(listing, batch=_ROWS_PER_READ):
        for row in rows:
            buffer.write(write(row))
            count += 1
            if buffer.tell() >= _BATCH_BYTES:
                yield count, buffer.getvalue()
                buffer, count = io.BytesIO(), 0
    if count:
        yield count, buffer.getvalue()


def _row_writer(table: Table) -> Callable[[Sequence[Any]], bytes]:
    binary = _binary_columns(table)

    def write(row: Sequence[Any]) -> bytes:
        values = list(row)
        for index in binary:
            if values[index] is not None:
                values[index] = b64encode(values[index]).decode()
        return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)

    return write


def _rows(table: Table, batch: bytes) -> Iterator[list[Any]]:
    binary, width = _binary_columns(table), len(table.columns)
    for line in batch.splitlines():
        values = orjson.loads(line)
        if len(values) != width:
            raise ValueError(f"a row of {table.name} has {len(values)} values, not {width}")
        for index in binary:
            if values[index] is not None:
                values[index] = b64decode(values[index], validate=True)
        yield values


def _binary_columns(table: Table) -> list[int]:
    return [
        index for index, column in enumerate(table.columns) if isinstance(column.type, LargeBinary)
    ]


def _advance_sequences(transaction: Transaction) -> None:
    """Make PostgreSQL number new rows after those that were loaded."""
    if transaction.on_sqlite:
        return
    for table in _TABLES.values():
        if "no" in table.primary_key.columns:
            newest = transaction.scalar(select(func.max(table.c.no)))
            sequence = func.pg_get_serial_sequence(table.name, "no")
            transaction.scalar(select(func.setval(sequence, newest or 1, newest is not None)))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    tar.addfile(member, io.BytesIO(content))


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> bytes:
    if member is None or member.name != name or not member.isfile():
        raise ValueError(f"{name} is missing")
    if member.size > MAX_MEMBER_BYTES:
        raise ValueError(f"{name} is larger than {MAX_MEMBER_BYTES:,} bytes")
    stream = tar.extractfile(member)
    return b"" if stream is None else stream.read()
