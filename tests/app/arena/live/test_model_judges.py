"""Rounds that are judged and audited by models on the loopback, asked as in a service."""

from collections.abc import Mapping
from threading import Barrier
from typing import Any

import pytest

from agon.app.access.permissions import View
from agon.app.arena.draw_audit import check_draws
from agon.app.arena.judging.port import ModelVote
from agon.app.arena.live.models import MAX_DECLINED
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.transport import BotReply
from agon.app.arena.live.scored import scored_arena
from agon.app.arena.live.views import match_of
from agon.app.arena.report import report_of
from agon.disciplines.arena.rounds.faults import Fault
from agon.ledger.fold import empty_ledger, fold
from agon.runners.judges.opening import open_separate_judge
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model, answer
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


def swear(work: Mapping[str, Any]) -> BotReply | Fault:
    """Answer what a filter of contents stops."""
    url = "https://b1.example/"
    return BotReply(text="rude words") if work["kind"] == "answer" else answer(url, work)


class Declining(Model):
    """A model that judges no match with a word, as behind a filter of contents."""

    def __init__(self, word: str) -> None:
        super().__init__(name="filtered")
        self.word = word

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
        """Return a vote, or the answer of the filter."""
        vote = super().compare(prompt=prompt, a=a, b=b, seconds=seconds)
        declines = self.word in a + b
        return Fault("bot", "status-400", "HTTP 400 content_filter") if declines else vote


@pytest.mark.parametrize(
    ("bots", "word", "outcomes"),
    [
        (4, "rude", ["rated", "void"]),  # the other match shows that the model judges
        (2, "rude", ["void"]),  # there is no other match that could show it
        (4, "", []),  # none of several: the endpoint takes no such request, and the round waits
    ],
)
def test_an_answer_that_a_model_does_not_judge_stops_no_league(
    make_league: MakeLeague, bots: int, word: str, outcomes: list[str]
) -> None:
    """One bot could keep all others from their ratings, for good, by a text that a filter stops."""
    league = make_league(bots=bots, judge_min_matches=99)
    league.model = Declining(word)
    league.network.behavior["https://b1.example/"] = swear
    league.play()
    for _ in range(MAX_DECLINED - 1):
        assert league.entries("round-settled") == []
        league.later(61)
        league.work()
    if outcomes:
        assert sorted(match["outcome"] for match in league.outcomes()) == outcomes
        [void] = [match for match in league.outcomes() if match["outcome"] == "void"]
        said = "the model filtered did not judge it, asked 5 times (status-400)"
        assert void["undecided"] == said
        lines = league.ledger()
        assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))).issues == ()
    else:
        with league.service.store.read() as session:
            waiting = session.arena.round(league.contest.no, "r1")
        assert waiting.phase == "judging"
        assert waiting.body["waits_for"].endswith("status-400: HTTP 400 content_filter")
