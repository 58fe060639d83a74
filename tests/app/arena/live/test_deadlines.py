"""Open work is due by the time it was made with, whatever the clock showed then."""

from dataclasses import replace
from datetime import timedelta

import pytest

from agon.app.access.permissions import LOCAL, View
from agon.app.arena.live import views
from agon.app.arena.live.qualification import next_attempt_at
from agon.app.arena.live.schedule import plan_rounds
from agon.app.arena.live.work import work_of_bot, work_of_judge
from agon.kernel.times import written_time
from app.arena.live.conftest import MakeLeague
from fakes.arena import Model
from fakes.service import JUDGE


def test_work_that_a_clock_made_which_ran_ahead_has_its_time_once_the_clock_is_right(
    make_league: MakeLeague,
) -> None:
    """The round waited for the time that the clock had shown, an hour later."""
    league = make_league(bots=2, pulling=("b1",))
    league.model = Model()
    league.play()
    league.later(-3600)
    bot = league.bot("b1").id
    (item,) = work_of_bot(league.service, "autumn", bot, by=LOCAL)
    assert item["deadline_ms"] == 30_000
    assert item["deadline"] == written_time(
        league.clock.at + timedelta(seconds=30), to="milliseconds"
    )
    assert league.work() == []
    league.later(32)  # the first job finds the clock right; the whole time begins there
    assert league.work() == []
    (item,) = work_of_bot(league.service, "autumn", bot, by=LOCAL)
    assert item["deadline_ms"] == 30_000
    league.later(32)
    assert league.work() == []
    (fault,) = [each for match in league.outcomes() for each in match["faults"]]
    assert fault["code"] == "late"


@pytest.mark.exhaustive
def test_who_was_there_by_a_clock_that_ran_ahead_is_not_drawn_once_it_is_right(
    make_league: MakeLeague,
) -> None:
    """Such a judge counted as present for an hour, and every panel waited for the vote."""
    league = make_league(bots=2, judging=False)
    work_of_judge(league.service, "autumn", by=JUDGE)
    view = View(contest=league.contest, until=None, staff=False)

    def missing() -> str:
        (text,) = views.next_round(league.service, view)["missing"]
        return str(text)

    assert "1 can judge now" in missing()
    league.later(-3600)
    assert "0 can judge now" in missing()


@pytest.mark.exhaustive
def test_a_clock_that_ran_behind_and_is_put_right_begins_one_round_and_no_more(
    make_league: MakeLeague,
) -> None:
    """A month of rounds is due by the times of before; the next one is a pause later."""
    league = make_league(bots=4)
    league.model = Model()
    pause = timedelta(minutes=120)
    league.service = replace(league.service, round_pause=pause)
    month = 30 * 86_400
    league.later(-month)
    league.add_bot("b5")
    plan_rounds(league.service)
    league.later(month)
    plan_rounds(league.service)  # the server is started again
    for _ in range(2):
        assert league.work() == []
        assert len(league.entries("draw-committed")) == 1
    view = View(contest=league.contest, until=None, staff=False)
    assert views.next_round(league.service, view)["at"] == league.clock.at + pause


def test_a_round_that_was_queued_ahead_is_not_delayed_by_a_start_after_the_clock_is_right(
    make_league: MakeLeague,
) -> None:
    """It waited for the wrong time again, since the time at which it was queued stayed wrong."""
    league = make_league(bots=4)
    pause = timedelta(minutes=120)
    league.service = replace(league.service, round_pause=pause)
    league.later(30 * 86_400)
    league.add_bot("b5")
    league.later(-30 * 86_400)
    assert league.work() == []
    plan_rounds(league.service)
    view = View(contest=league.contest, until=None, staff=False)
    at = views.next_round(league.service, view)["at"]
    assert at - league.clock.at <= pause


def test_an_attempt_that_lies_ahead_keeps_no_bot_from_the_next(make_league: MakeLeague) -> None:
    """A bot waited until the wrong time and an hour."""
    league = make_league(bots=1)
    at = league.clock.at
    bot = replace(league.bot("b1"), attempted_at=at)
    arena = league.contest
    assert next_attempt_at(bot, arena, now=at) == at + timedelta(hours=1)
    assert next_attempt_at(bot, arena, now=at - timedelta(hours=9)) is None
