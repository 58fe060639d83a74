"""Keys of records: the same record, the same key; different records, different keys."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.disciplines import BUILT_IN, discipline
from agon.ledger.keys import record_key
from agon.records import Column, Kind, Table

PAIRS = Table("pairs", (Column("a", Kind.ID), Column("b", Kind.ID)), key=("a", "b"))
TIMES = Table("times", (Column("at", Kind.TIMESTAMP),), key=("at",))
PARTS = st.text(st.sampled_from("/%2F5ab"), min_size=1, max_size=6)


@given(PARTS, PARTS, PARTS, PARTS)
def test_different_records_have_different_keys(a: str, b: str, c: str, d: str) -> None:
    """Whatever signs their parts have, one record cannot stand in for another."""
    same = (a, b) == (c, d)
    assert (record_key(PAIRS, {"a": a, "b": b}) == record_key(PAIRS, {"a": c, "b": d})) == same


@pytest.mark.parametrize("value", [7, 7.0, "7"])
def test_a_number_has_the_key_of_its_text(value: Any) -> None:
    """CSV has text where JSON has numbers; the records are the same."""
    assert record_key(PAIRS, {"a": value, "b": "x"}) == "pairs/7/x"


@pytest.mark.parametrize(
    "value",
    ["2026-11-22T02:30:00Z", "2026-11-22 03:30:00+01:00", "2026-11-22T02:30:00",
     " 2026-11-22T0230Z", "2026-11-22 02:30:00 UTC", datetime(2026, 11, 22, 2, 30, tzinfo=UTC)],
)  # fmt: skip
def test_a_time_has_one_key_in_every_zone(value: Any) -> None:
    """A time is compared as a time."""
    assert record_key(TIMES, {"at": value}) == "times/2026-11-22T02:30:00.000000Z"


@pytest.mark.parametrize("value", ["yesterday", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_kept_for_the_checks(value: str) -> None:
    """The issue is named where records are checked, with table and column."""
    assert record_key(TIMES, {"at": value}) == f"times/{value}"


@pytest.mark.parametrize("row", [{}, {"a": 1}, {"a": 1, "b": None}, {"a": 1, "b": ""}])
def test_without_a_part_there_is_no_key(row: dict[str, Any]) -> None:
    """Keys bind the rows that give all of them."""
    assert record_key(PAIRS, row) is None


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_disciplines_keyed_tables_have_keys(name: str) -> None:
    """The schemas are the ones that are used."""
    for table in discipline(name).schema:
        key = record_key(table, dict.fromkeys(table.key, "x"))
        assert key == ("/".join([table.name, *("x" for _ in table.key)]) if table.key else None)
