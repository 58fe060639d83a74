"""Write tables and files atomically: completely or not at all.

Everything is written next to its target under a hidden name and moved there when it is complete; a
failure, an interrupt or a full disk leaves the target unchanged and no temporary file.
"""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, get_args

import pyarrow as pa

from agon.errors import Conflict, NotFound, Unavailable
from agon.kernel.progress import count_steps
from agon.records.raw import MemoryEngine, literal, quote

TableFormat = Literal["parquet", "csv", "ndjson"]
FORMATS: Final[tuple[TableFormat, ...]] = get_args(TableFormat)


def write_tables(
    tables: Mapping[str, pa.Table],
    out: Path,
    *,
    format: TableFormat = "parquet",  # noqa: A002 - the word of `--format`
) -> None:
    """Write a folder with one file per table: ``<table>.parquet``, ``.csv`` or ``.ndjson``.

    Text formats give times in UTC (``2026-11-21T10:00:00.000000Z``), and lists and structs in CSV
    as JSON. Written tables have the same content hash when they are read again.

    Args:
        tables: the tables by name; ``truth/people`` is the table ``people`` in a folder inside.
        out: the folder to make; its parent must be there, and it must be empty if it is.
        format: one of :data:`FORMATS`.

    Raises:
        Conflict: there is a file at ``out``, or a folder that is not empty.
        NotFound: the parent folder is missing.
        Unavailable: the folder cannot be written (permission, disk full).
        ValueError: there is no such format, or a table's name leads out of the folder.
    """
    if format not in FORMATS:
        raise ValueError(f"no such format: {format}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Conflict(f"{out} exists; name a new or an empty folder")
    target = out.resolve()
    with _beside(target) as hidden:
        hidden.mkdir()
        for name, table in count_steps(tables.items(), label="tables", total=len(tables)):
            if ".." in Path(name).parts or Path(name).is_absolute():
                raise ValueError(f"{name} leads out of the folder")
            file = hidden / f"{name}.{format}"
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_table(table, file, format)
        hidden.replace(target)


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, in place of the one that may be there, when all of its content is made.

    A path that is no regular file (``/dev/stdout``, a pipe) is written as it comes.

    Args:
        path: the file; its folder must be there.
        content: bytes, or pieces of them; the pieces may be made while they are written.

    Raises:
        Conflict: ``path`` is a folder.
        NotFound: its folder is missing.
        Unavailable: it cannot be written (permission, disk full).
    """
    pieces = (content,) if isinstance(content, bytes) else content
    if path.is_dir():
        raise Conflict(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():
        with _telling(path), path.open("wb") as file:
            file.writelines(pieces)
        return
    target = path.resolve()  # a link keeps pointing where it points
    with _beside(target) as hidden:
        with hidden.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, hidden)
        hidden.replace(target)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Yield a hidden path next to the target; a file still there at the end is removed."""
    if not target.absolute().parent.is_dir():
        raise NotFound(f"{target.parent}: no such folder; create it first")
    hidden = target.absolute().parent / f".{target.name[:100]}-{secrets.token_hex(4)}"
    try:
        with _telling(target):
            yield hidden
    finally:
        if hidden.is_dir():
            shutil.rmtree(hidden, ignore_errors=True)
        else:
            hidden.unlink(missing_ok=True)


@contextmanager
def _telling(target: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unavailable(f"{target} cannot be written ({error.strerror or error})") from None


def _write_table(table: pa.Table, file: Path, form: str) -> None:
    if form == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file)
        return
    import duckdb

    engine = MemoryEngine()
    try:
        engine.connection.register("t", table)
        described = engine.connection.execute("DESCRIBE SELECT * FROM t").fetchall()
        columns = ", ".join(_column_sql(name, kind, form) for name, kind, *_ in described)
        options = "FORMAT csv, HEADER" if form == "csv" else "FORMAT json"
        engine.connection.execute(
            f"COPY (SELECT {columns} FROM t) TO {literal(str(file))} ({options})"
        )
    except duckdb.IOException as error:
        raise OSError(str(error).splitlines()[0]) from None
    finally:
        engine.close()


def _column_sql(name: str, kind: str, form: str) -> str:
    column = quote(name)
    value = column
    if kind in {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}:
        value = _time(f"({column}::TIMESTAMPTZ AT TIME ZONE 'UTC')")
    elif kind.startswith("TIMESTAMP"):
        value = _time(f"{column}::TIMESTAMP")
    elif form == "csv" and (kind.endswith("]") or kind.startswith(("STRUCT", "MAP"))):
        value = f"to_json({column})"
    return f"{value} AS {column}"


def _time(value: str) -> str:
    return f"strftime({value}, '%Y-%m-%dT%H:%M:%S.%fZ')"
