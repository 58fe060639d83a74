"""Name rows without a key by what they say, so that a file that is sent again is recognized."""

from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from agon.app.contests.ingest.validation import ValidatedBatch

_BYTES: Final = 16
_PREFIX: Final = "row:"


class RowIdentities:
    """Names the rows of one request, or of one file, that have neither a key nor an external id.

    The n-th row of a table with the same content is the same record each time it is sent.
    """

    def __init__(self) -> None:
        self._times: Counter[bytes] = Counter()

    def name(self, batch: ValidatedBatch) -> ValidatedBatch:
        """Return a batch whose rows without a key have an external id."""
        if None not in batch.keys:
            return batch
        names = list(batch.external_ids or [None] * len(batch.keys))
        for index, (key, name) in enumerate(zip(batch.keys, names, strict=True)):
            if key is None and name is None:
                names[index] = self.of(batch.tables[index], batch.written[index])
        return replace(batch, external_ids=names)

    def of(self, table: str, written: bytes) -> str:
        """Return the name of the next row with a content.

        Args:
            table: its table.
            written: its normal form as JSON with sorted keys.

        Example:
            >>> names = RowIdentities()
            >>> first, second = (names.of("flags", b'{"user_id":1}') for _ in range(2))
            >>> first.rpartition(":")[0] == second.rpartition(":")[0], first[-2:], second[-2:]
            (True, ':1', ':2')
        """
        digest = blake2b(table.encode() + b"\0" + written, digest_size=_BYTES).digest()
        self._times[digest] += 1
        return f"{_PREFIX}{digest.hex()}:{self._times[digest]}"


class RepeatedRows:
    """Counts the rows without a key that were there already, as an earlier request had them."""

    def __init__(self) -> None:
        self._tables: Counter[str] = Counter()

    def add(self, table: str, name: str | None) -> None:
        """Count a repeated row if its name is one of :class:`RowIdentities`."""
        if name is not None and name.startswith(_PREFIX):
            self._tables[table] += 1

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each table that has such rows.

        Example:
            >>> repeated = RepeatedRows()
            >>> repeated.add("flags", RowIdentities().of("flags", b'{"user_id":1}'))
            >>> print(*repeated.notes)  # doctest: +NORMALIZE_WHITESPACE
            flags: 1 row without a key was there already and is no further record; equal rows that
            are records of their own need an id, or have to be sent in one request
        """
        return tuple(
            f"{table}: {count:,} row{'s' * (count > 1)} without a key "
            f"{'were' if count > 1 else 'was'} there already and "
            f"{'are no further records' if count > 1 else 'is no further record'}; equal rows that "
            "are records of their own need an id, or have to be sent in one request"
            for table, count in sorted(self._tables.items())
        )
