"""Keys and references by bitmap, against Python sets."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.records.checks.keys import (
    dangling,
    has_repeats,
    having_all,
    ids,
    is_sound,
    repeats,
    repeats_at_most,
    without_key,
)
from agon.records.counting import Counts
from agon.records.raw import MemoryEngine
from agon.records.schemas import ForeignKey
from sizes import size

NEAR = st.integers(-20, 20)
FAR = st.sampled_from([-(2**63), -(2**40), 2**31, 2**62, 2**63 - 1])
CELLS = st.lists(st.none() | NEAR | FAR, max_size=12) | st.lists(st.none() | NEAR, max_size=30)
LAW = settings(
    max_examples=size(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """One engine for all examples: starting it is most of the time."""
    made = MemoryEngine()
    yield made
    made.close()


def show(engine: MemoryEngine, name: str, cells: list[int | None]) -> None:
    """Show a column of numbers to the engine as a typed table."""
    table = pa.table({"_row": pa.arange(1, len(cells) + 1), "id": pa.array(cells, pa.int64())})
    engine.connection.register(name, table)


@given(CELLS)
@LAW
def test_a_key_is_unique_when_no_number_comes_twice(
    engine: MemoryEngine, cells: list[int | None]
) -> None:
    """Near numbers go by bitmap, far ones by 64-bit hash; the answer is that of a set."""
    show(engine, "k", cells)
    given_ids = [one for one in cells if one is not None]
    only = ids(engine.connection, "k", {"id": True})["id"]
    assert only.count == len(given_ids)
    counts = Counts(engine.connection, together=False)
    hashed = counts.ask([repeats_at_most(["id"])], having_all("k", ["id"]))
    result = has_repeats(only, hashed)
    assert result == (len(set(given_ids)) < len(given_ids))
    assert has_repeats(None, hashed) == result
    first: dict[int, int] = {}
    again = [
        (row, str(one), first[one])
        for row, one in enumerate(cells, start=1)
        if one is not None and first.setdefault(one, row) != row
    ]
    assert repeats(engine.connection, "k", ("id",)) == (len(again), again[:20])


@given(CELLS, CELLS)
@LAW
def test_references_are_sound_when_their_set_is_within_the_keys(
    engine: MemoryEngine, references: list[int | None], keys: list[int | None]
) -> None:
    """A bitmap may be unsure; what it calls sound is sound, and the join counts the rest."""
    show(engine, "r", references)
    show(engine, "k", keys)
    r = ids(engine.connection, "r", {"id": True})["id"]
    k = ids(engine.connection, "k", {"id": True})["id"]
    lost = [
        (row, str(one))
        for row, one in enumerate(references, start=1)
        if one is not None and one not in keys
    ]
    if is_sound(engine.connection, r, k):
        assert lost == []
    count, rows = without_key(ForeignKey("r", "id", "k", "id"), str)
    assert Counts(engine.connection, together=False).ask([count], rows)() == (len(lost),)
    assert dangling(engine.connection, "id", rows) == lost[:20]


def test_near_numbers_are_decided_by_the_bitmap_alone(engine: MemoryEngine) -> None:
    """Ids counted up from one, as databases give them, never need a join."""
    show(engine, "k", list(range(1, 1001)))
    show(engine, "r", [None, *range(1000, 0, -7)])
    r = ids(engine.connection, "r", {"id": True})["id"]
    k = ids(engine.connection, "k", {"id": True})["id"]
    assert k.fit_a_bitmap
    assert is_sound(engine.connection, r, k)


def test_far_numbers_do_not_take_memory(engine: MemoryEngine) -> None:
    """Two ids as far apart as they can be are no reason for a bitmap of 2^64 bits."""
    show(engine, "k", [-(2**63), 2**63 - 1])
    assert not ids(engine.connection, "k", {"id": True})["id"].fit_a_bitmap
