"""Store what was counted from the partitions of a folder, and find it again.

A set of counts is a folder of arrays with a description. It is written under another name and
renamed when it is complete, so a killed run leaves nothing that is read.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pyarrow as pa

from agon.errors import Unreadable
from agon.kernel.fingerprints import sha256
from agon.records.partitions import Partition, Stamp

Values = Any
"""An array of numbers, or an Arrow array of ids."""

_Sizes = Mapping[str, tuple[int, bool]]
"""The size of each array's file, and whether it is an Arrow array."""

_FORMAT: Final = 3
_PREFIX: Final = "counts-"
_NAMES: Final = _PREFIX + "[0-9a-f]" * 16
_UNFINISHED: Final = "unfinished-"
_DESCRIPTION: Final = "counts.json"


@dataclass(frozen=True)
class StoredCounts:
    """What was counted from some partitions.

    Attributes:
        partitions: table and hash of each file, in order.
        integer_ids: the ``(table, column)`` of all ids that are integers.
        rows: the number of rows of all tables.
        key_ranges: smallest, largest and number of the keys of tables whose key is an integer.
        arrays: what a discipline counted; arrays are read from disk where they are used. Integers
            have the type of fewest bytes that all of an array fit into.
    """

    partitions: tuple[tuple[str, str], ...]
    integer_ids: frozenset[tuple[str, str]]
    rows: int
    key_ranges: Mapping[str, tuple[int, int, int]]
    arrays: Mapping[str, Values]

    def known(self, partitions: Sequence[Partition]) -> dict[str, int] | None:
        """Return how many of each table's files are counted, if those are its first ones."""
        tables: dict[str, list[str]] = {}
        for partition in partitions:
            tables.setdefault(partition.table, []).append(partition.sha256)
        counted: dict[str, list[str]] = {}
        for table, digest in self.partitions:
            counted.setdefault(table, []).append(digest)
        for table, digests in counted.items():
            if tables.get(table, [])[: len(digests)] != digests:
                return None
        return {table: len(digests) for table, digests in counted.items()}


def find_counts(folder: Path, key: str, partitions: Sequence[Partition]) -> StoredCounts | None:
    """Return stored counts of the first partitions; None: there are none, or they are damaged.

    Args:
        folder: the folder of counts.
        key: the hash of all that counts depend on next to the partitions.
        partitions: the present ones.
    """
    candidates = []
    for path in folder.glob(_NAMES):
        with suppress(OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            counts = _read(path, key)
            if counts is not None and counts.known(partitions) is not None:
                candidates.append(counts)
    return max(candidates, key=lambda counts: counts.rows, default=None)


def hashes_of(folder: Path) -> dict[tuple[str, Stamp], str]:
    """Return the hashes of files, by name and stamp, from which counts are stored."""
    hashes = {}
    for path in folder.glob(_NAMES):
        with suppress(OSError, ValueError, KeyError, TypeError):
            for name, stamp, digest in orjson.loads((path / _DESCRIPTION).read_bytes())["stamps"]:
                hashes[name, tuple(stamp)] = digest
    return hashes


def store_counts(
    folder: Path, key: str, counts: StoredCounts, arrays: Iterable[tuple[str, Values]],
    *, settle: Callable[[], Sequence[Partition] | None],
) -> None:  # fmt: skip
    """Store counts, in the place of others with the same key.

    Args:
        folder: the folder of counts.
        key: the hash of all that counts depend on next to the partitions.
        counts: the counts without their arrays.
        arrays: name and values of each array, which is written before the next one is computed.
        settle: returns the files that were counted as they are now; None: one changed.

    Raises:
        Unreadable: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            for left in folder.glob(f"{_UNFINISHED}*"):  # by a killed process: we hold the lock
                shutil.rmtree(left)
            older = [path for path in folder.glob(_NAMES) if _is_of(path, key)]
            name = sha256({"key": key, "partitions": counts.partitions})[:16]
            unfinished = folder / f"{_UNFINISHED}{name}"
            sizes = _write(unfinished, arrays)
            partitions = settle()
            if partitions is None:
                shutil.rmtree(unfinished)
                return
            described = _describe(key, counts, partitions, sizes)
            (unfinished / _DESCRIPTION).write_bytes(orjson.dumps(described))
            _flush(unfinished / _DESCRIPTION)
            for path in older:
                shutil.rmtree(path)
            unfinished.rename(folder / f"{_PREFIX}{name}")
    except OSError as error:
        raise Unreadable(f"{folder} cannot be written ({error.strerror or error})") from None


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _is_of(path: Path, key: str) -> bool:
    """Return whether a folder has counts with a key, or counts that cannot be read."""
    try:
        return bool(orjson.loads((path / _DESCRIPTION).read_bytes())["key"] == key)
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _describe(
    key: str, counts: StoredCounts, partitions: Sequence[Partition], sizes: _Sizes
) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "key": key,
        "partitions": counts.partitions,
        "integer_ids": sorted(counts.integer_ids),
        "rows": counts.rows,
        "key_ranges": counts.key_ranges,
        "stamps": [(each.name, each.stamp, each.sha256) for each in partitions if each.settled],
        "arrays": sizes,
    }


def _write(path: Path, arrays: Iterable[tuple[str, Values]]) -> _Sizes:
    """Write arrays into a new folder."""
    path.mkdir()
    sizes = {}
    for name, values in arrays:
        file = path / name
        if isinstance(values, pa.Array):
            with pa.OSFile(str(file), "wb") as sink:
                batch = pa.record_batch([values], names=[name])
                with pa.ipc.new_file(sink, batch.schema) as writer:
                    writer.write_batch(batch)
        else:
            with file.open("wb") as opened:
                np.save(opened, _narrow(values), allow_pickle=False)
        sizes[name] = file.stat().st_size, isinstance(values, pa.Array)
        _flush(file)
    return sizes


def _narrow(values: Values) -> Values:
    """Return integers in as few bytes as all of them fit into."""
    if values.dtype.kind == "i" and len(values):
        low, high = int(values.min()), int(values.max())
        for kind in (np.int8, np.int16, np.int32):
            if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
                return values.astype(kind)
    return values


def _flush(file: Path) -> None:
    """Write a file to the disk, so that a loss of power leaves no file of the right size only."""
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path, key: str) -> StoredCounts | None:
    described = orjson.loads((path / _DESCRIPTION).read_bytes())
    if described["format"] != _FORMAT or described["key"] != key:
        return None
    arrays: dict[str, Values] = {}
    for name, (size, is_arrow) in described["arrays"].items():
        file = path / name
        if file.stat().st_size != size:
            return None
        if is_arrow:
            arrays[name] = pa.ipc.open_file(pa.memory_map(str(file))).get_batch(0).column(0)
        else:
            arrays[name] = np.load(file, mmap_mode="r", allow_pickle=False).view(np.ndarray)
    return StoredCounts(
        tuple((table, digest) for table, digest in described["partitions"]),
        frozenset((table, column) for table, column in described["integer_ids"]),
        described["rows"],
        {table: tuple(ends) for table, ends in described["key_ranges"].items()},
        arrays,
    )
