"""Hold growth to replay: over random histories, what grew equals what is read from line 1."""

import random
from collections.abc import Iterator
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
from sizes import size

SIDE_BY_SIDE = 125
"""Histories in one ledger."""

PARTS, LEDGERS = size(5, at_least=2), size(4, at_least=2)
"""Ledgers of each discipline, in parts that run in parallel: 4 x 5 x 4 x 125 histories in all."""

STOPS = 3
"""So often the growth of a ledger is looked at: 240 times all boards, about 720 boards in all."""


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

    Over 80 ledgers (16 in `make test`) of 125 histories each, with records, late ones,
    replacements, voids and roll-backs, under rules
    that change: the tables a stepwise reader holds at any stop, those a replay shows for that
    position, and those a naive walk over plain lists gives are the same, and so are the boards.
    """
    for seed in range(part * LEDGERS, (part + 1) * LEDGERS):
        made = ledger(of, seed=seed, histories=SIDE_BY_SIDE, steps=8)
        _agree(made, _stops(made, random.Random(seed)), engine)  # noqa: S311 - no secret


@settings(max_examples=15, deadline=None)
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
