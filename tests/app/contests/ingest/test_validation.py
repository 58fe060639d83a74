"""Test that a batch of records is validated and written like single records."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.validation import _rows_as_json, keys_of
from agon.disciplines import BUILT_IN, discipline
from agon.ledger.entry import write_row
from agon.ledger.keys import record_key

TIME = "2026-11-22T00:00:00Z"


def _cells() -> Iterator[tuple[str, str]]:
    for name in BUILT_IN:
        for table in discipline(name).schema:
            yield name, table.name


@given(
    st.sampled_from(sorted(_cells())),
    st.lists(
        st.lists(
            st.none() | st.integers(-3, 3) | st.text("ab/%7 ", max_size=3)
            | st.sampled_from([TIME, "2026-11-22 01:00:00+01:00", 7.0, "", "a\x00"]),
            min_size=6, max_size=6,
        ),
        max_size=3,
    ),
)  # fmt: skip
def test_the_keys_of_a_batch_are_the_keys_of_its_rows(
    cell: tuple[str, str], given_values: list[list[Any]]
) -> None:
    """The fast and the plain function must give a record the same key."""
    table = discipline(cell[0]).schema.table(cell[1])
    names = dict.fromkeys([*table.key, *(column.name for column in table.columns)])
    rows = [dict(zip(names, values, strict=False)) for values in given_values]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    assert list(keys_of(table)(columns, len(rows))) == [record_key(table, row) for row in rows]


@pytest.mark.parametrize("text", [",\n,", "\n", "null", "\\n,", 'a","b'])
def test_rows_written_together_equal_rows_written_one_by_one(text: str) -> None:
    """The ledger's bytes must not depend on the batches, with any text."""
    rows: list[dict[str, object]] = [{"b": text, "a": None}, {}, {text: [text], "c": 1.5}]
    batch = Batch(["any"] * 3, rows, None, [1, 2, 3])
    written = _rows_as_json(batch, rows, [True] * 3, [], before=None, flat=False)
    assert written == [write_row(row) for row in rows]
