"""Write a whole database as one archive, and read it into an empty one, of either kind.

An archive is a tar, compressed by gzip: first ``agon.json`` (its form, the revision, when it was
made, each table's columns), then for each table portions ``TABLE/000001.ndjson`` of one JSON list
for each row (bytes as Base64), last ``manifest.json`` with each table's number of rows and the
SHA-256 over its portions. Neither writing nor reading holds more than a portion in memory. One of
an earlier revision is read into a database of that revision, which is then brought to this one.
"""

import hashlib
import io
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson
from sqlalchemy import Column, LargeBinary, MetaData, Table, func, select, text

from agon.errors import Unreadable
from agon.store.migrations import NEWEST, known, revision
from agon.store.schema import METADATA
from agon.store.transactions import Transaction

FORMAT: Final = 1
LARGEST_PORTION: Final = 64 * 1024 * 1024
"""No portion of an archive is larger, in bytes."""

_PORTION_BYTES: Final = 4 * 1024 * 1024
_ROWS: Final = 2000
_HEADER: Final = "agon.json"
_MANIFEST: Final = "manifest.json"
_DAMAGED: Final = "take an archive that `agon db backup` wrote, whole"


@dataclass(frozen=True, kw_only=True)
class Archived:
    """Hold what an archive has: the revision, when it was made, rows by table."""

    revision: str
    at: str
    rows: Mapping[str, int]


def write_archive(to: Transaction, target: Path, *, now: datetime) -> Archived:
    """Write all tables, as one transaction sees them, to a file in place of what it holds."""
    tables, at = METADATA.sorted_tables, now.isoformat()
    header = {
        "format": FORMAT,
        "revision": NEWEST,
        "at": at,
        "tables": _layout(tables),
    }
    sums: dict[str, dict[str, Any]] = {}
    with tarfile.open(target, "w:gz", compresslevel=1) as tar:
        _add(tar, _HEADER, orjson.dumps(header))
        for table in tables:
            digest, rows = hashlib.sha256(), 0
            for number, (count, portion) in enumerate(_portions(to, table), 1):
                digest.update(portion)
                rows += count
                _add(tar, f"{table.name}/{number:06}.ndjson", portion)
            sums[str(table.name)] = {"rows": rows, "sha256": digest.hexdigest()}
        _add(tar, _MANIFEST, orjson.dumps({"tables": sums}))
    return Archived(
        revision=NEWEST,
        at=at,
        rows={name: found["rows"] for name, found in sums.items()},
    )


def archived_revision(source: Path) -> str:
    """Return the revision of the database that an archive was written from.

    Raises:
        Unreadable: it is no archive, or was written by a newer agon.
    """
    with _opened(source) as tar:
        found: str = _header(tar, iter(tar))["revision"]
        return found


