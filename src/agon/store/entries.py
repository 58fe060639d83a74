"""Store entries of ledgers: the hot path, so statements go to the driver directly."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from operator import attrgetter
from typing import Any

import orjson
from sqlalchemy import func, select

from agon.entities.contests import ExistingEntry, NewEntry, NewRecords, StoredEntry
from agon.errors import Conflict, NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.database_errors import is_conflict, original
from agon.store.connection.transaction import Transaction
from agon.store.schema import ENTRIES

_PORTION = 10_000
_FEW = 500
_AT_A_TIME = 20_000


class Entries:
    """Entries of ledgers in the database; they are added and read, never changed."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def append(self, contest_no: int, entries: Iterable[NewEntry]) -> int:
        """Add entries to a locked contest, fast for many; return how many.

        Raises:
            Conflict: a position, record key or external id exists.
        """
        rows = _Rows(contest_no, entries)
        try:
            return self._transaction.load(ENTRIES, rows)
        except Exception as error:
            if is_conflict(error):
                raise Conflict(_conflict_message(error, rows.last)) from error
            raise

    def insert(self, contest_no: int, records: NewRecords) -> None:
        """Add records to a locked contest, as fast as the database can.

        Raises:
            Conflict: a position, record key or external id exists.
        """
        try:
            self._insert(contest_no, records)
        except Exception as error:
            if is_conflict(error):
                raise Conflict(_conflict_message(error, None)) from error
            raise

    def insert_new(self, contest_no: int, records: NewRecords) -> bool:
        """Add records unless the key or external id of any exists; return whether they were added.

        SQLite rolls back a rejected statement only. PostgreSQL would need a savepoint for each
        batch, so existing records are looked up first.
        """
        if not self._transaction.on_sqlite or self._any_replaced(contest_no):
            names = [name for name in records.external_ids or () if name is not None]
            keys = [key for key in records.records if key is not None]
            if len(set(names)) < len(names) or len(set(keys)) < len(keys):
                return False
            if self.existing(contest_no, records=keys, external_ids=names):
                return False
        if not self._transaction.on_sqlite:
            self.insert(contest_no, records)
            return True
        return self._insert_or_undo(contest_no, records)

    def _insert_or_undo(self, contest_no: int, records: NewRecords) -> bool:
        """Insert a batch on SQLite; undo it and return false if not all of it is new."""
        self._transaction.query("SAVEPOINT batch")
        try:
            self._insert(contest_no, records)
        except Exception as error:
            if not is_conflict(error):
                raise  # a full disk has ended the transaction already
            self._transaction.query("ROLLBACK TO batch")
            self._transaction.query("RELEASE batch")
            return False
        self._transaction.query("RELEASE batch")
        return True

    def _insert(self, contest_no: int, new: NewRecords) -> None:
        """Insert records; the value of a column that all share is bound once."""
        count = len(new.lines)
        same: dict[str, Any] = {"contest_no": contest_no, "at": to_micros(new.at)}
        each: dict[str, Sequence[Any]] = {
            "seq": range(new.seq, new.seq + count),
            "line": new.lines,
            "sha256": new.heads,
            "record": new.records,
        }
        for name, values in (
            ("kind", new.kinds),
            ("table_name", new.tables),
            ("external_id", new.external_ids or (None,)),
        ):
            if len(set(values)) == 1:
                same[name] = values[0]
            else:
                each[name] = values
        self._transaction.insert_columns(ENTRIES, count, same, each)

    def after(
        self, contest_no: int, seq: int = 0, *, until: int | None = None, limit: int | None = None
    ) -> Iterator[StoredEntry]:
        """Yield entries later than ``seq`` in order, read in batches."""
        last = self._newest(contest_no)
        last = last if until is None else min(last, until)
        remaining = last if limit is None else limit
        # Ranges, not LIMIT: without statistics PostgreSQL would sort the whole rest each time.
        for start in range(seq, last, _PORTION):
            rows = self._transaction.query(
                "SELECT seq, line, sha256 FROM entries "
                "WHERE contest_no = ? AND seq > ? AND seq <= ? ORDER BY seq",
                [contest_no, start, min(start + _PORTION, last, start + remaining)],
            )
            for row in rows:
                yield StoredEntry(*row)
            remaining -= _PORTION
            if remaining <= 0:
                return

    def of_kind(
        self, contest_no: int, kinds: Collection[str], *, after: int = 0, until: int | None = None
    ) -> Iterator[StoredEntry]:
        """Yield entries of these kinds in order, without reading the others.

        Not for kinds that hold records; see :meth:`rows`.
        """
        last = self._newest(contest_no) if until is None else until
        each = [
            self._of_kind(contest_no, kind, after, last, batch=_FEW) for kind in sorted(set(kinds))
        ]
        return merge(*each, key=attrgetter("seq"))

    def newest_of_kind(
        self,
        contest_no: int,
        kinds: Collection[str],
        *,
        after: int = 0,
        until: int | None = None,
        batch: int = 1,
    ) -> Iterator[StoredEntry]:
        """Yield entries as :meth:`of_kind` does, the newest first.

        Args:
            contest_no: the contest.
            kinds: the kinds.
            after: the position after which they are.
            until: the last position; None: the newest.
            batch: number of entries of each kind that are read at a time: as many as are needed.
        """
        last = self._newest(contest_no) if until is None else until
        each = [
            self._of_kind(contest_no, kind, after, last, batch=batch, descending=True)
            for kind in sorted(set(kinds))
        ]
        return merge(*each, key=attrgetter("seq"), reverse=True)

    def _of_kind(
        self,
        contest_no: int,
        kind: str,
        after: int,
        until: int,
        *,
        batch: int,
        descending: bool = False,
    ) -> Iterator[StoredEntry]:
        """Yield entries of one kind; the conditions are those of the partial index."""
        source = "entries INDEXED BY entries_kind_idx" if self._transaction.on_sqlite else "entries"
        order = "DESC" if descending else "ASC"
        while rows := self._transaction.query(
            f"SELECT seq, line, sha256 FROM {source} WHERE contest_no = ? AND kind = ? "
            "AND kind <> 'record-added' AND kind <> 'record-replaced' "
            f"AND seq > ? AND seq <= ? ORDER BY seq {order} LIMIT ?",
            [contest_no, kind, after, until, batch],
        ):
            for row in rows:
                yield StoredEntry(*row)
            if len(rows) < batch:
                return
            if descending:
                until = rows[-1][0] - 1
            else:
                after = rows[-1][0]

    def existing(
        self,
        contest_no: int,
        *,
        records: Sequence[str] = (),
        external_ids: Sequence[str] = (),
        until: int | None = None,
    ) -> dict[str, ExistingEntry]:
        """Return the entries with these record keys (``votes/m7/j3``) or external ids, by key.

        The key of a submission is ``received/ID``. Entries after ``until`` are left out.
        """
        existing: dict[str, ExistingEntry] = {}
        for column, names in (("record", records), ("external_id", external_ids)):
            for name, seq, line in self._entries_named(contest_no, column, names, "seq, line"):
                if until is not None and seq > until:
                    continue
                if name not in existing or seq > existing[name].seq:
                    existing[name] = ExistingEntry(seq, line)
        return existing

    def existing_keys(self, contest_no: int, table: str, keys: Sequence[str]) -> set[str]:
        """Return those of some keys that the table has already."""
        rows = self._entries_named(contest_no, "record", keys, "table_name")
        return {name for name, table_name in rows if table_name == table}

    def position_at(self, contest_no: int, time: datetime, *, until: int | None = None) -> int:
        """Return the position of the last entry not later than a time; 0 if there is none.

        Entries after the position ``until`` are left out.

        Times never decrease along a ledger, so a binary search finds it without an index.
        """
        timestamp = to_micros(time)
        low, high = 0, self._newest(contest_no) if until is None else until
        while low < high:
            middle = (low + high + 1) // 2
            moment = self._time(contest_no, middle)
            if moment is not None and moment <= timestamp:
                low = middle
            else:
                high = middle - 1
        return low

    def time_of(self, contest_no: int, seq: int) -> datetime:
        """Return when an entry was made.

        Raises:
            NotFound: the ledger has no such position.
        """
        time = self._time(contest_no, seq)
        if time is None:
            raise NotFound(f"the ledger has no position {seq}; give an earlier one")
        return from_micros(time)

    def rows(
        self, contest_no: int, table: str, *, after: int = 0, until: int | None = None, limit: int
    ) -> list[StoredEntry]:
        """Return entries that hold records of a table, after a position."""
        bound = " AND seq <= ?" if until is not None else ""
        values = [contest_no, table, after, *([until] if until is not None else []), limit]
        rows = self._transaction.query(
            "SELECT seq, line, sha256 FROM entries WHERE contest_no = ? AND table_name = ? "
            f"AND seq > ?{bound} ORDER BY seq LIMIT ?",
            values,
        )
        return [StoredEntry(*row) for row in rows]

    def _any_replaced(self, contest_no: int) -> bool:
        """Return whether there are replaced records, which the unique indexes leave out."""
        return any(
            self._transaction.query(
                f"SELECT 1 FROM entries INDEXED BY entries_replaced_{column}_idx "
                f"WHERE contest_no = ? AND {column} IS NOT NULL AND kind = 'record-replaced' "
                "LIMIT 1",
                [contest_no],
            )
            for column in ("record", "external_id")
        )

    def _newest(self, contest_no: int) -> int:
        newest = select(func.max(ENTRIES.c.seq)).where(ENTRIES.c.contest_no == contest_no)
        return self._transaction.scalar(newest) or 0

    def _time(self, contest_no: int, seq: int) -> int | None:
        sql = "SELECT at FROM entries WHERE contest_no = ? AND seq = ?"
        rows = self._transaction.query(sql, [contest_no, seq])
        return rows[0][0] if rows else None

    def _entries_named(
        self, contest_no: int, column: str, names: Sequence[str], columns: str
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the entries with these names; the conditions are those of the partial indexes."""
        for start in range(0, len(names), _AT_A_TIME):
            part = list(names[start : start + _AT_A_TIME])
            values = orjson.dumps(part).decode() if self._transaction.on_sqlite else part
            for way, index in (
                ("<>", f"entries_{column}_key"),
                ("=", f"entries_replaced_{column}_idx"),
            ):
                source, among = f"entries INDEXED BY {index}", "IN (SELECT value FROM json_each(?))"
                if not self._transaction.on_sqlite:
                    source, among = "entries", "= ANY(?)"
                yield from self._transaction.query(
                    f"SELECT {column}, {columns} FROM {source} WHERE contest_no = ? "
                    f"AND {column} {among} AND {column} IS NOT NULL "
                    f"AND kind {way} 'record-replaced'",
                    [contest_no, values],
                )


class _Rows:
    """Entries as rows of the table; ``last`` is the last one that was read."""

    def __init__(self, contest_no: int, entries: Iterable[NewEntry]) -> None:
        self._contest_no = contest_no
        self._entries = entries
        self.last: NewEntry | None = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        no, time_before, counted = self._contest_no, None, 0
        for entry in self._entries:
            self.last = entry
            seq, kind, time, *rest = entry
            if time is not time_before:  # most of a batch have the same time
                time_before, counted = time, to_micros(time)
            yield (no, seq, kind, counted, *rest)


def _conflict_message(error: BaseException, last: NewEntry | None) -> str:
    """Return a message with the position, record or external id that exists."""
    cause = original(error)
    diagnosis = getattr(cause, "diag", None)
    if diagnosis is not None:  # PostgreSQL names the values: Key (contest_no, record)=(1, v/m7)
        broken = diagnosis.constraint_name or ""
        values = (diagnosis.message_detail or "").partition(")=(")[2].rpartition(")")[0]
        key = values.partition(", ")[2]
    else:  # SQLite stops at the entry that broke the rule
        broken = str(cause)
        key = "" if last is None else str(_looked_up(broken, last))
    column = next((word for word in _LOOKED_UP if word in broken), "seq")
    return f"the ledger has the {_LOOKED_UP[column]} {key} already; read it and try again"


def _looked_up(broken: str, entry: NewEntry) -> object:
    return getattr(entry, next((word for word in _LOOKED_UP if word in broken), "seq"))


_LOOKED_UP = {"external_id": "external id", "record": "record", "seq": "position"}
