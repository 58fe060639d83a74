"""Rounds that are judged and audited by models on the loopback, asked as in a service."""

from threading import Barrier

import pytest

from agon.app.access.permissions import View
from agon.app.arena.judging.port import ModelVote
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.scored import scored_arena
from agon.app.arena.live.views import match_of
from agon.app.arena.report import report_of
from agon.disciplines.arena.rounds.faults import Fault
from agon.runners.judges.opening import open_separate_judge
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model
from fakes.models import Asked, serve_model, served, verdict

UNDECIDED = (
    "the model openai/first chose differently in the two orders of the answers, so that it prefers "
    "neither (rule model_conflict)"
)


def ratings(league: League) -> dict[str, int]:
    """Return the rating of every bot."""
    with league.service.store.read() as session:
        contest = session.contests.get("autumn")
    with scored_arena(league.service, contest) as (scored, _):
        ids = scored.facts.bots.ids.to_pylist()
        return dict(zip(ids, scored.ratings.rating.tolist(), strict=True))


@pytest.mark.exhaustive
def test_a_judge_that_always_chooses_the_first_answer_moves_no_rating(
    make_league: MakeLeague,
) -> None:
    """Its two calls never agree; a tie would still move ratings that differ."""
    league = make_league(bots=4)
    league.model = Model()
    assert league.play() == []
    before = ratings(league)
    assert sorted(before.values()) == [984, 984, 1016, 1016]
    with serve_model(lambda asked: verdict(asked, "A")) as server:
        judge = open_separate_judge(served("openai", server.url, model="first"))
        league.model = judge
        for _ in range(3):
            assert league.play() == []
            assert {match["outcome"] for match in league.outcomes()} == {"void"}
            assert all(len(match["exchanges"]) == 2 for match in league.outcomes())
            assert {match["undecided"] for match in league.outcomes()} == {UNDECIDED}
    assert ratings(league) == before
    assert len(league.rows("votes")) == 2
    view = View(contest=league.contest, until=None, staff=False, user=None)
    assert match_of(league.service, view, "r2-1")["undecided"] == UNDECIDED
    with league.service.store.read() as session:
        report = report_of(entry.line for entry in session.entries.after(league.contest.no))
    assert [each["cause"] for each in report.undecided] == [UNDECIDED] * 6


@pytest.mark.exhaustive
def test_audits_of_a_model_count_only_when_both_orders_agree(make_league: MakeLeague) -> None:
    """A conflict is no verdict: it says nothing about the judge."""
    league = make_league(bots=4, audit_probability=1.0)
    league.model = Model()

    def longest_first(asked: Asked) -> str:
        return verdict(asked, max("AB", key=lambda label: asked.quotation(f"answer {label}")))

    with serve_model(lambda asked: verdict(asked, "A")) as server:
        auditor = open_separate_judge(served("anthropic", server.url))
        league.audit = auditor
        assert league.play() == []
        assert {row["audit_verdict"] for row in league.rows("matches")} == {"tie"}
        server.brain = longest_first
        assert league.play() == []
        assert all(row["audit_verdict"] in {"a", "b"} for row in league.rows("matches")[2:])
    with league.service.store.read() as session:
        counts = {count.measure: count.trials for count in session.judging.counts()}
    assert counts == {"audit": 2}


def test_matches_are_judged_by_models_at_the_same_time_and_asked_once(
    make_league: MakeLeague,
) -> None:
    """A round does not take the sum of all calls; what a model said is not asked for again."""
    league = make_league(bots=8, judge_min_matches=99, audit_probability=1.0)
    league.threads = ArenaPorts(transport=league.network).model_threads
    together = Barrier(4, timeout=30)

    class Together(Model):
        def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
            together.wait()
            return super().compare(prompt=prompt, a=a, b=b, seconds=seconds)

    league.model, league.audit = Together(), Model(name="auditor")
    assert league.play() == []
    assert {match["outcome"] for match in league.outcomes()} == {"rated"}
    assert {row["audit_verdict"] for row in league.rows("matches")} <= {"a", "b"}

    class Fourth(Model):
        def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
            vote = super().compare(prompt=prompt, a=a, b=b, seconds=seconds)
            return Fault("ours", "ours-budget") if self.calls == 4 else vote

    league.threads = 1
    league.model, league.audit = Fourth(), Model(name="auditor")
    assert league.play() == []
    league.later(61)
    assert league.work() == []
    assert (league.model.calls, league.audit.calls) == (5, 4)
    assert len(league.rows("matches")) == 8
