"""Rounds from commitment to settlement, with bots and models in the same process."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from agon.app.access.permissions import View
from agon.app.arena.draw_audit import DrawReport, check_draws
from agon.app.arena.live import views
from agon.app.arena.live.models import NO_MODEL
from agon.app.arena.live.network.transport import BotReply
from agon.app.arena.live.schedule import plan_rounds
from agon.app.arena.live.scored import arena_records, scored_arena
from agon.disciplines.arena.integrity import plagiarism
from agon.disciplines.arena.rounds.commitment import verify_draw
from agon.disciplines.arena.rounds.draws import honeypot_real
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.arena import ArenaRound
from agon.ledger.fold import empty_ledger, fold
from agon.store.live.arena import Arena
from app.arena.live.conftest import MakeLeague
from fakes.arena import Model, answer


@pytest.mark.exhaustive
def test_a_round_is_committed_drawn_answered_judged_and_settled(
    make_league: MakeLeague, url: str | None
) -> None:
    """The seed is committed before the draw; ratings follow from the recorded votes."""
    league = make_league(url=url)
    assert league.play() == []
    (committed,), (made,) = league.entries("draw-committed"), league.entries("draw-made")
    assert verify_draw(committed, made, made["result"]["head"]) == ()
    assert [match["outcome"] for match in league.outcomes()] == ["rated"] * 3
    matches, votes = league.rows("matches"), league.rows("votes")
    assert [match["id"] for match in matches] == ["r1-1", "r1-2", "r1-3"]
    assert len(votes) == 9
    assert all(match["response_a"] != match["response_b"] for match in matches)
    with league.service.store.read() as session:
        contest = session.contests.get("autumn")
        assert session.arena.round(contest.no, "r1").settled_seq == contest.seq
    with scored_arena(league.service, contest) as (scored, _):
        ratings = scored.ratings.rating
    assert sorted(ratings.tolist()) == [984] * 3 + [1016] * 3


def test_a_round_that_needs_no_model_is_seen_settling_as_well(make_league: MakeLeague) -> None:
    """If audited rounds alone were seen between voting and settlement, they would be known."""
    league = make_league()
    assert league.play() == []
    with league.service.store.read() as session:
        jobs = session.queue.page(kinds=("round",), states=("done",))
    assert league.audit is None
    phases = {job.result["phase"] for job in jobs if job.result and "phase" in job.result}
    assert phases >= {"settling", "settled"}


@pytest.mark.exhaustive
def test_nothing_is_in_the_ledger_before_settlement_but_the_commitment(
    make_league: MakeLeague,
) -> None:
    """Who reads the ledger while a round is played learns neither pairs nor honeypots."""
    league = make_league(pulling=("b1",))
    before = len(league.ledger())
    league.play()
    assert len(league.ledger()) == before + 1
    assert league.entries("draw-committed")[-1].keys() == {"round", "commitment", "method"}
    assert league.play() == [
        "no round can begin: round r1 is being played; wait until it is settled"
    ]


def test_all_matches_of_a_round_without_a_network_are_played_later(
    make_league: MakeLeague,
) -> None:
    """Our own outage must not cost anyone a rating, a forfeit or a match."""
    league = make_league()
    league.fail("b1", "b2", "b3", "b4", "b5", "b6", owner="transport", code="unreachable")
    league.play()
    (settled,) = league.entries("round-settled")
    assert settled["outcome"]["degraded"]
    assert {match["outcome"] for match in league.outcomes()} == {"again"}
    assert league.rows("matches") == []
    assert league.bot("b1").forfeits == 0
    assert 0 < sum(league.pauses) < 30  # repeated, and not after the deadline
    pairs = league.pairs()
    league.network.behavior.clear()
    league.play()
    assert league.pairs() == pairs
    assert len(league.rows("matches")) == 3


@pytest.mark.exhaustive
def test_three_forfeits_in_a_row_pause_a_bot_and_move_no_rating(make_league: MakeLeague) -> None:
    """A bot that is down must not wait for its opponents; its owner sees why."""
    league = make_league()
    league.fail("b1", only="answer")
    failing = league.bot("b1").id
    for count in (1, 2, 3):
        assert league.play() == []
        assert league.bot("b1").forfeits == count
        assert [match["outcome"] for match in league.outcomes()].count("void") == 1
    rows = league.rows("matches")
    assert len(rows) == 6
    assert not any(failing in {match["bot_a"], match["bot_b"]} for match in rows)
    assert "3 forfeits in a row, the last with status-500" in league.bot("b1").paused
    assert league.bot("b2").forfeits == 0
    league.play()
    assert not any(failing in pair for pair in league.pairs())


def test_a_forfeit_is_a_loss_where_the_rule_says_so(make_league: MakeLeague) -> None:
    """Leagues that count presence let the absent bot lose."""
    league = make_league(forfeit="loss")
    league.fail("b1", code="empty")
    league.play()
    failing = league.bot("b1").id
    (match,) = [row for row in league.rows("matches") if failing in {row["bot_a"], row["bot_b"]}]
    absent, present = ("a", "b") if match["bot_a"] == failing else ("b", "a")
    assert match["winner"] == present
    assert f"response_{absent}" not in match
    assert match["id"] not in {vote["match_id"] for vote in league.rows("votes")}


@pytest.mark.exhaustive
def test_a_judge_that_fails_is_replaced_and_never_left_out(make_league: MakeLeague) -> None:
    """Nothing is rated on fewer judges than the rule, and no vote is drawn by chance."""
    league = make_league(bots=8)
    league.fail("b1", "b2", only="vote")
    league.play()
    failing = {league.bot("b1").id, league.bot("b2").id}
    votes = league.rows("votes")
    assert len(votes) == 12
    assert not {vote["judge_id"] for vote in votes} & failing
    replaced = {one["judge"] for match in league.outcomes() for one in match["replaced"]}
    assert replaced
    assert replaced <= failing


@pytest.mark.exhaustive
def test_a_match_without_judges_waits_for_a_model_and_says_why(make_league: MakeLeague) -> None:
    """Without an API judge a round is not settled with fewer judges than the rule."""
    league = make_league(bots=4)
    league.model = Model(fault=Fault("ours", "ours-budget"))
    league.play()
    with league.service.store.read() as session:
        of = session.arena.round(session.contests.get("autumn").no, "r1")
    assert of.phase == "judging"
    assert "did not judge: ours-budget" in of.body["waits_for"]
    league.later(61)
    league.work()
    assert league.rows("matches") == []
    league.model = Model()
    league.later(61)
    league.work()
    assert [vote["judge_id"] for vote in league.rows("votes")] == ["model-1"] * 2
    assert league.rows("judges") == [{"id": "model-1", "kind": "api"}]
    with league.service.store.read() as session:
        no = session.contests.get("autumn").no
        digest = league.outcomes()[0]["exchanges"][0]["request_sha256"]
        assert session.attachments.get(no, digest) == b"q"


@pytest.mark.exhaustive
def test_a_round_that_nobody_can_judge_does_not_begin(make_league: MakeLeague) -> None:
    """It would wait for ever; the job that was to begin it says what is missing."""
    league = make_league(bots=4, judge_min_matches=99)
    assert any("a match needs 3 judges, 0 can judge now" in cause for cause in league.play())
    assert league.entries("draw-committed") == []


@pytest.mark.exhaustive
def test_the_next_round_is_announced_and_why_the_last_one_did_not_begin(
    make_league: MakeLeague,
) -> None:
    """A league without judges would stand still, and nobody would know why."""
    league = make_league(bots=4, judge_min_matches=99)
    public, frozen = (View(contest=league.contest, until=until, staff=False) for until in (None, 1))
    none_due = views.next_round(league.service, public)
    assert (none_due["at"], none_due["cause"]) == (None, None)
    league.service = replace(league.service, round_pause=timedelta(minutes=120))
    league.add_bot("b5")
    due = views.next_round(league.service, public)
    assert (due["at"], due["cause"]) == (league.clock.at + timedelta(minutes=120), None)
    league.later(7201)
    assert league.work() == []
    waiting = views.next_round(league.service, public)
    assert waiting["at"] == league.clock.at + timedelta(minutes=120)
    assert "a match needs 3 judges, 0 can judge now" in waiting["cause"]
    assert views.next_round(league.service, frozen) == {"at": None, "cause": None, "missing": ()}
    league.model = Model()
    league.later(7201)
    assert league.work() == []
    assert views.next_round(league.service, public)["cause"] is None


@pytest.mark.exhaustive
def test_a_changed_time_between_rounds_holds_from_the_next_round(make_league: MakeLeague) -> None:
    """The round that was due was queued under the old setting, and played under it for ever."""
    league = make_league(bots=2)
    public = View(contest=league.contest, until=None, staff=False)

    def due_after(minutes: float | None) -> timedelta | None:
        pause = None if minutes is None else timedelta(minutes=minutes)
        league.service = replace(league.service, round_pause=pause)
        plan_rounds(league.service)
        plan_rounds(league.service)  # a second start changes nothing
        at = views.next_round(league.service, public)["at"]
        return None if at is None else at - league.clock.at

    assert due_after(120) == timedelta(minutes=120)  # it was off before
    league.later(600)
    assert due_after(120) == timedelta(minutes=110)
    assert due_after(30) == timedelta(minutes=20)
    assert due_after(360) == timedelta(minutes=350)
    assert due_after(5) == timedelta(minutes=-5)  # it begins at once
    assert due_after(None) is None
    league.later(1000)
    assert league.work() == []
    assert league.entries("draw-committed") == []
    assert due_after(1) == timedelta(minutes=1)


@pytest.mark.exhaustive
def test_a_match_that_nobody_can_judge_is_played_again(make_league: MakeLeague) -> None:
    """All its judges failed and no model is configured; the others of the round are settled."""
    league = make_league(bots=5)
    league.fail("b1", "b2", "b3", "b4", "b5", only="vote")
    assert league.play() == []
    outcomes = league.outcomes()
    assert {(match["outcome"], match.get("unjudged")) for match in outcomes} == {
        ("again", NO_MODEL)
    }
    assert league.rows("matches") == []
    view = View(contest=league.contest, until=None, staff=False)
    (shown,) = views.rounds(league.service, view)
    assert (shown["matches"], shown["void"]) == (2, 2)
    league.network.behavior.clear()
    league.model = Model()
    assert league.play() == []
    pairs = [
        {frozenset((match["bot_a"], match["bot_b"])) for match in made["result"]["matches"]}
        for made in league.entries("draw-made")
    ]
    assert pairs[0] <= pairs[1]
    assert len(league.rows("matches")) == len(pairs[1])
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


@pytest.mark.exhaustive
def test_honeypots_and_audits_are_recorded_after_settlement(make_league: MakeLeague) -> None:
    """A honeypot names one bot and remembers its template; an audit is a model's verdict."""
    league = make_league(honeypot_probability=1.0)
    league.play()
    rows = league.rows("matches")
    assert {match["kind"] for match in rows} == {"honeypot"}
    assert all(
        honeypot_real(match["draw_seed"], match["id"]) == match["honeypot_real"] for match in rows
    )
    assert all((match["bot_a"] is None) != (match["bot_b"] is None) for match in rows)
    assert any(league.bot(f"b{at}").recent_templates for at in range(1, 7))
    audited = make_league(audit_probability=1.0)
    audited.audit = Model(name="auditor")
    audited.play()
    assert {match["audit_verdict"] for match in audited.rows("matches")} <= {"a", "b"}
    assert audited.audit.calls == 3
    missed = make_league(audit_probability=1.0)
    missed.play()
    assert missed.outcomes()[0]["audit_missed"] == "no model is configured to audit"


