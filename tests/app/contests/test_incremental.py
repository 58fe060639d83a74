"""Hold growth to replay: over random histories, what grew equals what is read from line 1."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from agon.app.contests.live import LiveContest
from agon.disciplines import NAMES
from agon.errors import AgonError
from agon.records.engine import Engine
from app.contests.histories import Ledger, ledger

SIDE_BY_SIDE = 100
"""Histories in one ledger."""

LEDGERS = 25
"""Ledgers of each discipline: 4 x 25 x 100 are 10,000 histories."""

STOPS = 5
"""So often the growth of a ledger is looked at."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Start one engine for all ledgers."""
    engine = Engine()
    yield engine
    engine.close()


def _stops(made: Ledger, dice: random.Random) -> list[int]:
    inside = sorted(dice.sample(range(2, len(made.lines)), STOPS - 1))
    return [*inside, len(made.lines)]


def _tables(live: LiveContest, at: int) -> dict[str, Any]:
    records = live.records(at)
    names = [table.name for table in records.schema]
    return {name: records.arrow(name) for name in names if records.has(name)}


def _board(live: LiveContest, at: int) -> str:
    """Return the default board's hash, or why there is none."""
    try:
        return live.result(at=at).board().sha256
    except AgonError as error:
        return str(error)


def _grown(made: Ledger, stops: list[int], engine: Engine | None) -> Iterator[LiveContest]:
    """Feed a ledger in portions and stop after each, tables stored on the way."""
    live = LiveContest("c", engine=engine)
    before = 0
    for stop in stops:
        live.catch_up(made.lines[before:stop])
        before = stop
        yield live
    live.close()


def _replayed(made: Ledger, engine: Engine | None) -> LiveContest:
    live = LiveContest("c", engine=engine)
    live.catch_up(made.lines)
    return live


@pytest.mark.parametrize("of", NAMES)
def test_what_grew_equals_what_is_replayed(of: str, engine: Engine) -> None:
    """Nobody could prove a board that depends on when a worker happened to look at the ledger.

    Over 10,000 histories of records, late ones, replacements, voids and roll-backs, under rules
    that change: the tables a stepwise reader holds at any stop, those a replay shows for that
    position, and those a naive walk over plain lists gives are the same, and so are the boards.
    """
    for seed in range(LEDGERS):
        made = ledger(of, seed=seed, histories=SIDE_BY_SIDE, steps=8)
        stops = _stops(made, random.Random(seed))  # noqa: S311 - no secret
        replayed = _replayed(made, engine)
        for stop, live in zip(stops, _grown(made, stops, engine), strict=True):
            grown = _tables(live, stop)
            assert grown == _tables(replayed, stop)
            numbers = {name: table["_row"].to_pylist() for name, table in grown.items()}
            seen = made.seen(stop)
            assert numbers == {name: [one for one, _ in rows] for name, rows in seen.items()}
            assert _board(live, stop) == _board(replayed, stop)
        replayed.close()
