"""Append-only tables in the engine's memory, readable as they were at any position.

Every row has the number of its record and spans of positions at which it is visible: it is visible
at position S if a span has ``from <= S`` and no end, or an end after S. Adding, hiding or showing a
row changes nothing at earlier positions, so every earlier state can still be read. A row that
refers to a hidden row is hidden too (see ``dependencies.py``).
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from typing import Any

import pyarrow as pa

from agon.records.checks.dependencies import EarlierReferences, dependencies_of, orphan_rows
from agon.records.counting import failing
from agon.records.json_rows import raw_rows, text_index
from agon.records.raw import MemoryEngine, quote
from agon.records.schemas import Kind, Schema, Table
from agon.records.tables import TablesView
from agon.records.values.casting import integer_id, sql_type
from agon.records.values.typed import casts

_MAX_PENDING_ROWS = 100_000  # kept as Python objects, which need much memory
_SPANS = ("_row", "_from", "_until")


@dataclass
class _PendingRows:
    """Rows of one table that are not in the engine yet."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    ends: list[int | None] = field(default_factory=list)


_NONE = _PendingRows()
_NUMBERS = count(1)


class AppendOnlyTables:
    """The typed tables of one discipline, appended to row by row, readable at any position.

    The visible records equal those of :func:`agon.records.read_rows` for the visible rows, in the
    order of their numbers; rows whose reference is not visible are left out. Rows have to be valid;
    a value that cannot be read is empty. For use by one thread at a time.

    Args:
        schema: the tables.
        engine: where to store them (several may share one); None starts a new engine.
        source: the source of the records, as messages name it.

    Example:
        >>> from agon.disciplines import discipline
        >>> tables = AppendOnlyTables(discipline("dojo").schema)
        >>> tables.append("problems", [{"id": 1}, {"id": 2}], [2, 3])
        >>> tables.end([2], at=5)
        >>> [tables.records(at).count("problems") for at in (1, 2, 4, 5)]
        [0, 1, 2, 1]
        >>> tables.close()
    """

    def __init__(
        self,
        schema: Schema,
        *,
        engine: MemoryEngine | None = None,
        source: str = "ledger",
    ) -> None:
        self.schema = schema
        self.source = source
        self._own = engine is None
        self._engine = engine or MemoryEngine()
        self._connection = self._engine.connection
        self._space = f"grown_{next(_NUMBERS)}"
        self._tables = [table.name for table in schema]
        self._families = schema.families()
        self._dependencies = dependencies_of(schema)
        self._to_earlier = EarlierReferences(self._connection, self._rows)
        self._first_end: dict[str, int] = {}
        # Families with ids that are text: table and record of the first one.
        self._text: dict[int, tuple[str, int]] = {}
        self._stored: set[str] = set()
        self._unordered: set[str] = set()
        self._last: dict[str, int] = {}
        # The number (from 1) of each record's table, by the record's number.
        self._table_of = array("B")
        self._pending_rows: dict[str, _PendingRows] = {}
        self._ended: set[int] = set()
        # Not in the engine yet: ends of stored rows, and new spans of rows shown again.
        self._ends: dict[int, int] = {}
        self._begun: dict[int, list[list[int | None]]] = {}
        self._newest = 0
        self._shown = 0
        self._pending_drops: list[str] = []
        self._caches: dict[str, Any] = {}
        self._connection.execute(f"CREATE SCHEMA {self._space}")

    def append(self, table: str, rows: Sequence[Mapping[str, Any]], seqs: Sequence[int]) -> None:
        """Add rows to a table; each is visible from the position of its own number on.

        Args:
            table: the table's name.
            rows: valid rows, as JSON gives them; keys that the schema does not have are ignored.
            seqs: the number of each row's record, ascending and unique.

        Raises:
            ValueError: the numbers are not ascending.
        """
        if not seqs:
            return
        last = self._last.get(table, -1)
        if not all(before < after for before, after in pairwise([last, *seqs])):
            raise ValueError(f"records of {table} come after {last}; give ascending numbers")
        self._last[table] = seqs[-1]
        self._newest = max(self._newest, seqs[-1])
        number = self._tables.index(table) + 1
        table_of = self._table_of
        if seqs[-1] >= len(table_of):
            table_of.frombytes(bytes(seqs[-1] + 1 - len(table_of) + len(table_of) // 8))
        for seq in seqs:
            table_of[seq] = number
        pending = self._pending_rows.setdefault(table, _PendingRows())
        pending.rows += rows
        pending.seqs += seqs
        pending.ends += [None] * len(seqs)
        if sum(len(before.seqs) for before in self._pending_rows.values()) > _MAX_PENDING_ROWS:
            self._store()

    def end(self, seqs: Iterable[int], *, at: int) -> None:
        """Hide records from position ``at`` on; hidden ones stay hidden.

        Raises:
            ValueError: there is no such record.
        """
        self._newest = max(self._newest, at)
        for seq in seqs:
            table = self._table(seq)
            if seq in self._ended:
                continue
            self._ended.add(seq)
            self._first_end[table] = min(at, self._first_end.get(table, at))
            pending = self._pending_rows.get(table, _NONE)
            row = bisect_left(pending.seqs, seq)
            if seq in self._begun:
                self._begun[seq][-1][1] = at
            elif row < len(pending.seqs) and pending.seqs[row] == seq:
                pending.ends[row] = at
            else:
                self._ends[seq] = at

    def begin(self, seqs: Iterable[int], *, at: int) -> None:
        """Show hidden records again from position ``at`` on; visible ones stay visible.

        Raises:
            ValueError: there is no such record.
        """
        self._newest = max(self._newest, at)
        for seq in seqs:
            self._unordered.add(self._table(seq))
            if seq in self._ended:
                self._ended.remove(seq)
                self._begun.setdefault(seq, []).append([at, None])

    def records(self, at: int | None = None, *, without: Collection[int] = ()) -> TablesView:
        """Return the records visible at a position (None: at the newest).

        Args:
            at: the position.
            without: numbers of records to leave out as if they did not exist.
        """
        self._store()
        self._drop_released()
        self._shown += 1
        space = f"{self._space}_{self._shown}"
        self._connection.execute(f"CREATE SCHEMA {space}")
        at = self._newest if at is None else at
        visible = self._visible_rows(at, without, space)
        integer_ids = self._integer_ids(visible, at)
        views = (self._view(table, space, visible, integer_ids) for table in self.schema)
        self._connection.execute("; ".join(views))
        present = self._present(visible)
        records = TablesView(self._engine, self.schema, self.source, present, space=space)
        records.caches = self._caches
        return records.release_into(self._pending_drops)

    def close(self) -> None:
        """Drop the tables; close the engine if this object started it."""
        if self._own:
            self._engine.close()
            return
        self._drop_released()
        self._connection.execute(f"DROP SCHEMA IF EXISTS {self._space} CASCADE")

    def _table(self, seq: int) -> str:
        number = self._table_of[seq] if 0 <= seq < len(self._table_of) else 0
        if not number:
            raise ValueError(f"there is no record {seq}; give the numbers of appended rows")
        return self._tables[number - 1]

    def _by_table(self, seqs: Iterable[int]) -> dict[str, list[int]]:
        grouped: dict[str, list[int]] = {}
        for seq in seqs:
            grouped.setdefault(self._table(seq), []).append(seq)
        return grouped

    def _store(self) -> None:
        """Write pending rows, ends and new spans to the engine."""
        for name, pending in self._pending_rows.items():
            self._insert(self.schema.table(name), pending)
        self._pending_rows = {}
        ends, self._ends = self._ends, {}
        for table, rows in self._by_table(ends).items():
            ending = pa.table({"row": rows, "at": [ends[row] for row in rows]})
            self._connection.register("ending", ending)
            self._connection.execute(
                f"UPDATE {self._relation(table)} AS t SET _until = e.at FROM ending e "
                "WHERE t._row = e.row AND t._until IS NULL"
            )
            self._connection.unregister("ending")
        begun, self._begun = self._begun, {}
        for table, rows in self._by_table(begun).items():
            spans = [(row, since, until) for row in rows for since, until in begun[row]]
            names = ("row", "since", "until")
            columns = zip(names, zip(*spans, strict=True), strict=True)
            arrays = {name: pa.array(values, pa.int64()) for name, values in columns}
            self._connection.register("beginning", pa.table(arrays))
            relation, names_of = self._relation(table), self._columns(table)
            self._connection.execute(
                f"INSERT INTO {relation} (_row, _from, _until, {names_of}) "
                f"SELECT b.row, b.since, b.until, {names_of} FROM beginning b JOIN "
                f"(SELECT DISTINCT ON (_row) * FROM {relation} "
                "WHERE _row IN (SELECT row FROM beginning)) t ON t._row = b.row"
            )
            self._connection.unregister("beginning")

    def _insert(self, table: Table, pending: _PendingRows) -> None:
        for column in table.columns:
            family = self._families.get((table.name, column.name))
            if family is None or family in self._text:
                continue
            index = text_index(row.get(column.name) for row in pending.rows)
            if index is not None:
                self._convert_to_text(family, (table.name, pending.seqs[index]))
        if table.name not in self._stored:
            self._create(table)
        raw = raw_rows(
            self._connection,
            table,
            pending.rows,
            _row=pending.seqs,
            _from=pending.seqs,
            _until=pending.ends,
        )
        reads = casts(table, raw, self._integer_columns(self._text))
        values = [f"{read.safe} AS {quote(name)}" for name, read in reads.items()]
        self._connection.execute(
            f"INSERT INTO {self._relation(table.name)} BY NAME "
            f"SELECT {', '.join([*_SPANS, *values])} FROM {raw.relation}"
        )
        self._connection.unregister(f"raw_rows:{table.name}")

    def _create(self, table: Table) -> None:
        integer_ids = self._integer_columns(self._text)
        columns = ", ".join(
            f"{quote(column.name)} "
            f"{sql_type(column, integer_ids=(table.name, column.name) in integer_ids)}"
            for column in table.columns
        )
        spans = ", ".join(f"{name} BIGINT" for name in _SPANS)
        self._connection.execute(f"CREATE TABLE {self._relation(table.name)} ({spans}, {columns})")
        self._stored.add(table.name)

    def _convert_to_text(self, family: int, text: tuple[str, int]) -> None:
        self._text[family] = text
        for (table, column), number in self._families.items():
            if number == family and table in self._stored:
                self._connection.execute(
                    f"ALTER TABLE {self._relation(table)} ALTER {quote(column)} TYPE VARCHAR"
                )

    def _integer_columns(self, text: Collection[int]) -> set[tuple[str, str]]:
        return {node for node, family in self._families.items() if family not in text}

    def _visible_rows(self, at: int, without: Collection[int], space: str) -> dict[str, str]:
        """Return SQL conditions of the visible rows, by table; helper tables go into ``space``.

        References are examined only for tables that refer to rows that may be hidden.
        """
        plain = f"_from <= {at} AND (_until IS NULL OR _until > {at})"
        if without:
            plain += f" AND _row NOT IN ({', '.join(map(str, sorted(without)))})"
        visible = dict.fromkeys(self._tables, plain)
        partial = {table for table, since in self._first_end.items() if since <= at}
        existing = (
            seq for seq in without if 0 <= seq < len(self._table_of) and self._table_of[seq]
        )
        partial |= {self._table(seq) for seq in existing}
        stored = [(table, each) for table, each in self._dependencies if table in self._stored]
        self._to_earlier.look_at(chain.from_iterable(each for _, each in stored), self._last)
        for table, dependencies in stored:
            doubtful = [
                dependency
                for dependency in dependencies
                if dependency.other_table in partial or dependency not in self._to_earlier
            ]
            if not doubtful:
                continue
            rows = orphan_rows(table, doubtful, lambda name: self._rows(name, visible[name]))
            orphans = f"{space}.{quote(f'orphans:{table}')}"
            created = self._connection.execute(f"CREATE TABLE {orphans} AS {rows}").fetchall()
            if created[0][0]:
                partial.add(table)
                visible[table] += f" AND _row NOT IN (SELECT _row FROM {orphans})"
        return visible

    def _rows(self, table: str, condition: str = "true") -> str:
        """Return SQL for the rows of a table; for a table without rows, for its columns."""
        if table in self._stored:
            rows = self._relation(table)
            return rows if condition == "true" else f"(SELECT * FROM {rows} WHERE {condition})"
        columns = (f"NULL AS {quote(column.name)}" for column in self.schema.table(table).columns)
        return f"(SELECT NULL::BIGINT AS _row, {', '.join(columns)} WHERE false)"

    def _integer_ids(self, visible: Mapping[str, str], at: int) -> set[tuple[str, str]]:
        """Return the id columns with only integers among the visible rows."""
        text = {family for family, id_ in self._text.items() if self._shows(*id_, visible, at)}
        conditions = [
            (family, f"(SELECT * FROM {self._relation(table)} WHERE {visible[table]})", condition)
            for (table, name), family in self._families.items()
            if family in self._text and family not in text and table in self._stored
            for condition in [integer_id(self.schema.table(table).column(name), "VARCHAR")]
            if condition is not None
        ]
        return self._integer_columns(text | failing(self._connection, conditions))

    def _shows(self, table: str, seq: int, visible: Mapping[str, str], at: int) -> bool:
        """Return whether a row is visible because no row of its table is hidden."""
        return seq <= at < self._first_end.get(table, at + 1) and "NOT IN" not in visible[table]

    def _view(
        self,
        table: Table,
        space: str,
        visible: Mapping[str, str],
        integer_ids: set[tuple[str, str]],
    ) -> str:
        stored = table.name in self._stored
        items = ["_row" if stored else "NULL::BIGINT AS _row"]
        for column in table.columns:
            name = quote(column.name)
            kind = sql_type(column, integer_ids=(table.name, column.name) in integer_ids)
            if not stored:
                items.append(f"NULL::{kind} AS {name}")
            elif column.kind is Kind.ID:
                # Later rows may convert the column to text; this view keeps its type.
                items.append(f"try_cast({name} AS {kind}) AS {name}")
            else:
                items.append(name)
        condition = visible[table.name]
        source = f"FROM {self._relation(table.name)} WHERE {condition}" if stored else "WHERE false"
        # A join may return rows in any order.
        order = " ORDER BY _row" if table.name in self._unordered or "SELECT" in condition else ""
        view = f"{space}.{quote(table.name)}"
        return f"CREATE VIEW {view} AS SELECT {', '.join(items)} {source}{order}"

    def _present(self, visible: Mapping[str, str]) -> frozenset[str]:
        stored = sorted(self._stored)
        if not stored:
            return frozenset()
        queries = (
            f"(SELECT {place} FROM {self._relation(name)} WHERE {visible[name]} LIMIT 1)"
            for place, name in enumerate(stored)
        )
        rows = self._connection.execute(" UNION ALL ".join(queries)).fetchall()
        return frozenset(stored[place] for (place,) in rows)

    def _columns(self, table: str) -> str:
        return ", ".join(quote(column.name) for column in self.schema.table(table).columns)

    def _relation(self, table: str) -> str:
        return f"{self._space}.{quote(table)}"

    def _drop_released(self) -> None:
        while self._pending_drops:
            self._connection.execute(f"DROP SCHEMA IF EXISTS {self._pending_drops.pop()} CASCADE")
