"""Build a board from results: ranks, ties, ids, and unscored participants with the reason."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from agon.errors import NotFound
from agon.kernel.data_frames import pandas_frame, polars_frame
from agon.kernel.fingerprints import canonical_json
from agon.kernel.text.board_text import board_html, board_text

Numbers = np.ndarray[Any, np.dtype[np.int64]]

_AT_A_TIME = 65_536  # rows hashed at a time
_SHOWN = 10  # rows of a repr
_INTEGRAL = r"^(0|-?[1-9][0-9]{0,17})$"
_TOO_LONG = 10**18  # integers with more digits are ordered as text


@dataclass(frozen=True)
class UnscoredRow:
    """An id without a score, and the reason."""

    id: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return a plain value for JSON."""
        return {"id": self.id, "reason": self.reason}


@dataclass(frozen=True, repr=False)
class Board:
    """An ordered table of results: ``rank``, ``id``, ``score`` and the board's own columns.

    ``id`` is text, ``score`` a float on the published grid. ``unscored`` lists who is not in the
    table, with the reason, in id order. ``context`` names what columns depend on besides edition
    and records (an epoch, the method and level of intervals), for JSON, and ``caption`` says it in
    words for headings; neither is hashed.
    """

    name: str
    table: pa.Table
    unscored: tuple[UnscoredRow, ...] = ()
    places: int = 6
    context: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as plain dicts, best first.

        Example:
            >>> board = Board("b", pa.table({"rank": [1], "id": ["ada"], "score": [1.0]}))
            >>> [row["id"] for row in board]
            ['ada']
        """
        for batch in self.table.to_batches(max_chunksize=_AT_A_TIME):
            yield from batch.to_pylist()

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the scores, as sentences: ``notes`` of the context."""
        return tuple(self.context.get("notes", ()))

    def head(self, rows: int) -> pa.Table:
        """Return the first rows of the table."""
        return self.table.slice(0, rows)

    def __repr__(self) -> str:
        return f"Board {self._heading()}\n{self.to_text()}"

    def _repr_html_(self) -> str:
        return board_html(self.head(_SHOWN), self._heading())

    def to_text(self) -> str:
        """Return the first rows as text, as ``repr`` shows them."""
        return board_text(self.head(_SHOWN), more=max(0, len(self) - _SHOWN))

    def _heading(self) -> str:
        """Return its name and size, and the level and method of its intervals if it has any."""
        unscored = f", {len(self.unscored):,} unscored" if self.unscored else ""
        caption = f" · {self.caption}" if self.caption else ""
        return f"{self.name} · {len(self):,} row{'' if len(self) == 1 else 's'}{unscored}{caption}"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the board as a pyarrow Table."""
        return self.table

    def to_polars(self) -> Any:
        """Return a polars DataFrame.

        Raises:
            Unavailable: polars is not installed (``pip install 'agon-engine[polars]'``).
        """
        return polars_frame(self.table)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame.

        Raises:
            Unavailable: pandas is not installed (``pip install 'agon-engine[pandas]'``).
        """
        return pandas_frame(self.table)

    def rows(self, *, top: int | None = None) -> list[dict[str, Any]]:
        """Return the board as plain dicts, best first; ``top`` limits the number of rows."""
        table = self.table if top is None else self.head(top)
        return list(table.to_pylist())

    @cached_property
    def sha256(self) -> str:
        """Hash the board: one canonical JSON line per row, then one per unscored id."""
        return board_sha256(self.name, chain(self._blocks(), self.unscored_lines()))

    def lines(self) -> list[bytes]:
        """Write each row as canonical JSON, best first: what is hashed, proved and published."""
        return canonical_lines(self.table)

    def unscored_lines(self) -> list[bytes]:
        """Write each unscored id with its reason as canonical JSON, in their order."""
        return [canonical_json(unscored.to_dict()) for unscored in self.unscored]

    def _blocks(self) -> Iterator[bytes]:
        for start in range(0, len(self), _AT_A_TIME):
            yield _block(self.table.slice(start, _AT_A_TIME))

    def row(self, name: str) -> dict[str, Any]:
        """Return one id's row.

        Raises:
            NotFound: when the id is not on the board; the message includes an unscored id's reason.
        """
        index = pc.index(self.table["id"], pa.scalar(name, pa.string())).as_py()
        if index >= 0:
            return dict(self.table.slice(index, 1).to_pylist()[0])
        for unscored in self.unscored:
            if unscored.id == name:
                raise NotFound(f"{name} is unscored on board {self.name}: {unscored.reason}")
        raise NotFound(f"there is no {name!r} on board {self.name}")


