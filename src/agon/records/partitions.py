"""Identify the Parquet files (partitions) of a folder by their content."""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from agon.errors import Conflict
from agon.records.schemas import Schema
from agon.records.sources import source_kind
from agon.records.sources.folder import table_files
from agon.records.sources.parquet_folder import files_of


@dataclass(frozen=True)
class Partition:
    """A Parquet file of a table.

    Attributes:
        table: the schema's table.
        name: the file's path in the folder.
        sha256: the hash of its bytes.
        stamp: size, time of change and number of the file, when it was hashed.
    """

    table: str
    name: str
    sha256: str
    stamp: tuple[int, int, int] = field(compare=False)


def partitions_of(schema: Schema, folder: Path) -> tuple[Partition, ...]:
    """Return the files of all tables, in the order in which their rows are read.

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
        return tuple(threads.map(lambda item: _partition(folder, *item), files))


def are_unchanged(folder: Path, partitions: Sequence[Partition]) -> bool:
    """Return whether no file changed since it was hashed, by size, time and number."""
    try:
        stamps = [_stamp((folder / partition.name).stat()) for partition in partitions]
    except OSError:
        return False
    return stamps == [partition.stamp for partition in partitions]


def _partition(folder: Path, table: str, file: Path) -> Partition:
    with file.open("rb") as opened:
        stamp = _stamp(os.fstat(opened.fileno()))
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return Partition(table, str(file.relative_to(folder)), digest, stamp)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino
