"""Bots that ask for their work, people who judge, and attempts to qualify."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL, View, view_of
from agon.app.arena.draw_audit import DrawReport, check_draws
from agon.app.arena.live import qualification, views
from agon.app.arena.live.entrants.bots import register
from agon.app.arena.live.models import NO_MODEL
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.transport import BotReply
from agon.app.arena.live.work import DeadlinePassed, HandIn, hand_in, work_of_bot, work_of_judge
from agon.app.contests.ingest.records import record
from agon.app.contests.members import reinstate, withdraw
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.arena import HumanAnswer, Presence
from agon.entities.arena_reports import AttemptStatus
from agon.entities.jobs import NewJob
from agon.entities.members import MemberTerms
from agon.errors import Conflict, NotFound, Unreadable
from agon.ledger.fold import empty_ledger, fold
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model, answer, league
from fakes.round_trips import round_trips
from fakes.service import JUDGE, PARTICIPANT
from postgresql_server import Postgresql


def queue(league: League, job: NewJob) -> list[str]:
    """Run a job and what follows; return the causes of failures."""
    with league.service.store.write() as session:
        session.queue.add(job, now=league.clock.at)
    return league.work()


def test_a_bot_without_an_endpoint_asks_for_work_and_hands_it_in(make_league: MakeLeague) -> None:
    """The same body twice is one answer; another one, or a late one, is an error of its own."""
    league = make_league(bots=2, pulling=("b1",))
    league.model = Model()
    bot = league.bot("b1").id
    assert work_of_bot(league.service, "autumn", bot, by=LOCAL) == []
    league.play()
    (item,) = work_of_bot(league.service, "autumn", bot, by=LOCAL)
    assert item["kind"] == "answer"
    assert item["deadline_ms"] == 30_000
    assert {"honeypot", "judges", "bot_a", "audited"}.isdisjoint(item)
    with pytest.raises(NotFound):
        hand_in(league.service, league.contest, item["id"], HandIn(text="x"), by=PARTICIPANT)
    with pytest.raises(Unreadable, match="expected one of"):
        hand_in(league.service, league.contest, item["id"], HandIn(), by=LOCAL)
    with pytest.raises(Unreadable, match="asks for an answer"):
        hand_in(league.service, league.contest, item["id"], HandIn(vote="A"), by=LOCAL)
    text = HandIn(text="my own words about the weather")
    receipt = hand_in(league.service, league.contest, item["id"], text, by=LOCAL)
    assert receipt["accepted"]
    assert hand_in(league.service, league.contest, item["id"], text, by=LOCAL) == receipt
    with pytest.raises(Conflict, match="the first counts"):
        hand_in(league.service, league.contest, item["id"], HandIn(text="other"), by=LOCAL)
    assert league.work() == []
    (match,) = league.rows("matches")
    assert text.text in {match["response_a"], match["response_b"]}
    league.later(3600)
    assert hand_in(league.service, league.contest, item["id"], text, by=LOCAL) == receipt


def test_who_is_withdrawn_judges_and_enters_nothing_more(make_league: MakeLeague) -> None:
    """Organizers withdrew the person from the contest, not only what the person sends."""
    league = make_league(bots=2)
    service = league.service
    work_of_judge(service, "autumn", by=PARTICIPANT)
    with service.store.write() as session:
        session.members.save(
            MemberTerms(
                contest_no=league.contest.no, user=str(PARTICIPANT.user), reason="two accounts",
                by="org", changed_at=league.clock.at, withdrawn_at=league.clock.at,
            )
        )  # fmt: skip
    with pytest.raises(Conflict, match=r"is withdrawn from autumn .*two accounts"):
        work_of_judge(service, "autumn", by=PARTICIPANT)
    with pytest.raises(Conflict, match="is withdrawn from autumn"):
        register(service, "autumn", name="second", by=PARTICIPANT)


def _withdraw(league: League, user: str) -> None:
    """Withdraw a person that the contest knows."""
    with league.service.store.write() as session:
        session.members.save(
            MemberTerms(contest_no=league.contest.no, user=user, reason="joined", by="org",
                        changed_at=league.clock.at)
        )  # fmt: skip
    withdraw(league.service, "autumn", user, reason="two accounts", by=LOCAL)


def test_a_round_goes_on_at_once_without_who_is_withdrawn(make_league: MakeLeague) -> None:
    """Its open votes and answers are asked of others now, not after a deadline of a day."""
    league = make_league(bots=6, pulling=("b1",))
    league.model = Model()
    league.play()
    assert work_of_bot(league.service, "autumn", league.bot("b1").id, by=LOCAL)
    assert league.entries("round-settled") == []
    _withdraw(league, "o-b1")
    assert league.work() == []
    assert len(league.entries("round-settled")) == 1
    by = replace(PARTICIPANT, user="o-b1")
    with pytest.raises(Conflict, match="is withdrawn from autumn"):
        work_of_bot(league.service, "autumn", league.bot("b1").id, by=by)


@pytest.mark.exhaustive
def test_no_match_is_drawn_with_the_bots_of_who_is_withdrawn(make_league: MakeLeague) -> None:
    """A bot with an endpoint does not ask for work, so no request of its owner is refused."""
    league = make_league(bots=6)
    league.model = Model()
    league.play()
    gone = league.bot("b2").id
    assert gone in {bot for pair in league.pairs() for bot in pair}
    _withdraw(league, "o-b2")
    for _ in range(3):
        league.later(3600)
        assert league.play() == []
        drawn = league.entries("draw-made")[-1]["result"]["matches"]
        asked = {each["bot_a"] for each in drawn} | {each["bot_b"] for each in drawn}
        asked |= {judge for each in drawn for judge in (*each["judges"], *each["reserves"])}
        assert gone not in asked
    reinstate(league.service, "autumn", "o-b2", reason="one account", by=LOCAL)
    league.later(3600)
    league.play()
    assert gone in {bot for pair in league.pairs() for bot in pair}


@pytest.mark.exhaustive
def test_an_open_round_asks_again_when_its_clock_went_back(make_league: MakeLeague) -> None:
    """A timer that runs too early is queued again, or the round would wait without an end."""
    league = make_league(pulling=("b1",))
    league.model = Model()
    league.later(86_400)
    league.play()
    league.later(-86_400)
    league.later(3600)  # the timer, whose time the queue has set back, runs before the deadline
    assert league.work() == []
    assert league.entries("round-settled") == []
    for _ in range(2):  # answers, then votes
        league.later(86_400)
        assert league.work() == []
    assert len(league.entries("round-settled")) == 1


@pytest.mark.exhaustive
def test_a_vote_takes_few_round_trips_to_postgresql(postgresql: Postgresql, tmp_path: Path) -> None:
    """Each round trip is a part of the time that a judge waits; on a busy machine a large one."""
    url = postgresql.service()
    played = league(tmp_path, url=url, bots=2, pulling=("b1", "b2"))
    played.model = Model()
    played.play()
    [item] = work_of_bot(played.service, "autumn", played.bot("b1").id, by=LOCAL)
    contest = played.contest
    with round_trips(played.service.store) as answers:
        hand_in(played.service, contest, item["id"], HandIn(text="soup"), by=LOCAL)
    assert len(answers) == 4  # BEGIN, work with bot and the round's lock, the result, COMMIT
    played.service.store.close()


@pytest.mark.exhaustive
def test_what_is_late_counts_as_the_bots_fault_and_nobody_else_waits(
    make_league: MakeLeague,
) -> None:
    """One bot that does not ask for work delays the others until the deadline, and no longer."""
    league = make_league(pulling=("b1",))
    league.play()
    (item,) = work_of_bot(league.service, "autumn", league.bot("b1").id, by=LOCAL)
    league.later(31)
    assert work_of_bot(league.service, "autumn", league.bot("b1").id, by=LOCAL) == []
    with pytest.raises(DeadlinePassed) as error:
        hand_in(league.service, league.contest, item["id"], HandIn(text="late"), by=LOCAL)
    assert error.value.code == "deadline-passed"
    league.work()
    league.later(62)  # its votes are late too
    league.work()
    league.later(62)
    league.work()
    if not league.rows("matches"):
        league.model = Model()
        league.later(62)
        league.work()
    (void,) = [match for match in league.outcomes() if match["outcome"] == "void"]
    assert [(fault["owner"], fault["code"]) for fault in void["faults"]] == [("bot", "late")]
    assert len(league.rows("matches")) == 2


@pytest.mark.exhaustive
def test_people_judge_when_they_are_present(make_league: MakeLeague) -> None:
    """A person who asked for work lately is drawn; a vote does not show whose answers these are."""
    league = make_league(bots=2, judges_per_match=1, min_judge_pool=1)
    assert work_of_judge(league.service, "autumn", by=PARTICIPANT) == []  # only asks
    before = league.ledger()
    for _ in range(2):
        assert work_of_judge(league.service, "autumn", by=JUDGE) == []
    assert league.ledger() == before
    league.play()
    assert league.rows("judges") == [{"id": "judy", "kind": "person"}]
    assert [row["id"] for row in league.rows("owners")][-1] == "judy"
    (item,) = work_of_judge(league.service, "autumn", by=JUDGE)
    assert item["kind"] == "vote"
    assert set(item["answers"]) == {"A", "B"}
    with pytest.raises(Unreadable, match='"vote": "A"'):
        hand_in(league.service, league.contest, item["id"], HandIn(vote="C"), by=JUDGE)
    hand_in(league.service, league.contest, item["id"], HandIn(vote="B"), by=JUDGE)
    league.work()
    (vote,) = league.rows("votes")
    (match,) = league.rows("matches")
    assert vote["judge_id"] == "judy"
    shown_second = "b" if vote["shown_first"] == "a" else "a"
    assert match[f"response_{shown_second}"] == item["answers"]["B"]


def test_a_bot_qualifies_when_its_answer_is_picked_once_an_hour(make_league: MakeLeague) -> None:
    """The same machinery as a match; a failed network or judge is no attempt."""
    league = make_league(bots=2)
    league.model = Model()
    bot = league.bot("b1")
    with pytest.raises(Conflict, match="human answers"):
        qualification.begin(league.service, "autumn", bot.id, by=LOCAL)
    with league.service.store.write() as session:
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    assert attempt_of(league).state == "none"
    league.fail("b1", owner="transport", code="refused")
    assert queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL)) == []
    assert league.bot("b1").attempted_at is None
    failed = attempt_of(league)
    assert (failed.state, failed.attempt, failed.next_attempt_at) == ("no-verdict", "q1", None)
    league.network.behavior.clear()
    assert queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL)) == []
    (attempt,) = league.outcomes()
    qualified = [body["row"].get("qualified_at") for body in league.entries("record-replaced")
                 if body["row"]["id"] == bot.id]  # fmt: skip
    assert (len(qualified) == 2) == (attempt["picked"] == "a")
    assert league.rows("votes") == []
    ended, began_at = attempt_of(league), league.bot("b1").attempted_at
    assert ended.state == ("qualified" if attempt["picked"] == "a" else "not-qualified")
    assert ended.waits_for is None
    assert began_at is not None
    assert ended.next_attempt_at == began_at + timedelta(hours=1)
    with pytest.raises(Conflict, match="try again at"):
        qualification.begin(league.service, "autumn", bot.id, by=LOCAL)
    league.later(3601)
    assert attempt_of(league).next_attempt_at is None
    qualification.begin(league.service, "autumn", bot.id, by=LOCAL)
    assert [made["purpose"] for made in league.entries("draw-made")] == ["round q1", "round q2"]
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


def attempt_of(league: League) -> AttemptStatus:
    """Return how the last attempt of the bot b1 stands."""
    view = view_of(league.contest, LOCAL)
    return qualification.status(league.service, view, league.bot("b1").id, by=LOCAL)


def test_an_attempt_without_judges_says_what_it_waits_for(make_league: MakeLeague) -> None:
    """Its owner cannot see it in the list of rounds; without it, only an hour passes."""
    league = make_league(bots=2, judge_min_matches=99)
    league.model = Model(fault=Fault("ours", "ours-budget"))
    bot = league.bot("b1")
    with league.service.store.write() as session:
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL))
    waiting = attempt_of(league)
    assert waiting.state == "playing"
    assert waiting.waits_for is not None
    assert "did not judge: ours-budget" in waiting.waits_for


@pytest.mark.exhaustive
def test_an_attempt_that_nobody_can_judge_has_no_verdict_and_does_not_count(
    make_league: MakeLeague,
) -> None:
    """A new league has few judges; an attempt that waited for ever would block the bot."""
    league = make_league(bots=2, judge_min_matches=99)
    bot = league.bot("b1")
    with league.service.store.write() as session:
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    assert queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL)) == []
    ended = attempt_of(league)
    assert (ended.state, ended.next_attempt_at) == ("no-verdict", None)
    assert ended.cause == NO_MODEL
    assert league.outcomes()[0]["unjudged"] == NO_MODEL
    league.model = Model()
    assert queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL)) == []
    assert attempt_of(league).state in {"qualified", "not-qualified"}
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


@pytest.mark.exhaustive
def test_attempts_to_qualify_and_rounds_have_numbers_of_their_own(
    make_league: MakeLeague,
) -> None:
    """Rounds are listed without gaps; the ids in work do not show which of both a match is of."""
    league = make_league(bots=4, pulling=("b1",))
    bot = league.bot("b1")
    with league.service.store.write() as session:
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    assert queue(league, qualification.begin(league.service, "autumn", bot.id, by=LOCAL)) == []
    assert league.play() == []
    items = work_of_bot(league.service, "autumn", bot.id, by=LOCAL)
    assert all(re.fullmatch("m[0-9a-f]{16}", item["match"]) for item in items)
    assert len({item["match"] for item in items}) == 2
    assert {frozenset(item) for item in items} == {frozenset(items[0])}
    assert [body["round"] for body in league.entries("draw-committed")] == ["q1", "r1"]
    view = View(contest=league.contest, until=None, staff=True)
    assert [of["number"] for of in views.rounds(league.service, view)] == [1]
    with pytest.raises(NotFound):
        views.round_of(league.service, view, 2)


@pytest.mark.exhaustive
def test_a_round_is_not_named_as_an_attempt_of_an_earlier_version(make_league: MakeLeague) -> None:
    """Attempts to qualify were named as rounds, and a second round of that name replaced one."""
    league = make_league(bots=4)
    league.model = Model()
    assert league.play() == []
    with league.service.store.write() as session:
        played = session.arena.round(league.contest.no, "r1")
        earlier = replace(played, id="r2", number=2, kind="qualification")
        session.arena.save_round(earlier)
    assert league.play() == []
    assert [body["round"] for body in league.entries("draw-committed")] == ["r1", "r3"]


@pytest.mark.exhaustive
def test_rounds_begin_automatically_and_one_that_is_played_is_not_overtaken(
    make_league: MakeLeague,
) -> None:
    """A league plays while nobody watches, every ``arena_round_minutes``."""
    from datetime import timedelta

    league = make_league()
    league.service = replace(league.service, round_pause=timedelta(minutes=120))
    league.play()
    for count in (2, 3):
        league.later(7201)
        assert league.work() == []
        assert len(league.entries("round-settled")) == count
    league.model = Model(fault=Fault("ours", "ours-error"))
    league.fail("b1", "b2", "b3", "b4", only="vote")
    league.later(7201)
    league.work()
    league.later(7201)
    assert league.work() == []
    assert len(league.entries("draw-committed")) == 4


@pytest.mark.exhaustive
def test_an_owner_who_judges_as_a_person_never_judges_an_own_bot(make_league: MakeLeague) -> None:
    """A list of judges without owners must not let an owner vote for the own bot."""
    league = make_league(bots=2, judges_per_match=1)
    rows = [("judges", {"id": "o-b1", "kind": "person"}, None)]
    record(league.service, "autumn", rows, by=LOCAL)
    with league.service.store.write() as session:
        no = session.contests.get("autumn").no
        session.arena.record_presence(no, Presence(id="o-b1"), league.clock.at)
    league.play()
    with league.service.store.read() as session:
        (match,) = session.arena.round(no, "r1").body["draw"]["matches"]
    assert match["api"]


@pytest.mark.exhaustive
def test_bots_that_answer_slowly_delay_no_others(make_league: MakeLeague) -> None:
    """All of a round are asked at once: forty that only answer together do answer."""
    league = make_league(bots=40)
    league.threads = ArenaPorts(transport=league.network).threads
    together = Barrier(40, timeout=30)

    def wait_for_all(work: Mapping[str, Any], url: str) -> BotReply | Fault:
        if work["kind"] == "answer":
            together.wait()
        return answer(url, work)

    for number in range(40):
        url = f"https://b{number + 1}.example/"
        league.network.behavior[url] = partial(wait_for_all, url=url)
    assert league.play() == []
    assert {match["outcome"] for match in league.outcomes()} == {"rated"}
