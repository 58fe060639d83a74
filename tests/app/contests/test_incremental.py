"""Compare growth with replay: over random ledgers, what grew equals what is read from line 1."""

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
from agon.records.raw import Engine
from app.contests.histories import Ledger, ledger
from sizes import ALL, size

ROOT = Path(__file__).parents[3]

SIDE_BY_SIDE = 125
"""Histories in one ledger: runs of entries about records of their own, shuffled together."""

PARTS, LEDGERS = size(5, at_least=1), size(4, at_least=2)
"""Parts that run in parallel, and ledgers of each discipline in a part."""

STOPS = 3
"""Positions at which the growth of a ledger is compared with its replay, all boards each time.

Four disciplines have 80 ledgers and 240 comparisons (`make test`: 8 and 24).
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Start one engine for all ledgers."""
    engine = Engine()
    yield engine
    engine.close()


def _stops(made: Ledger, dice: random.Random) -> list[int]:
    inside = sorted(dice.sample(range(2, len(made.lines)), STOPS - 1))
    return [*inside, len(made.lines)]


def _shown(live: ContestReplica, at: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tables at a position, and the hash of every board or why there is none."""
    try:
        result = live.result(at=at)
    except AgonError as error:
        return _tables(live.records(at)), {"none": str(error)}
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


def _grown(made: Ledger, stops: list[int], engine: Engine | None) -> Iterator[ContestReplica]:
    """Feed a ledger in portions and stop after each, tables stored on the way."""
    live = ContestReplica("c", engine=engine)
    before = 0
    for stop in stops:
        live.catch_up(made.lines[before:stop])
        before = stop
        yield live
    live.close()


def _agree(made: Ledger, stops: list[int], engine: Engine | None) -> None:
    replayed = ContestReplica("c", engine=engine)
    replayed.catch_up(made.lines)
    for stop, live in zip(stops, _grown(made, stops, engine), strict=True):
        tables, boards = _shown(live, stop)
        assert (tables, boards) == _shown(replayed, stop)
        numbers = {name: table["_row"].to_pylist() for name, table in tables.items()}
        seen = made.seen(stop)
        assert numbers == {name: [one for one, _ in rows] for name, rows in seen.items()}
    replayed.close()


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("of", BUILT_IN)
def test_what_grew_equals_what_is_replayed(of: str, part: int, engine: Engine) -> None:
    """Nobody could prove a board that depends on when a worker happened to look at the ledger.

    80 ledgers are compared at three positions each, 240 times (`make test`: 8 ledgers, 24 times).
    A ledger has records, late ones, replacements, voids and roll-backs, under rules that change:
    the tables a stepwise reader holds at a position, those a replay shows for it, and those a naive
    walk over plain lists gives are the same, and so are the boards.
    """
    for seed in range(part * LEDGERS, (part + 1) * LEDGERS):
        made = ledger(of, seed=seed, histories=SIDE_BY_SIDE, steps=8)
        _agree(made, _stops(made, random.Random(seed)), engine)  # noqa: S311 - no secret


def test_the_sizes_that_are_stated_are_those_that_run() -> None:
    """A decision rests on these tests, so it says how much they compare: in full and in a part."""
    ledgers = len(BUILT_IN) * PARTS * LEDGERS
    stated = {True: (80, 240), False: (8, 24)}
    assert (ledgers, ledgers * STOPS) == stated[ALL]
    page = " ".join((ROOT / "docs/decisions/0008-grown-not-differentiated.md").read_text().split())
    for count, comparisons in stated.values():
        assert f"{count} random ledgers at {comparisons} positions" in page


@settings(max_examples=size(15), deadline=None)
@given(data=st.data())
def test_a_short_ledger_grows_as_it_is_replayed(engine: Engine, data: st.DataObject) -> None:
    """What fails is cut down to the fewest entries that still fail, to be read by a person."""
    of = data.draw(st.sampled_from(BUILT_IN))
    made = ledger(
        of,
        seed=data.draw(st.integers(0, 9)),
        histories=data.draw(st.integers(1, 4)),
        steps=data.draw(st.integers(1, 8)),
        dice=data.draw(st.randoms(use_true_random=False)),
    )
    last = len(made.lines)
    stops = data.draw(st.lists(st.integers(2, last), min_size=1, max_size=3, unique=True))
    _agree(made, sorted(stops), engine)
