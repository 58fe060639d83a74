"""Compare stepwise reading with replay: random ledgers give equal tables and boards."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.replay.replica import ContestReplica
from agon.disciplines import BUILT_IN
from agon.errors import AgonError
from agon.records import Records
from agon.records.raw import MemoryEngine
from app.contests.histories import Ledger, ledger
from sizes import ALL, size

ROOT = Path(__file__).parents[3]

SIDE_BY_SIDE = 125
"""Histories in one ledger: sequences of entries about separate records, interleaved."""

PARTS, LEDGERS = size(5, at_least=1), size(4, at_least=2)
"""Parts that run in parallel, and ledgers of each discipline in a part."""

STOPS = 3
"""Positions at which the stepwise state of a ledger is compared with its replay, all boards.

Four disciplines have 80 ledgers and 240 comparisons (`make test`: 8 and 24).
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """Start one engine for all ledgers."""
    engine = MemoryEngine()
    yield engine
    engine.close()


def _stops(written: Ledger, dice: random.Random) -> list[int]:
    inside = sorted(dice.sample(range(2, len(written.lines)), STOPS - 1))
    return [*inside, len(written.lines)]


def _state(replica: ContestReplica, at: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tables at a position, and the hash of every board or why there is none."""
    try:
        result = replica.result(at=at)
    except AgonError as error:
        return _tables(replica.records(at)), {"none": str(error)}
    boards = {}
    for name in result.discipline.boards:
        # A board per problem is left to the dojo's own tests.
        if "<" not in name:
            try:
                boards[name] = result.board(name).sha256
            except AgonError as error:
                boards[name] = str(error)
    return _tables(result.records), boards


def _tables(records: Records) -> dict[str, Any]:
    names = [table.name for table in records.schema]
    return {name: records.arrow(name) for name in names if records.has(name)}


def _stepwise(
    written: Ledger, stops: list[int], engine: MemoryEngine | None
) -> Iterator[ContestReplica]:
    """Read a ledger in batches and yield the replica after each."""
    replica = ContestReplica("c", engine=engine)
    before = 0
    for stop in stops:
        replica.catch_up(written.lines[before:stop])
        before = stop
        yield replica
    replica.close()


def _agree(written: Ledger, stops: list[int], engine: MemoryEngine | None) -> None:
    replayed = ContestReplica("c", engine=engine)
    replayed.catch_up(written.lines)
    for stop, replica in zip(stops, _stepwise(written, stops, engine), strict=True):
        tables, boards = _state(replica, stop)
        assert (tables, boards) == _state(replayed, stop)
        numbers = {name: table["_row"].to_pylist() for name, table in tables.items()}
        visible = written.seen(stop)
        assert numbers == {name: [number for number, _ in rows] for name, rows in visible.items()}
    replayed.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("of", BUILT_IN)
def test_stepwise_reading_equals_replay(of: str, part: int, engine: MemoryEngine) -> None:
    """A board that depended on when a worker read the ledger could not be proved.

    80 ledgers are compared at three positions each, 240 times (`make test`: 8 ledgers, 24 times).
    A ledger has records, late ones, replacements, voids and roll-backs, under rules that change:
    the tables a stepwise reader holds at a position, those a replay shows for it, and those a naive
    walk over plain lists gives are the same, and so are the boards.
    """
    for seed in range(part * LEDGERS, (part + 1) * LEDGERS):
        written = ledger(of, seed=seed, histories=SIDE_BY_SIDE, steps=8)
        _agree(written, _stops(written, random.Random(seed)), engine)


def test_the_documented_sizes_are_those_of_the_tests() -> None:
    """A decision refers to these tests and states how much they compare, in full and in part."""
    ledgers = len(BUILT_IN) * PARTS * LEDGERS
    stated = {True: (80, 240), False: (8, 24)}
    assert (ledgers, ledgers * STOPS) == stated[ALL]
    page = " ".join((ROOT / "docs/decisions/0008-grown-not-differentiated.md").read_text().split())
    for count, comparisons in stated.values():
        assert f"{count} random ledgers at {comparisons} positions" in page


@pytest.mark.exhaustive
@settings(max_examples=size(15, at_least=3, dear=True), deadline=None)
@given(data=st.data())
def test_stepwise_reading_of_a_short_ledger_equals_replay(
    engine: MemoryEngine, data: st.DataObject
) -> None:
    """Hypothesis reduces a failure to the fewest entries."""
    of = data.draw(st.sampled_from(BUILT_IN))
    written = ledger(
        of,
        seed=data.draw(st.integers(0, 9)),
        histories=data.draw(st.integers(1, 4)),
        steps=data.draw(st.integers(1, 8)),
        dice=data.draw(st.randoms(use_true_random=False)),
    )
    last = len(written.lines)
    stops = data.draw(st.lists(st.integers(2, last), min_size=1, max_size=3, unique=True))
    _agree(written, sorted(stops), engine)
