"""Score a folder of partitions again after some were added, from stored counts of the others.

Counts belong to the files by their SHA-256, to the rules, and to the version of agon. Where none
fit, all rows are read and counted, and the counts are stored.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from agon.app.analysis.records import read_records
from agon.app.analysis.score import Result, rules_of
from agon.disciplines import discipline
from agon.editions import rules_sha256
from agon.errors import Conflict
from agon.kernel.fingerprints import sha256
from agon.records import Records
from agon.records.added import integer_ids_of, key_ranges_of, read_added
from agon.records.partitions import Partition, partitions_of, settle
from agon.records.stored_counts import StoredCounts, find_counts, hashes_of, store_counts
from agon.version import __version__


def score_incrementally(
    of: str,
    source: str | Path,
    cache_dir: str | Path,
    *,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Result:
    """Score a folder of Parquet files; of files that are counted already, only new rows are read.

    The boards are those of a full run.

    Args:
        of: the name of the discipline.
        source: the folder; a table is a file, or a folder of files.
        cache_dir: the folder of stored counts; it is created.
        edition: ``scores0002-1`` or ``community/scores0002-1`` (None: the discipline's default).
        overrides: values of rules that replace the edition's; they may be text.

    Raises:
        NotFound: no such discipline, edition or folder.
        InvalidRule: with all unknown rules and values out of bounds.
        Conflict: counts of the discipline, of the source or under the rules are not stored.
        InvalidRecords: with the issues of all invalid rows.
        Unreadable: a folder cannot be read or written.
    """
    chosen = discipline(of)
    released, rules = rules_of(of, edition, overrides)
    if chosen.count is None:
        raise Conflict(f"counts of {of} are not stored; leave out --cache-dir")
    folder, cache = Path(source), Path(cache_dir)
    partitions = partitions_of(chosen.schema, folder, hashed=hashes_of(cache))
    key = sha256({"agon": __version__, "discipline": of, "rules": rules_sha256(rules)})
    records = _read(of, folder, find_counts(cache, key, partitions), partitions)
    scored = chosen.score(records, rules)
    arrays = chosen.count(scored)
    if arrays is not None:
        files = tuple((partition.table, partition.sha256) for partition in partitions)
        rows = sum(records.count(table.name) for table in chosen.schema)
        counts = StoredCounts(files, integer_ids_of(records), rows, key_ranges_of(records), {})
        # A file that was written during the run may have other rows than those counted.
        store_counts(cache, key, counts, arrays, settle=partial(settle, folder, partitions))
    return Result(chosen, released, rules, records, None, scored)


def _read(
    of: str, folder: Path, stored: StoredCounts | None, partitions: tuple[Partition, ...]
) -> Records:
    """Return the records: the added rows are checked, or all rows where no counts fit."""
    known = None if stored is None else stored.known(partitions)
    if stored is not None and known is not None:
        added_to = discipline(of)
        records = read_added(
            added_to.schema, folder, stored, known=known, looked_up=added_to.looked_up
        )
        if records is not None:
            return records
    return read_records(of, folder)
