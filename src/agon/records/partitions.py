"""Identify the Parquet files (partitions) of a folder by their content."""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agon.errors import Conflict
from agon.records.schemas import Schema
from agon.records.sources import source_kind
from agon.records.sources.folder import table_files
from agon.records.sources.parquet_folder import files_of

Stamp = tuple[int, ...]
"""Size, times of change of content and of status, number and device of a file."""

_SETTLED: Final = 2 * 10**9
"""Nanoseconds after which a file's times of change are those of no later change."""


@dataclass(frozen=True)
class Partition:
    """A Parquet file of a table.

    Attributes:
        table: the schema's table.
        name: the file's path in the folder.
        sha256: the hash of its bytes.
        stamp: of the file when it was hashed.
        settled: whether a later change of the file has another stamp.
    """

    table: str
    name: str
    sha256: str
    stamp: Stamp = field(compare=False)
    settled: bool = field(compare=False)


def partitions_of(
    schema: Schema, folder: Path, *, hashed: Mapping[tuple[str, Stamp], str]
) -> tuple[Partition, ...]:
    """Return the files of all tables, in the order in which their rows are read.

    Args:
        schema: the discipline's tables.
        folder: the folder.
        hashed: hashes by name and stamp of files that are not hashed again, because every change
            of a file sets its time of change of status.

    Raises:
        Conflict: the source is no folder of Parquet files.
        NotFound, Unreadable: it cannot be read.
    """
    if source_kind(schema, folder) != "folder":
        raise Conflict(f"{folder} is not a folder; counts are stored of folders of Parquet files")
    files = [
        (table, file)
        for table, names in table_files(schema, folder)[0].items()
        for name in names
        for file in (files_of(folder / name) if (folder / name).is_dir() else [folder / name])
    ]
    others = [file.name for _, file in files if not file.name.endswith(".parquet")]
    if others:
        raise Conflict(f"counts are stored of Parquet files, got {others[0]}; write it as Parquet")
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # hashing releases the interpreter lock
        return tuple(threads.map(lambda item: _partition(folder, item[0], item[1], hashed), files))


def settle(folder: Path, partitions: Sequence[Partition]) -> tuple[Partition, ...] | None:
    """Return the files as they are now; None: one changed since it was hashed.

    Those that had just changed when they were hashed are hashed again, since now they are settled.
    """
    try:
        now = tuple(
            each if each.settled else _partition(folder, each.table, folder / each.name, {})
            for each in partitions
        )
        stamps = [_stamp((folder / each.name).stat()) for each in now]
    except OSError:
        return None
    unchanged = now == tuple(partitions) and stamps == [each.stamp for each in partitions]
    return now if unchanged else None


def _partition(
    folder: Path, table: str, file: Path, hashed: Mapping[tuple[str, Stamp], str]
) -> Partition:
    name = str(file.relative_to(folder))
    with file.open("rb") as opened:
        status = os.fstat(opened.fileno())
        stamp = _stamp(status)
        settled = status.st_ctime_ns < time.time_ns() - _SETTLED
        digest = hashed.get((name, stamp)) or hashlib.file_digest(opened, "sha256").hexdigest()
    return Partition(table, name, digest, stamp, settled)


def _stamp(status: os.stat_result) -> Stamp:
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_size, *times, status.st_ino, status.st_dev
