"""Ranks before: those of the last board of an earlier day, else of the board before."""

from datetime import timedelta
from itertools import pairwise

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.distribution import MAX_BINS, bins
from agon.app.contests.boards.movement import movement
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.publish import publish
from agon.app.service import Service
from fakes.service import Clock
from fakes.spring import play, spring, view


@pytest.mark.exhaustive
def test_ranks_are_compared_with_the_last_board_of_an_earlier_day(service: Service) -> None:
    """A board is published after every record; movement since a minute ago says little."""
    clock = service.clock
    assert isinstance(clock, Clock)
    spring(service)
    publish(service, "spring")
    assert movement(service, view(service, LOCAL), None).since is None
    play(service, 9, 20)
    publish(service, "spring")
    yesterday = _ranks(service)
    second = page(service, view(service, LOCAL)).snapshot
    since_the_first = movement(service, view(service, LOCAL), None).since
    assert since_the_first is not None
    assert since_the_first.no < second.no
    clock.at += timedelta(days=1)
    for first in (21, 31):
        play(service, first, first + 9)
        publish(service, "spring")
    moved = movement(service, view(service, LOCAL), None)
    assert moved.since is not None
    assert moved.since.no == second.no
    today = _ranks(service)
    assert moved.ranks == {name: yesterday.get(name) for name in today}
    assert today != yesterday
    window = movement(service, view(service, LOCAL), None, start=2, limit=3)
    assert list(window.ranks) == list(today)[2:5]
    past = movement(service, view(service, LOCAL), None, as_of=str(second.seq))
    assert past.since == since_the_first


def _ranks(service: Service) -> dict[str, int]:
    """Return the ranks on the newest board."""
    rows = map(orjson.loads, page(service, view(service, LOCAL)).lines)
    return {row["id"]: row["rank"] for row in rows}


@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=40))
def test_every_value_is_in_one_of_the_bins(values: list[float]) -> None:
    """Bins whose numbers do not add up to all values mislead."""
    counted = bins(np.array(values))
    assert len(counted) <= MAX_BINS + 1
    assert sum(each.n for each in counted) == len(values)
    distinct = sorted(set(values))
    if len(distinct) <= 4:
        assert [(each.low, each.high, each.n) for each in counted] == [
            (value, value, values.count(value)) for value in distinct
        ]
        return
    assert all(a.high == b.low for a, b in pairwise(counted))
    assert all(each.low < each.high for each in counted)
