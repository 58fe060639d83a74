"""Check that keys are unique and that references exist.

Dense integer ids are compared as bitmaps: one bit per possible id, set where the id occurs. A key
is unique when as many bits are set as there are rows; references are valid when no bit is set
outside the key's bits. That is one scan instead of a sort or a join. A key without gaps needs
no bitmap of its references: the smallest and the largest decide. All other columns are counted
exactly by the engine, and so are those that a bitmap rejects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agon.records.counting import Numbers
from agon.records.issues import MAX_LISTED_PER_KIND
from agon.records.raw import quote
from agon.records.schemas import ForeignKey

_BITS_PER_ROW = 64
_FEW_BITS = 1_000_000
_MAX_BITS = 1_000_000_000


@dataclass(frozen=True)
class Ids:
    """Statistics of an id column: the smallest and the largest id, and the number of ids.

    Attributes:
        connection: the engine.
        relation: the typed table.
        column: the column's name.
        is_integer: whether its ids are integers.
        low, high: the smallest and the largest; None where ids are text or there are none.
    """

    connection: Any
    relation: str
    column: str
    is_integer: bool
    low: int | None
    high: int | None

    @property
    def count(self) -> int:
        """Number of ids (a file may have to be read to count them)."""
        return self._counts[0]

    @cached_property
    def distinct(self) -> int:
        """Number of distinct ids, by a bitmap; only if they fit into one."""
        known = self._counts[1]
        return self._query(f"bit_count({_bits(self, self)})")[0] if known is None else known

    @cached_property
    def _counts(self) -> tuple[int, int | None]:
        """Number of ids, with that of distinct ones where a small bitmap holds them."""
        distinct = f"bit_count({_bits(self, self)})" if self._need_few_bits else "NULL"
        return self._query(f"count({quote(self.column)}), {distinct}")

    def _query(self, values: str) -> Any:
        sql = f"SELECT {values} FROM {self.relation}"
        return self.connection.execute(sql).fetchall()[0]

    @property
    def has_no_gaps(self) -> bool:
        """Whether every integer from the smallest to the largest id is one."""
        span = self._span
        return (
            span is not None and self.fit_a_bitmap and span <= self.count and self.distinct == span
        )

    @property
    def fit_a_bitmap(self) -> bool:
        """Whether the ids are so dense that a bitmap of them is small."""
        span = self._span
        if span is None:
            return False
        return self._need_few_bits or span < min(_FEW_BITS + _BITS_PER_ROW * self.count, _MAX_BITS)

    @property
    def _span(self) -> int | None:
        """Number of integers from the smallest to the largest id."""
        return None if self.low is None or self.high is None else self.high - self.low + 1

    @property
    def _need_few_bits(self) -> bool:
        return self._span is not None and self._span <= _FEW_BITS


def ids(connection: Any, relation: str, columns: Mapping[str, bool]) -> dict[str, Ids]:
    """Return the statistics of id columns; a Parquet file stores them.

    Args:
        connection: the engine.
        relation: the typed table.
        columns: the names, each with whether its ids are integers.
    """
    integers = [name for name, is_integer in columns.items() if is_integer]
    ranges: dict[str, tuple[int | None, int | None]] = dict.fromkeys(columns, (None, None))
    if integers:
        ends = ", ".join(f"min({quote(name)}), max({quote(name)})" for name in integers)
        row = connection.execute(f"SELECT {ends} FROM {relation}").fetchall()[0]
        ranges |= dict(zip(integers, zip(row[::2], row[1::2], strict=True), strict=True))
    return {
        name: Ids(connection, relation, name, columns[name], *ends) for name, ends in ranges.items()
    }


def having_all(relation: str, columns: Sequence[str]) -> str:
    """Return the SQL after ``FROM`` that reads the rows with a value in each of some columns."""
    return f"{relation} WHERE {' AND '.join(f'{quote(name)} IS NOT NULL' for name in columns)}"


def repeats_at_most(columns: Sequence[str]) -> str:
    """Return SQL of how many rows may be equal to an earlier one in some columns.

    Different hashes mean different rows, and hashes are compared faster.
    """
    return f"count(*) - count(DISTINCT hash({', '.join(map(quote, columns))}))"


def has_repeats(only: Ids | None, hashed: Numbers) -> bool:
    """Return whether a key may occur twice among the rows that have all of it; False is certain.

    Args:
        only: the statistics of the key column, if it is a single id column.
        hashed: what was asked by :func:`repeats_at_most`.
    """
    if only is not None and only.fit_a_bitmap:
        # Bits that are set against ids that were read: a repeated id sets no new bit.
        return only.distinct != only.count
    return hashed() != (0,)


def repeats(
    connection: Any, relation: str, key: Sequence[str]
) -> tuple[int, list[tuple[int, str, int]]]:
    """Return the number of rows whose key is in an earlier row, and the first of them.

    Each is its row number, its key as text, and the number of the earlier row.
    """
    names = ", ".join(map(quote, key))
    twice = (
        f"SELECT {names}, min(_row) AS first, count(*) AS n FROM {having_all(relation, key)} "
        f"GROUP BY {names} HAVING count(*) > 1"
    )
    sql = f"SELECT coalesce(sum(n - 1), 0)::BIGINT FROM ({twice})"
    count = connection.execute(sql).fetchall()[0][0]
    if not count:
        return 0, []
    key_text = " || ', ' || ".join(f"r.{quote(name)}::VARCHAR" for name in key)
    sql = (
        f"SELECT r._row, {key_text}, t.first FROM {relation} r JOIN ({twice}) t USING ({names}) "
        f"WHERE r._row > t.first ORDER BY 1 LIMIT {MAX_LISTED_PER_KIND}"
    )
    return count, connection.execute(sql).fetchall()


def is_sound(connection: Any, references: Ids, keys: Ids) -> bool:
    """Return whether bitmaps show that every reference is among the keys; True is certain."""
    if references.low is None or references.high is None:
        return references.is_integer  # without a smallest id there is none
    if keys.low is None or keys.high is None or not keys.fit_a_bitmap:
        return False
    # Also needed for the bitmaps: bitstring_agg fails for a value outside of its range.
    if references.low < keys.low or references.high > keys.high:
        return False
    # Between the ends every id exists, so the ends decide.
    if keys.has_no_gaps:
        return True
    sql = (
        f"SELECT bit_count(r.bits & ~k.bits) FROM "
        f"(SELECT {_bits(references, keys)} AS bits FROM {references.relation}) r, "
        f"(SELECT {_bits(keys, keys)} AS bits FROM {keys.relation}) k"
    )
    return bool(connection.execute(sql).fetchall()[0][0] == 0)


def without_key(reference: ForeignKey, relation: Callable[[str], str]) -> tuple[str, str]:
    """Return SQL of the number of references to missing ids, and after ``FROM`` of such rows.

    Counting the ids leaves empty ones out; filtering them took ten times as long.

    Args:
        reference: the reference.
        relation: returns the SQL after ``FROM`` that reads a table.
    """
    name, key = f"r.{quote(reference.column)}", f"k.{quote(reference.other_column)}"
    rows, others = relation(reference.table), relation(reference.other_table)
    return f"count({name})", f"{rows} r ANTI JOIN {others} k ON {key} = {name}"


def dangling(connection: Any, column: str, rows: str) -> list[tuple[int, str]]:
    """Return the first references to missing ids: row number, id as text.

    Args:
        connection: the engine.
        column: the column of the references.
        rows: the rows of :func:`without_key`.
    """
    name = quote(column)
    sql = (
        f"SELECT r._row, r.{name}::VARCHAR FROM {rows} WHERE r.{name} IS NOT NULL "
        f"ORDER BY 1 LIMIT {MAX_LISTED_PER_KIND}"
    )
    first: list[tuple[int, str]] = connection.execute(sql).fetchall()
    return first


def _bits(ids: Ids, within: Ids) -> str:
    return f"bitstring_agg({quote(ids.column)}, {within.low}, {within.high})"
