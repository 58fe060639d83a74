"""Store published boards: rows in chunks, ids in buckets, so that any page takes two reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from struct import iter_unpack
from typing import Any, Final
from zlib import crc32

import orjson
from sqlalchemy import Row, Select, delete, select, update

from agon.entities.contests import INDEX_BYTES, ROWS_PER_CHUNK, BoardSummary, Snapshot
from agon.errors import NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import Transaction, json_text, parse_json
from agon.store.schema import SNAPSHOT_IDS, SNAPSHOT_ORDERS, SNAPSHOT_ROWS, SNAPSHOTS

_IDS_PER_BUCKET: Final = 256
_INDEXES_PER_CHUNK: Final = 4096
_CHUNK_BYTES: Final = _INDEXES_PER_CHUNK * INDEX_BYTES
_AT_A_TIME: Final = 500
_NUMBERS_PER_CONTEST: Final = 1 << 32
"""Numbers of snapshots reserved for each contest: shared numbers would reveal hidden snapshots."""
_NAMES: Final = tuple(
    column.name for column in SNAPSHOTS.columns if column.name not in {"buckets", "summary"}
)
_PROOF: Final = f"SELECT {', '.join(_NAMES)} FROM snapshots"
"""Every page runs this query, so its text is built once."""


_NO_SUMMARY: Final = BoardSummary()


class Snapshots:
    """Published boards in the database: proofs permanently, rows until they are pruned."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        # Lines of the same chunk are often read in succession.
        self._last_read: tuple[tuple[int, bool, int, int], bytes] | None = None

    def add(
        self,
        snapshot: Snapshot,
        *,
        lines: Iterable[bytes],
        ids: Iterable[str],
        unscored: Iterable[bytes],
        summary: BoardSummary = _NO_SUMMARY,
    ) -> Snapshot:
        """Store a snapshot with its rows and return it with its number; its ``no`` is ignored.

        Args:
            snapshot: its proof.
            lines: one JSON line for each row, best first.
            ids: the rows' ids in that order.
            unscored: one JSON line for each id without a score.
            summary: what was counted of the board.
        """
        buckets = _buckets(ids)
        values: dict[str, Any] = {
            "no": self._next(snapshot.contest_no),
            "contest_no": snapshot.contest_no,
            "board": snapshot.board,
            "seq": snapshot.seq,
            "at": to_micros(snapshot.at),
            "published_at": to_micros(snapshot.published_at),
            "manifest": json_text(snapshot.manifest),
            "signature": snapshot.signature,
            "board_sha256": snapshot.board_sha256,
            "rows": snapshot.rows,
            "unscored": snapshot.unscored,
            "stored": snapshot.stored,
            "buckets": len(buckets),
            "summary": json_text(summary.values),
            "notes": json_text(list(snapshot.notes)) if snapshot.notes else None,
        }
        adding = self._transaction.insert(SNAPSHOTS).values(**values).returning(SNAPSHOTS.c.no)
        no: int = self._transaction.scalar(adding)
        self._transaction.load(SNAPSHOT_ROWS, _chunks(no, lines, unscored=False))
        self._transaction.load(SNAPSHOT_ROWS, _chunks(no, unscored, unscored=True))
        self._transaction.load(
            SNAPSHOT_IDS,
            ((no, number, orjson.dumps(bucket)) for number, bucket in enumerate(buckets)),
        )
        self._transaction.load(SNAPSHOT_ORDERS, _order_chunks(no, summary.orders))
        return replace(snapshot, no=no, manifest=parse_json(values["manifest"]))

    def _next(self, contest_no: int) -> int:
        """Return a contest's next number; the contest is locked."""
        first = (contest_no - 1) * _NUMBERS_PER_CONTEST
        [(newest,)] = self._transaction.query(
            "SELECT max(no) FROM snapshots WHERE no > ? AND no < ?",
            [first, first + _NUMBERS_PER_CONTEST],
        )
        return (first if newest is None else int(newest)) + 1

    def latest(self, contest_no: int, board: str, *, until: int | None = None) -> Snapshot | None:
        """Return the newest snapshot of a board made at or before position ``until``."""
        before = "" if until is None else " AND seq <= ?"
        rows = self._transaction.query_once(
            f"{_PROOF} WHERE contest_no = ? AND board = ?{before} "
            "ORDER BY seq DESC, no DESC LIMIT 1",
            [contest_no, board, *([] if until is None else [until])],
        )
        return _proof(rows[0]) if rows else None

    def get(self, no: int) -> Snapshot:
        """Return a snapshot.

        Raises:
            NotFound: there is no such snapshot.
        """
        rows = self._transaction.query_once(f"{_PROOF} WHERE no = ?", [no])
        if not rows:
            raise NotFound(f"there is no snapshot {no}; list the snapshots of the contest")
        return _proof(rows[0])

    def page(
        self,
        contest_no: int,
        *,
        board: str | None = None,
        until: int | None = None,
        before: int | None = None,
        stored_only: bool = False,
        limit: int = 100,
    ) -> list[Snapshot]:
        """Return snapshots, newest first, those numbered below ``before``.

        ``stored_only`` leaves out those whose rows are not stored.
        """
        listing = _of(contest_no, board, until)
        if stored_only:
            listing = listing.where(SNAPSHOTS.c.stored)
        if before is not None:
            listing = listing.where(SNAPSHOTS.c.no < before)
        listing = listing.order_by(SNAPSHOTS.c.no.desc()).limit(limit)
        return [_snapshot(row) for row in self._transaction.all(listing)]

    def lines(self, no: int, *, start: int, count: int, unscored: bool = False) -> list[bytes]:
        """Return rows' (or unscored ids') JSON lines from index ``start`` (from 0) on."""
        if count <= 0:
            return []
        first, last = start // ROWS_PER_CHUNK, (start + count - 1) // ROWS_PER_CHUNK
        key = (no, unscored, first, last)
        if self._last_read is None or self._last_read[0] != key:
            chunks = self._transaction.query(
                "SELECT lines FROM snapshot_rows WHERE snapshot_no = ? AND unscored = ? "
                "AND chunk BETWEEN ? AND ? ORDER BY chunk",
                key,
            )
            self._last_read = (key, b"\n".join(chunk for (chunk,) in chunks))
        text, skipped = self._last_read[1], start - first * ROWS_PER_CHUNK
        # What follows the last line stays in one piece.
        return text.split(b"\n", skipped + count)[skipped : skipped + count] if text else []

    def lines_at(self, no: int, indexes: Sequence[int]) -> list[bytes]:
        """Return rows' JSON lines at indexes that may be anywhere, in the order of the indexes."""
        wanted: dict[int, list[int]] = {}
        for index in indexes:
            wanted.setdefault(index // ROWS_PER_CHUNK, []).append(index)
        lines: dict[int, bytes] = {}
        for part in _parts(sorted(wanted)):
            marks = ", ".join("?" * len(part))
            chunks = self._transaction.query(
                "SELECT chunk, lines FROM snapshot_rows WHERE snapshot_no = ? AND unscored = ? "
                f"AND chunk IN ({marks})",
                [no, False, *part],
            )
            for chunk, text in chunks:
                split = text.split(b"\n")
                lines |= {index: split[index % ROWS_PER_CHUNK] for index in wanted[chunk]}
        return [lines[index] for index in indexes]

    def order(self, no: int, column: str, *, start: int, count: int) -> list[int]:
        """Return the indexes of rows in the order of a column, the largest value first.

        Args:
            no: the snapshot whose rows are stored.
            column: a column with an order.
            start: how many rows come before, from 0.
            count: the maximum number of rows.
        """
        if count <= 0:
            return []
        first, last = start // _INDEXES_PER_CHUNK, (start + count - 1) // _INDEXES_PER_CHUNK
        chunks = self._transaction.query_once(
            'SELECT row_indexes FROM snapshot_orders WHERE snapshot_no = ? AND "column" = ? '
            "AND chunk BETWEEN ? AND ? ORDER BY chunk",
            [no, column, first, last],
        )
        content = b"".join(chunk for (chunk,) in chunks)
        skipped = (start - first * _INDEXES_PER_CHUNK) * INDEX_BYTES
        cells = memoryview(content)[skipped : skipped + count * INDEX_BYTES]
        return [index for (index,) in iter_unpack("<I", cells)]

    def summary(self, no: int) -> dict[str, Any]:
        """Return the stored counts of a board; empty if its rows are not stored."""
        rows = self._transaction.query_once("SELECT summary FROM snapshots WHERE no = ?", [no])
        values: dict[str, Any] | None = parse_json(rows[0][0]) if rows else None
        return values or {}

    def add_to_summary(self, no: int, name: str, value: Any) -> None:
        """Store a value that was computed of a board later; without stored rows do nothing."""
        summary = self.summary(no)
        if summary:
            changed = update(SNAPSHOTS).where(SNAPSHOTS.c.no == no)
            self._transaction.change(changed.values(summary=json_text({**summary, name: value})))

    def row_indexes(self, no: int, ids: Sequence[str]) -> dict[str, int]:
        """Return the indexes (from 0) of ids among a stored snapshot's rows."""
        if len(ids) == 1:
            return self._row_index(no, ids[0])
        sizes = self._transaction.query_once("SELECT buckets FROM snapshots WHERE no = ?", [no])
        # A snapshot without buckets has no rows.
        if not sizes or not sizes[0][0]:
            return {}
        by_bucket: dict[int, list[str]] = {}
        for name in ids:
            by_bucket.setdefault(_bucket(name, sizes[0][0]), []).append(name)
        row_indexes: dict[str, int] = {}
        for part in _parts(sorted(by_bucket)):
            marks = ", ".join("?" * len(part))
            rows = self._transaction.query(
                "SELECT bucket, row_indexes FROM snapshot_ids WHERE snapshot_no = ? "
                f"AND bucket IN ({marks})",
                [no, *part],
            )
            for bucket, indexes in rows:
                bucket_indexes = orjson.loads(indexes)
                row_indexes |= {
                    name: bucket_indexes[name]
                    for name in by_bucket[bucket]
                    if name in bucket_indexes
                }
        return row_indexes

    def _row_index(self, no: int, name: str) -> dict[str, int]:
        """Return the index of one id, found by one query."""
        rows = self._transaction.query(
            "SELECT row_indexes FROM snapshot_ids WHERE snapshot_no = ? "
            "AND bucket = ? % (SELECT nullif(buckets, 0) FROM snapshots WHERE no = ?)",
            [no, crc32(name.encode()), no],
        )
        bucket_indexes = orjson.loads(rows[0][0]) if rows else {}
        return {name: bucket_indexes[name]} if name in bucket_indexes else {}

    def prune(self, contest_no: int, board: str, *, keep: Sequence[int]) -> int:
        """Delete the rows of all snapshots of a board except those numbered; return of how many."""
        stored = _of(contest_no, board, None).where(SNAPSHOTS.c.stored)
        numbers = set(keep)
        gone = [row.no for row in self._transaction.all(stored) if row.no not in numbers]
        self._last_read = None
        for part in _parts(gone):
            for table in (SNAPSHOT_ROWS, SNAPSHOT_IDS, SNAPSHOT_ORDERS):
                self._transaction.change(delete(table).where(table.c.snapshot_no.in_(part)))
            pruning = update(SNAPSHOTS).where(SNAPSHOTS.c.no.in_(part))
            self._transaction.change(pruning.values(stored=False, buckets=0, summary=None))
        return len(gone)


def _of(contest_no: int, board: str | None, until: int | None) -> Select[Any]:
    asking = select(SNAPSHOTS).where(SNAPSHOTS.c.contest_no == contest_no)
    if board is not None:
        asking = asking.where(SNAPSHOTS.c.board == board)
    if until is not None:
        asking = asking.where(SNAPSHOTS.c.seq <= until)
    return asking


def _chunks(
    no: int, lines: Iterable[bytes], *, unscored: bool
) -> Iterator[tuple[int, bool, int, bytes]]:
    rest, chunk = iter(lines), 0
    while part := list(islice(rest, ROWS_PER_CHUNK)):
        yield no, unscored, chunk, b"\n".join(part)
        chunk += 1


def _order_chunks(no: int, orders: Mapping[str, bytes]) -> Iterator[tuple[int, str, int, bytes]]:
    for column, indexes in orders.items():
        for chunk, start in enumerate(range(0, len(indexes), _CHUNK_BYTES)):
            yield no, column, chunk, indexes[start : start + _CHUNK_BYTES]


def _bucket(name: str, buckets: int) -> int:
    return crc32(name.encode()) % buckets


def _buckets(ids: Iterable[str]) -> list[dict[str, int]]:
    """Return ids in buckets, each with its index."""
    names = list(ids)
    count = -(-len(names) // _IDS_PER_BUCKET)
    buckets: list[dict[str, int]] = [{} for _ in range(count)]
    for index, name in enumerate(names):
        buckets[crc32(name.encode()) % count][name] = index
    return buckets


def _parts(values: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), _AT_A_TIME):
        yield values[start : start + _AT_A_TIME]


def _snapshot(row: Row[Any]) -> Snapshot:
    values = row._asdict()
    return _proof(tuple(values[name] for name in _NAMES))


def _proof(row: tuple[Any, ...]) -> Snapshot:
    values = dict(zip(_NAMES, row, strict=True))
    values["stored"] = bool(values["stored"])
    values["at"] = from_micros(values["at"])
    values["published_at"] = from_micros(values["published_at"])
    values["manifest"] = parse_json(values["manifest"])
    values["notes"] = tuple(parse_json(values["notes"])) if values["notes"] else ()
    return Snapshot(**values)
