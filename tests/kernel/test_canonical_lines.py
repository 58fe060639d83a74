"""Test that rows written column by column are the canonical lines of the rows."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.kernel.boards import Board, UnscoredRow, canonical_lines
from agon.kernel.fingerprints import canonical_json, sha256_lines

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUES = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint32(): st.integers(0, 2**32 - 1),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False),
    pa.string(): _TEXT,
    pa.large_string(): _TEXT,
    pa.bool_(): st.booleans(),
    pa.timestamp("us"): st.datetimes(),
    pa.list_(pa.string()): st.lists(_TEXT, max_size=3),
    pa.null(): st.none(),
    pa.struct([]): st.just({}),
    pa.struct([("b%d", pa.int64()), ('a"', pa.float64())]): st.fixed_dictionaries(
        {
            "b%d": st.none() | st.integers(-9, 9),
            'a"': st.floats(allow_nan=False, allow_infinity=False),
        }
    ),
}


@st.composite
def _tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(_TEXT, min_size=1, max_size=4, unique=True))
    size = draw(st.integers(0, 6))
    columns = []
    for _ in names:
        kind = draw(st.sampled_from(list(_VALUES)))
        values = st.lists(_VALUES[kind], min_size=size, max_size=size)
        if draw(st.booleans()):
            values = st.lists(st.none() | _VALUES[kind], min_size=size, max_size=size)
        columns.append(pa.array(draw(values), kind))
    table = pa.Table.from_arrays(columns, names=names)
    start = draw(st.integers(0, size))
    return pa.concat_tables([table.slice(start), table]) if draw(st.booleans()) else table


@given(_tables())
def test_lines_are_the_canonical_json_of_the_rows(table: pa.Table) -> None:
    """Published hashes are defined by canonical JSON; the fast way may not write otherwise."""
    assert canonical_lines(table) == [canonical_json(row) for row in table.to_pylist()]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_rejected(number: float) -> None:
    """JSON has no such number; what cannot be written must not be hashed."""
    with pytest.raises(ValueError, match="finite numbers"):
        canonical_lines(pa.table({"score": [1.0, number]}))


def test_a_board_is_hashed_by_its_lines() -> None:
    """The hash that was published for a board before lines were written fast stays its hash."""
    rows: list[Any] = [
        {"rank": 1, "id": "ü\n", "score": 0.1},
        {"rank": 2, "id": "b", "score": 1e22},
    ]
    board = Board("b", pa.Table.from_pylist(rows), (UnscoredRow("c", "no vote"),))
    assert board.sha256 == sha256_lines(["b", *rows, {"id": "c", "reason": "no vote"}])