def read_archive(to: Transaction, source: Path) -> Archived:
    """Read an archive into empty tables of its own revision.

    The caller's transaction keeps all of it or nothing.

    Raises:
        Unreadable: it is no archive, of another revision, damaged, or not whole.
    """
    with _opened(source) as tar:
        return _read(to, tar)


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(source, "r|gz") as tar:
            yield tar
    except (tarfile.TarError, EOFError, OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{source.name} is no whole archive ({error}); {_DAMAGED}") from error


def _header(tar: tarfile.TarFile, members: Iterator[tarfile.TarInfo]) -> dict[str, Any]:
    header: dict[str, Any] = orjson.loads(_content(tar, next(members, None), _HEADER))
    if header["format"] != FORMAT or header["revision"] not in known():
        raise Unreadable(
            f"the archive is of revision {header['revision']}, which this agon does not know: "
            "restore it with the agon that wrote it, or a newer one"
        )
    return header


def _read(to: Transaction, tar: tarfile.TarFile) -> Archived:
    members = iter(tar)
    header = _header(tar, members)
    tables = _tables(to, header["tables"])
    if revision(to.connection) != header["revision"] or header["tables"] != _layout(
        tables.values()
    ):
        raise ValueError(f"its tables are not those of revision {header['revision']}")
    sums = {name: hashlib.sha256() for name in tables}
    rows = dict.fromkeys(tables, 0)
    for member in members:
        if member.name == _MANIFEST:
            said = orjson.loads(_content(tar, member, _MANIFEST))["tables"]
            found = {
                name: {"rows": rows[name], "sha256": sums[name].hexdigest()} for name in tables
            }
            if said != found:
                broken = sorted(name for name in tables if said.get(name) != found[name])
                raise Unreadable(f"the archive is damaged in {', '.join(broken)}; {_DAMAGED}")
            _continue_numbers(to, tables.values())
            return Archived(revision=header["revision"], at=header["at"], rows=rows)
        name = member.name.partition("/")[0]
        portion = _content(tar, member, member.name)
        sums[name].update(portion)
        rows[name] += to.load(tables[name], _rows(tables[name], portion))
    raise Unreadable(f"the archive ends before its manifest; {_DAMAGED}")


def _layout(tables: Iterable[Table]) -> dict[str, list[str]]:
    return {str(table.name): [str(column.name) for column in table.columns] for table in tables}


def _tables(to: Transaction, layout: Mapping[str, Sequence[str]]) -> dict[str, Table]:
    """Return the database's tables in the archive's order, and their columns; others are left out.

    Those of this revision are the schema's; those of an earlier one are read from the database.
    """
    if layout == _layout(METADATA.sorted_tables):
        return {str(table.name): table for table in METADATA.sorted_tables}
    found = MetaData()
    found.reflect(bind=to.connection)
    return {
        name: Table(name, MetaData(), *(
            Column(column, found.tables[name].columns[column].type)
            for column in layout[name] if column in found.tables[name].columns
        ))
        for name in layout if name in found.tables and name != "alembic_version"
    }  # fmt: skip


def is_empty(to: Transaction) -> bool:
    """Say whether no table has a row."""
    return not any(to.first(select(text("1")).select_from(table).limit(1)) is not None
                   for table in METADATA.sorted_tables)  # fmt: skip


def _portions(to: Transaction, table: Table) -> Iterator[tuple[int, bytes]]:
    """Yield a table's rows as lines, with how many."""
    write = _row_writer(table)
    buffer, count = io.BytesIO(), 0
    for rows in to.stream(select(table).order_by(*table.primary_key), portion=_ROWS):
        for row in rows:
            buffer.write(write(row))
            count += 1
            if buffer.tell() >= _PORTION_BYTES:
                yield count, buffer.getvalue()
                buffer, count = io.BytesIO(), 0
    if count:
        yield count, buffer.getvalue()


def _row_writer(table: Table) -> Callable[[Sequence[Any]], bytes]:
    binary = _binary(table)

    def write(row: Sequence[Any]) -> bytes:
        values = list(row)
        for place in binary:
            if values[place] is not None:
                values[place] = b64encode(values[place]).decode()
        return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)

    return write


def _rows(table: Table, portion: bytes) -> Iterator[list[Any]]:
    binary, width = _binary(table), len(table.columns)
    for line in portion.splitlines():
        values = orjson.loads(line)
        if len(values) != width:
            raise ValueError(f"a row of {table.name} has {len(values)} values, not {width}")
        for place in binary:
            if values[place] is not None:
                values[place] = b64decode(values[place], validate=True)
        yield values


def _binary(table: Table) -> list[int]:
    return [
        place for place, column in enumerate(table.columns) if isinstance(column.type, LargeBinary)
    ]


def _continue_numbers(to: Transaction, tables: Any) -> None:
    """Let PostgreSQL number new rows after those that came."""
    if to.on_sqlite:
        return
    for table in tables:
        if "no" in table.primary_key.columns:
            newest = to.scalar(select(func.max(table.c.no)))
            sequence = func.pg_get_serial_sequence(table.name, "no")
            to.scalar(select(func.setval(sequence, newest or 1, newest is not None)))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    tar.addfile(member, io.BytesIO(content))


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> bytes:
    if member is None or member.name != name or not member.isfile():
        raise ValueError(f"{name} is missing")
    if member.size > LARGEST_PORTION:
        raise ValueError(f"{name} is larger than {LARGEST_PORTION:,} bytes")
    stream = tar.extractfile(member)
    return b"" if stream is None else stream.read()
