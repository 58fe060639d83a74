"""Open work is due by the time it was made with, whatever the clock showed then."""

from datetime import timedelta

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.work import work_of_bot
from agon.kernel.times import written_time
from app.arena.live.conftest import MakeLeague
from fakes.arena import Model


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