@pytest.mark.exhaustive
def test_copied_answers_are_skipped_and_long_ones_cut(make_league: MakeLeague) -> None:
    """Plagiarism moves nobody; a longer answer is worth no more, and that is stated."""
    league = make_league(bots=2)
    league.model = Model()
    for name in ("b1", "b2"):
        league.network.behavior[f"https://{name}.example/"] = lambda _: BotReply(text="x " * 300)
    league.play()
    (match,) = league.rows("matches")
    assert match["kind"] == "skipped"
    assert len(match["response_a"]) == 400
    assert league.outcomes()[0]["cut"] == ["a", "b"]


def test_copies_of_earlier_answers_are_skipped_where_the_rule_says_so(
    make_league: MakeLeague,
) -> None:
    """A bot that repeats what others published wins matches with their words."""
    for scope, kinds in (("match", ["rated"] * 3), ("contest", ["rated", "rated", "skipped"])):
        league = make_league(bots=2, plagiarism_scope=scope)
        league.model = Model()
        says = {"b1": "Soup of the day, with bread", "b2": "A walk beside some river"}

        def behave(_: Any, name: str, said: dict[str, str] = says) -> BotReply:
            return BotReply(text=said[name])

        for name in says:
            league.network.behavior[f"https://{name}.example/"] = partial(behave, name=name)
        league.play()
        says["b2"] = "Another walk, other words entirely"  # b1 may repeat itself
        league.play()
        says["b1"], says["b2"] = "Nothing of that", "With bread: soup OF the day!"
        league.play()
        assert [row["kind"] for row in league.rows("matches")] == kinds
        (ended,) = league.outcomes()
        (made,) = league.entries("draw-made")[-1]["result"]["matches"]
        side = "a" if made["bot_a"] == league.bot("b2").id else "b"
        expected = [{"side": side, "of": "r1-1"}] if scope == "contest" else None
        assert ended.get("copies") == expected
        shown = views.match_of(
            league.service, View(contest=league.contest, until=None, staff=False), "r3-1"
        )
        stated = [(each.side, each.match, each.bot) for each in shown["copies"]]
        assert stated == ([(side, "r1-1", league.bot("b1").id)] if expected else [])
        lines = league.ledger()
        assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()
        with arena_records(league.service, league.contest) as (scored, records, _):
            reported = [of.subjects for of in plagiarism(records, scored.facts, scored.rules)]
        assert reported == ([(league.bot("b2").id,)] if scope == "contest" else [])


@pytest.mark.exhaustive
def test_settled_rounds_are_read_once_to_compare_their_answers(
    make_league: MakeLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round that reads all earlier ones costs more the longer a contest lasts."""
    league = make_league(bots=2, plagiarism_scope="contest")
    league.model = Model()
    read: list[int] = []

    original = Arena.rounds_after

    def rounds_after(arena: Arena, contest_no: int, number: int, *, limit: int) -> list[ArenaRound]:
        made = original(arena, contest_no, number, limit=limit)
        read.extend(each.number for each in made if each.phase == "settled")
        return made

    monkeypatch.setattr(Arena, "rounds_after", rounds_after)
    for _ in range(4):
        league.play()
    assert read == [1, 2, 3]


@pytest.mark.exhaustive
def test_a_round_has_one_timer_for_all_its_answers_and_one_for_its_votes(
    make_league: MakeLeague,
) -> None:
    """A timer for each vote would be hundreds of jobs in a league of hundreds of bots."""
    league = make_league()
    league.clock.step = timedelta(milliseconds=1)
    assert league.play() == []
    assert len(league.rows("votes")) == 9
    with league.service.store.read() as session:
        waiting = session.queue.page(states=("queued",), limit=100)
    assert [job.kind for job in waiting].count("round") == 2


@pytest.mark.exhaustive
def test_a_bot_that_answers_only_the_third_attempt_gains_no_time(make_league: MakeLeague) -> None:
    """All attempts have one deadline, and each states how much of it is left."""
    league = make_league()
    url, attempts = "https://b1.example/", []

    def recover(work: Mapping[str, Any]) -> BotReply | Fault:
        if work["kind"] != "answer":
            return answer(url, work)
        attempts.append(work)
        return answer(url, work) if len(attempts) == 3 else Fault("transport", "reset")

    league.network.behavior[url] = recover
    assert league.play() == []
    assert [match["outcome"] for match in league.outcomes()] == ["rated"] * 3
    assert [work["attempt"] for work in attempts] == [1, 2, 3]
    assert league.pauses == [0.25, 0.5]
    assert [work["deadline_ms"] for work in attempts] == [30_000, 29_750, 29_250]
    assert len({(work["id"], work["deadline"]) for work in attempts}) == 1


@pytest.mark.exhaustive
def test_a_new_bot_plays_in_the_next_round(make_league: MakeLeague) -> None:
    """A league of five lets one wait; with a sixth bot all of them play at once."""
    league = make_league(bots=5)
    league.model = Model()
    league.play()
    (waiting,) = league.entries("round-settled")[-1]["outcome"]["waiting"]
    added = league.add_bot("b6")
    league.play()
    playing = {bot for pair in league.pairs() for bot in pair}
    assert {waiting, added} <= playing
    assert league.entries("round-settled")[-1]["outcome"]["waiting"] == []
