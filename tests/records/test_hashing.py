"""The content hash: what moves it, and what must not."""

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.records import Column, Kind, Schema, Table, read_rows
from agon.records.hashing import _canonical, _ColumnHash
from records.contest import SCHEMA, Rows, values
from sizes import size


def sha256(tables: dict[str, Any]) -> str:
    """Hash tables at hand."""
    with read_rows(SCHEMA, tables) as records:
        return records.sha256


GOOD = sha256(values())


def test_the_hash_stays_what_it_was() -> None:
    """Later versions must compute the published hashes."""
    assert GOOD == "3a54b32bd38c1fd9c8a717b44583a4b4c6f64b68d221a499512c8907b940afc6"


def test_row_order_without_meaning_does_not_move_it() -> None:
    """Databases give rows in any order."""
    for seed in range(5):
        tables = values()
        draw = random.Random(seed)
        draw.shuffle(tables["people"])
        draw.shuffle(tables["works"])
        assert sha256(tables) == GOOD


def test_row_order_with_meaning_moves_it() -> None:
    """Two votes on one work: the second replaces the first, so their order is content."""
    first, _, second = values()["votes"]
    other = values()["votes"][1]
    moved = sha256({**values(), "votes": [second, other, first]})
    assert moved != GOOD
    assert sha256({**values(), "votes": [other, second, first]}) == moved


def test_order_among_rows_that_differ_there_has_no_meaning() -> None:
    """Only likes have an order; votes on different works come as they come."""
    tables = values()
    tables["votes"] = [tables["votes"][at] for at in (1, 0, 2)]
    assert sha256(tables) == GOOD


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("table", "row", "column", "value"),
    [
        ("people", 0, "id", 3),
        ("people", 0, "name", "ada"),
        ("people", 0, "name", "Ada "),
        ("people", 0, "joined_at", None),
        ("people", 1, "joined_at", "2026-01-02T00:00:00.000001"),
        ("people", 0, "active", False),
        ("people", 2, "age", None),
        ("works", 0, "words", 2**53),
        ("works", 0, "score", 0.3),
        ("works", 2, "id", "7"),
        ("works", 1, "words", None),
    ],
)
def test_every_value_moves_it(table: str, row: int, column: str, value: object) -> None:
    """Zero is not empty, a microsecond is not nothing, 007 is not 7."""
    tables = values()
    tables[table][row][column] = value
    if column == "id" and table == "people":
        tables["works"][0]["author_id"] = value
    assert sha256(tables) != GOOD


def test_the_sign_of_zero_and_the_way_a_number_is_stored_do_not_move_it() -> None:
    """0.0 and -0.0 are one number, and 1 is 1.0."""
    tables = values()
    tables["works"][0]["score"] = 0.0
    zero = sha256(tables)
    tables["works"][0]["score"] = -0.0
    assert sha256(tables) == zero
    tables["people"][0]["age"] = 36.0
    assert sha256(tables) == zero


def test_an_absent_column_is_an_empty_one_and_an_absent_table_too() -> None:
    """A file format may not know the difference."""
    tables = values()
    for row in tables["people"]:
        row["joined_at"] = None
    empty = sha256(tables)
    for row in tables["people"]:
        del row["joined_at"]
    assert sha256(tables) == empty
    without_votes = {name: tables[name] for name in ("people", "works")}
    assert sha256({**without_votes, "votes": []}) == sha256(without_votes)


def test_unicode_is_taken_as_it_is() -> None:
    """Two spellings that look equal are two names; a hash that joined them is not verifiable."""
    tables = values()
    tables["people"][0]["name"] = "e\u0301"
    spelt = sha256(tables)
    tables["people"][0]["name"] = "\u00e9"
    assert sha256(tables) != spelt


def test_values_do_not_run_into_each_other() -> None:
    """``ab, c`` and ``a, bc`` in neighbouring rows or columns are different records."""
    pairs = Schema(
        "pairs", (Table("pairs", (Column("id", Kind.ID), Column("x", Kind.TEXT, nullable=True))),)
    )
    contents: list[Rows] = [
        [{"id": "ab", "x": "c"}],
        [{"id": "a", "x": "bc"}],
        [{"id": "abc", "x": None}],
        [{"id": "ab", "x": "c"}, {"id": "ab", "x": "c"}],
        [{"id": "a", "x": "c"}, {"id": "b", "x": None}],
        [{"id": "a", "x": None}, {"id": "b", "x": "c"}],
        [{"id": "1", "x": "c"}],
        [{"id": "01", "x": "c"}],
    ]
    hashes = {read_rows(pairs, {"pairs": rows}).sha256 for rows in contents}
    assert len(hashes) == len(contents)


def test_the_hash_of_earlier_records_is_the_hash_of_what_there_was() -> None:
    """Seen at a time, records say what a copy made at that time says."""
    then = values()
    then["people"] = [row for row in then["people"] if row["id"] != 2]
    then["votes"] = []
    now = values()
    now["people"].append(
        {"id": "later", "name": "Zoe", "joined_at": "2026-02-01", "active": None, "age": None}
    )
    now["votes"] = []
    time = values()["people"][0]["joined_at"]
    assert read_rows(SCHEMA, now).as_of(time).sha256 == sha256(then)


CELLS = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(max_size=5),
    pa.bool_(): st.booleans(),
}


@given(st.data(), st.sampled_from(list(CELLS)))
@settings(max_examples=size(100), deadline=None)
def test_batches_do_not_move_it(data: st.DataObject, kind: pa.DataType) -> None:
    """Where the engine cuts its stream depends on threads and memory."""
    cells = data.draw(st.lists(st.none() | CELLS[kind], max_size=8))
    cut = data.draw(st.integers(0, len(cells)))
    complete, parts = _ColumnHash(), _ColumnHash()
    array = pa.array(cells, kind)
    complete.add(_canonical(array))
    for part in (array.slice(0, cut), array.slice(cut)):
        parts.add(_canonical(part))
    assert parts.hexdigests() == complete.hexdigests()


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.integers(-3, 3) | st.sampled_from(["a", "01"]),
                "x": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "t": st.none() | st.text(max_size=2),
            }
        ),
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=size(40), deadline=None)
def test_equal_hashes_mean_equal_bags_of_rows(rows: Rows, draw: random.Random) -> None:
    """Rows without a key are a bag: shuffling is nothing, leaving one out is."""
    bags = Schema(
        "bags",
        (
            Table(
                "bags",
                (
                    Column("id", Kind.ID),
                    Column("x", Kind.NUMBER, nullable=True),
                    Column("t", Kind.TEXT, nullable=True),
                ),
            ),
        ),
    )
    with read_rows(bags, {"bags": rows}) as records:
        one = records.sha256
    shuffled = draw.sample(rows, len(rows))
    with read_rows(bags, {"bags": shuffled}) as records:
        assert records.sha256 == one
    if rows:
        with read_rows(bags, {"bags": shuffled[1:]}) as records:
            assert records.sha256 != one