class RankedBoard(Board):
    """A board of which rows are made when they are asked for: the first ones, or all.

    Example:
        >>> rows = pa.table({"id": ["ann", "bob"], "score": [1.0, 2.0]})
        >>> board = RankedBoard.of("b", rows.take, np.array([1, 0]), np.array([1, 2]))
        >>> board.rows(top=1), len(board)
        ([{'rank': 1, 'id': 'bob', 'score': 2.0}], 2)
    """

    _make: Callable[[Numbers], pa.Table]
    _order: Numbers
    _ranks: Numbers

    @classmethod
    def of(
        cls, name: str, rows: Callable[[Numbers], pa.Table], order: Numbers, ranks: Numbers, *,
        unscored: tuple[UnscoredRow, ...] = (), places: int = 6,
    ) -> "RankedBoard":  # fmt: skip
        """Return a board.

        Args:
            name: its name.
            rows: returns the rows of some numbers: ``id``, ``score`` and the board's own columns.
            order: the numbers of all rows, best first.
            ranks: of each row in that order.
            unscored: who is not in the table, in id order.
            places: decimals of the score.
        """
        board = cls(name, None, unscored, places)
        del vars(board)["table"]  # made on first use
        vars(board).update(_make=rows, _order=order, _ranks=ranks)
        return board

    def __len__(self) -> int:
        return super().__len__() if "table" in vars(self) else len(self._order)

    def head(self, rows: int) -> pa.Table:
        """Return the first rows of the table."""
        if "table" in vars(self):
            return super().head(rows)
        table = self._make(self._order[:rows])
        return table.add_column(0, "rank", pa.array(self._ranks[:rows]))

    @cached_property
    def table(self) -> pa.Table:
        """Return all rows."""
        return self.head(len(self._order))


def board_sha256(name: str, lines: Iterable[bytes]) -> str:
    """Hash a board (hex) from its name and its lines, of rows and then of unscored ids.

    Several lines with line feeds between them may be one element.

    Example:
        >>> board = Board("b", pa.table({"rank": [1], "id": ["ada"], "score": [1.0]}))
        >>> board_sha256("b", board.lines()) == board.sha256
        True
    """
    digest = hashlib.sha256(canonical_json(name) + b"\n")
    for line in lines:
        digest.update(line + b"\n")
    return digest.hexdigest()


def id_order(ids: pa.Array) -> Numbers:
    """Return the index of each id in id order: integers by value, then text by code point.

    Ids are compared unchanged; ``2`` comes before ``10`` whether a file has numbers or text, so
    that a board does not depend on the file format.

    Args:
        ids: text, or integers.

    Example:
        >>> id_order(pa.array(["10", "b", "2", "a"])).tolist()
        [1, 3, 0, 2]
    """
    if kinds.is_integer(ids.type) and len(ids):
        numbers = ids.to_numpy()
        if numbers.min() > -_TOO_LONG and numbers.max() < _TOO_LONG:
            if (numbers[1:] > numbers[:-1]).all():
                return np.arange(len(numbers))
            return _places(np.argsort(numbers, kind="stable"))
    text = pc.cast(ids, pa.string())
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    integral = pc.match_substring_regex(text, _INTEGRAL)
    number = pc.cast(pc.if_else(integral, text, pa.scalar("0")), pa.int64())
    keys = pa.table(
        {
            "text": pc.if_else(integral, pa.scalar(""), text),
            "number": number,
            "is_text": pc.invert(integral),
        }
    )
    order = pc.sort_indices(
        keys, [("is_text", "ascending"), ("number", "ascending"), ("text", "ascending")]
    )
    return _places(order.to_numpy())


def _places(order: np.ndarray[Any, np.dtype[Any]]) -> Numbers:
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def ranking(ids: pa.Array, keys: Sequence[Any], *, shared: bool) -> tuple[Numbers, Numbers]:
    """Order rows by ``keys`` (each ascending; negate what is better when larger), then by id.

    Returns ``(order, ranks)``: row numbers best first, and the rank of each in that order. With
    ``shared``, rows equal in the first key share a rank and the next one skips (1, 2, 2, 4);
    otherwise ranks are 1, 2, 3, ….

    Example:
        >>> order, ranks = ranking(pa.array(["a", "b", "c", "d"]),
        ...                        [np.array([-5., -9., -5., -1.])], shared=True)
        >>> order.tolist(), ranks.tolist()
        ([1, 0, 2, 3], [1, 2, 2, 4])
    """
    columns, places = [np.asarray(key) for key in keys], id_order(ids)
    if len(columns) == 1:
        order = _order_of(columns[0], places)
    else:
        order = np.lexsort([places, *reversed(columns)])
    ranks = np.arange(1, len(order) + 1, dtype=np.int64)
    if shared and len(order):
        opens = np.flatnonzero(_differs(columns[0][order]))
        ranks = np.repeat(opens + 1, np.diff(np.append(opens, len(order))))
    return order, ranks


