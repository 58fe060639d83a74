"""Test that what is missing for a round is answered without scores where none are needed."""

from dataclasses import replace

import pytest

from agon.app.access.permissions import LOCAL, View
from agon.app.arena.live import views
from agon.app.arena.live.entrants.bots import BotChanges, change
from agon.app.replay.replica import ContestReplica
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model


def missing(league: League) -> tuple[str, ...]:
    """Return what is missing for the next round, as the public sees it."""
    of = View(contest=league.contest, until=None, staff=False)
    listed: tuple[str, ...] = views.next_round(league.service, of)["missing"]
    return listed


@pytest.mark.exhaustive
def test_what_is_missing_is_answered_with_as_few_scorings_as_the_answer_needs(
    make_league: MakeLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages ask after every entry, and each of them scored the whole contest again."""
    scored: list[int] = []
    result = ContestReplica._result

    def counting(self: ContestReplica, position: int, *arguments: object) -> object:
        scored.append(position)
        return result(self, position, *arguments)  # type: ignore[arg-type] # passed on as they came

    monkeypatch.setattr(ContestReplica, "_result", counting)
    league = make_league(bots=1, judge_min_matches=99)
    own = league.service
    scored.clear()
    for _ in range(3):
        bots, judges = missing(league)
    assert bots.startswith("qualified bots of two owners are needed, there are those of 1")
    assert judges.startswith("a match needs 3 judges, 0 can judge now")
    assert len(scored) == 1  # bots that judge are there: whether they can depends on scores
    league.service = replace(own, has_model_judge=True)
    league.add_bot("b2", judges=False)
    scored.clear()
    assert missing(league) == ()
    league.add_bot("b3")
    assert missing(league) == ()
    assert scored == []
    league.service = own
    assert len(missing(league)) == 1
    assert len(scored) == 1
    league.model = Model()
    league.add_bot("slow", pulls=True)
    league.add_bot("late", pulls=True)
    assert league.play() == []
    scored.clear()
    assert missing(league) == ("round r1 is being played; wait until it is settled",)
    assert scored == []


def test_what_costs_least_is_named_first(make_league: MakeLeague) -> None:
    """An organizer read of owners and judges to be found first, and last of a file to upload."""
    league = make_league(bots=1)
    bot = league.bot("b1").id
    with league.service.store.write() as session:
        contest = session.contests.get("autumn")
        prompts = [replace(each, retired=True) for each in session.arena.prompts(contest.no)]
        session.arena.save_prompts(contest.no, prompts)
    change(league.service, "autumn", bot, BotChanges(paused=True), by=LOCAL)
    prompt, bots, judges = missing(league)
    assert prompt.startswith("there are no prompts")
    assert bots.endswith(f"end the pause of {bot}; register bots")
    assert judges.startswith("a match needs 3 judges")