def _differs(values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which values differ from the one before them."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


_STEPS = 1e6
"""Steps of published scores in one point."""
_EXACT = float(1 << 53)
"""Integers below this are exact as floating-point numbers."""


def _order_of(key: np.ndarray[Any, Any], places: Numbers) -> Numbers:
    """Return the order by a key, then by place: by quick sorts of integers that hold both."""
    bits = len(places).bit_length()
    steps = _steps(key)
    if steps is not None and steps.max(initial=0) < 1 << 63 - bits:
        order = steps << bits
        order |= places
    else:
        rough = np.argsort(key)  # equal keys in any order
        order = np.cumsum(_differs(key[rough]))
        order <<= bits
        order |= places[rough]
    order.sort()
    order &= (1 << bits) - 1
    return order if (places[1:] > places[:-1]).all() else _places(places)[order]


def _steps(key: np.ndarray[Any, Any]) -> Numbers | None:
    """Return each key's steps above the lowest, or above 0; None: not all are published scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(key * _STEPS)
        is_exact = (np.abs(steps) < _EXACT) & (steps / _STEPS == key)
    if not is_exact.all():
        return None
    steps -= steps.min(initial=0)
    return steps.astype(np.int64)


_ESCAPED = r'["\\\x00-\x1f]'


def canonical_lines(table: pa.Table) -> list[bytes]:
    r"""Write each row as :func:`agon.kernel.fingerprints.canonical_json` writes it as a dict.

    No line contains a line feed.

    Raises:
        ValueError: a number is not finite.

    Example:
        >>> canonical_lines(pa.table({"rank": [1], "id": ["ada"], "score": [668.0]}))
        [b'{"id":"ada","rank":1,"score":668.0}']
    """
    return _block(table).split(b"\n") if table.num_rows else []


def _block(table: pa.Table) -> bytes:
    """Write rows as canonical lines with a line feed between two."""
    names = table.column_names
    texts = _objects(names, [_combine_chunks(table[name]) for name in names])
    return "\n".join(texts).encode()


def _combine_chunks(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _objects(names: Sequence[str], columns: Sequence[Any]) -> Iterable[str]:
    """Write rows of columns as JSON objects with sorted keys."""
    members = sorted(zip(names, columns, strict=True), key=lambda member: member[0])
    quoted = (canonical_json(name).decode().replace("%", "%%") for name, _ in members)
    template = "{" + ",".join(f"{name}:%s" for name in quoted) + "}"
    return map(template.__mod__, zip(*(_texts(column) for _, column in members), strict=True))


def _texts(column: Any) -> Iterable[Any]:
    """Return each value of a column in a form whose ``str`` is its JSON."""
    if kinds.is_struct(column.type) and column.type.num_fields and not column.null_count:
        return _objects([field.name for field in column.type], column.flatten())
    if column.null_count:
        written = iter(_texts(column.drop_null()))
        return [next(written) if is_valid else "null" for is_valid in column.is_valid().to_pylist()]
    if kinds.is_floating(column.type) and not pc.all(pc.is_finite(column), min_count=0).as_py():
        raise ValueError("expected finite numbers or empty values on a board, got another number")
    if kinds.is_floating(column.type) or kinds.is_integer(column.type):
        # str of Python's own numbers is what JSON has for them.
        return column.to_numpy(zero_copy_only=False).tolist()
    return map(_writer(column), column.to_pylist())


def _writer(column: Any) -> Callable[[Any], str]:
    if kinds.is_boolean(column.type):
        return ("false", "true").__getitem__
    text = kinds.is_string(column.type) or kinds.is_large_string(column.type)
    if text and not pc.any(pc.match_substring_regex(column, _ESCAPED)).as_py():
        return '"%s"'.__mod__
    return _json


def _json(value: Any) -> str:
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=str
)
"""Writes what :func:`agon.kernel.fingerprints.canonical_json` writes."""
