"""People who judge: the guards of bots hold for them, and asking for work writes no record."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL, view_of
from agon.app.arena.draw_audit import check_draws
from agon.app.arena.live import qualification, views
from agon.app.arena.live.entrants import people
from agon.app.arena.live.work import HandIn, hand_in, work_of_judge
from agon.app.contests.ingest.records import record
from agon.entities.access import Caller, User
from agon.entities.arena import HumanAnswer
from agon.errors import Unreadable
from agon.ledger.fold import empty_ledger, fold
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model
from fakes.service import JUDGE, PARTICIPANT

DAY = 86_400


def caller(name: str, *, network: str | None = None) -> Caller:
    """Return a person with a judge's token."""
    return replace(JUDGE, name=f"user:{name}", user=name, network=network)


def add_user(league: League, name: str) -> None:
    """Create a user, now."""
    with league.service.store.write() as session:
        session.access.add_user(User(id=name, name=name.title(), created_at=league.clock.at))


def ask(league: League, *callers: Caller) -> None:
    """Let people ask for work, so that they are present."""
    for by in callers:
        work_of_judge(league.service, "autumn", by=by)


def drawable(league: League) -> set[str]:
    """Return who could judge the last round's matches: its judges and reserves."""
    with league.service.store.read() as session:
        of = session.arena.rounds(league.contest.no, limit=1)[0]
    drawn = of.body["draw"]["matches"]
    return {judge for match in drawn for judge in (*match["judges"], *match["reserves"])}


def expire(league: League) -> None:
    """Let the time of all judges pass, until the model judges and the round is settled."""
    while not league.entries("round-settled"):
        league.later(62)
        league.work()


def reasons(league: League, by: Caller) -> tuple[str, ...]:
    """Return what keeps a caller from judging."""
    return people.eligibility(league.service, view_of(league.contest, LOCAL), by=by)


def issues(lines: Iterable[bytes]) -> list[str]:
    """Return what replay finds wrong with the draws of a ledger."""
    known = list(lines)
    state = fold(known, start=empty_ledger("autumn"))
    return [issue.what for issue in check_draws(known, state).issues]


@pytest.mark.exhaustive
def test_a_young_account_is_not_drawn_and_is_shown_why(make_league: MakeLeague) -> None:
    """The age is that of the server's user; asking from when on does not make it older."""
    league = make_league(bots=4, judges_per_match=1, person_account_age_days=2)
    add_user(league, "judy")
    ask(league, JUDGE)
    league.play()
    assert "judy" not in drawable(league)
    assert league.rows("judges") == []
    (reason,) = reasons(league, JUDGE)
    assert "the account is " in reason
    assert reason.endswith("; 2 days are needed")
    league.later(2 * DAY)
    assert reasons(league, JUDGE) == ()
    ask(league, JUDGE)
    league.play()
    assert "judy" in drawable(league)
    assert reasons(league, JUDGE) == ()
    assert [row["id"] for row in league.rows("judges")] == ["judy"]


@pytest.mark.exhaustive
def test_the_organizers_record_states_the_age_of_an_account(make_league: MakeLeague) -> None:
    """A person who is known for years may have a new user; one without a user has no age."""
    league = make_league(bots=2, judges_per_match=1, person_account_age_days=7)
    add_user(league, "judy")
    row = {"id": "judy", "handle": "judy", "account_created_at": "2020-01-01T00:00:00Z"}
    assert reasons(league, caller("ghost")) == ("the age of the account is unknown",)
    assert reasons(league, JUDGE) != ()
    record(league.service, "autumn", [("owners", row, None)], by=LOCAL)
    assert reasons(league, JUDGE) == ()


def test_who_is_no_judge_is_shown_so(make_league: MakeLeague) -> None:
    """A participant may ask for work, and waits in vain; who is no user cannot judge."""
    league = make_league(bots=2)
    assert reasons(league, PARTICIPANT) == (people.NO_JUDGE,)
    with pytest.raises(Unreadable, match="only a user can judge"):
        reasons(league, LOCAL)


def test_people_on_the_network_of_an_owner_or_of_each_other_judge_apart(
    make_league: MakeLeague,
) -> None:
    """Each vote is of another network, and the draw states who shared one: replay checks it."""
    league = make_league(bots=2, judging=False, judges_per_match=1, network_guard=True)
    league.model = Model()
    owner = {"id": "o-b1", "handle": "h", "account_created_at": None, "network": "a" * 32}
    record(league.service, "autumn", [("owners", owner, None)], by=LOCAL, replace=True)
    ask(league, caller("ann", network="a" * 32), caller("bob", network="b" * 32),
        caller("cat", network="b" * 32), caller("dan"))  # fmt: skip
    assert league.play() == []
    assert len(drawable(league) & {"bob", "cat"}) == 1
    assert "ann" not in drawable(league)
    assert "dan" in drawable(league)
    expire(league)
    inputs = league.entries("draw-made")[0]["result"]["inputs"]
    assert inputs["networks"] == {"ann": 1, "o-b1": 1, "bob": 2, "cat": 2}
    assert issues(league.ledger()) == []
    stored = {row["id"]: row.get("network") for row in league.rows("owners")}
    assert (stored["ann"], stored["dan"]) == ("a" * 32, None)


def test_a_draw_that_does_not_state_a_shared_network_is_an_issue(make_league: MakeLeague) -> None:
    """An operator could otherwise seat a friend of an owner by leaving the network out."""
    league = make_league(bots=2, judging=False, judges_per_match=1, network_guard=True)
    league.model = Model()
    for name, network in (("o-b1", "a" * 32), ("ann", "a" * 32), ("bob", "b" * 32)):
        row = {"id": name, "handle": "h", "account_created_at": None, "network": network}
        record(league.service, "autumn", [("owners", row, None)], by=LOCAL, replace=True)
    ask(league, caller("ann"), caller("bob"))
    league.play()
    expire(league)
    made = next(at for at, line in enumerate(league.ledger()) if b'"draw-made"' in line)
    forged = league.ledger()
    forged[made] = forged[made].replace(b'"networks":{"ann":1,"o-b1":1},', b"")
    assert forged != league.ledger()
    state = fold(league.ledger(), start=empty_ledger("autumn"))
    reported = [issue.what for issue in check_draws(forged, state).issues]
    assert any("ann and o-b1 share a network" in what for what in reported), reported


@pytest.mark.exhaustive
def test_one_newcomer_at_most_judges_a_match_and_gains_experience(make_league: MakeLeague) -> None:
    """A crowd of new accounts cannot be a majority; each vote brings the next seat nearer."""
    league = make_league(
        bots=4, judges_per_match=2, person_min_matches=1, newcomers_per_panel=1
    )  # fmt: skip
    crowd = [caller(f"new{number}") for number in range(8)]
    ask(league, *crowd)
    league.play()
    with league.service.store.read() as session:
        drawn = session.arena.round(league.contest.no, "r1").body["draw"]["matches"]
    names = {by.user for by in crowd}
    for match in drawn:
        assert len({*match["judges"], *match["reserves"]} & names) == 1
    experienced = set()
    for by in crowd:
        for item in work_of_judge(league.service, "autumn", by=by):
            hand_in(league.service, league.contest, item["id"], HandIn(vote="A"), by=by)
            experienced.add(by.user)
    league.later(62)
    league.work()
    assert len(league.rows("matches")) == 2
    ask(league, *crowd)
    league.play()
    inputs = league.entries("draw-committed")[1]
    assert inputs["round"] == "r2"
    with league.service.store.read() as session:
        stated = session.arena.round(league.contest.no, "r2").body["inputs"]["newcomers"]
    assert set(stated) == names - experienced
    assert experienced
    assert issues(league.ledger()) == []


@pytest.mark.exhaustive
def test_people_without_experience_do_not_judge_where_no_seat_is_theirs(
    make_league: MakeLeague,
) -> None:
    """The rule says what is missing, and a round that needs them says that nobody can judge."""
    league = make_league(
        bots=2, judging=False, judges_per_match=1, person_min_matches=3, newcomers_per_panel=0
    )  # fmt: skip
    assert reasons(league, JUDGE) == ("has judged or played 0 matches: 3 more matches",)
    ask(league, JUDGE)
    (cause,) = league.play()
    assert "a match needs 1 judge, 0 can judge now" in cause


@pytest.mark.exhaustive
def test_guards_hold_for_attempts_to_qualify_too(make_league: MakeLeague) -> None:
    """A friend on the owner's network could otherwise let a bot qualify."""
    league = make_league(bots=2, judging=False, judges_per_match=1, network_guard=True)
    league.model = Model()
    bot = league.bot("b1")
    owner = {"id": "o-b1", "handle": "h", "account_created_at": None, "network": "a" * 32}
    record(league.service, "autumn", [("owners", owner, None)], by=LOCAL, replace=True)
    row = {"id": bot.id, "name": "b1", "owner_id": "o-b1"}
    record(league.service, "autumn", [("bots", row, None)], by=LOCAL, replace=True)
    with league.service.store.write() as session:
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    ask(league, caller("ann", network="a" * 32), caller("bob", network="b" * 32))
    attempt = qualification.begin(league.service, "autumn", bot.id, by=LOCAL)
    with league.service.store.write() as session:
        session.queue.add(attempt, now=league.clock.at)
    league.work()
    with league.service.store.read() as session:
        (drawn,) = session.arena.round(league.contest.no, "q1").body["draw"]["matches"]
    assert drawn["judges"] == ["bob"]
    assert drawn["reserves"] == []


@pytest.mark.exhaustive
def test_two_assignees_of_a_match_do_not_see_that_it_is_the_same(make_league: MakeLeague) -> None:
    """The ids in work differ, show no round, and name the match to all once it is settled."""
    names = ("b1", "b2")
    league = make_league(bots=2, pulling=names, judging=False, judges_per_match=2)
    judges = [caller("ann"), caller("bob")]
    ask(league, *judges)
    league.play()
    seen: list[dict[str, Any]] = []
    with league.service.store.read() as session:
        for name in names:
            bot = league.bot(name).id
            seen += [dict(item.body) for item in session.arena.waiting_work(
                league.contest.no, bot, now=league.clock.at)]  # fmt: skip
    for item in seen:
        hand_in(league.service, league.contest, item["id"], HandIn(text=item["id"]), by=LOCAL)
    league.work()
    for by in judges:
        (waiting,) = work_of_judge(league.service, "autumn", by=by)
        item = dict(waiting)
        receipt = hand_in(league.service, league.contest, item["id"], HandIn(vote="A"), by=by)
        assert receipt["match"] == item["match"]
        seen.append(item)
    league.work()
    ids = {item["match"] for item in seen}
    assert len(ids) == 4
    view = view_of(league.contest, LOCAL)
    settled = [match_of(league, view, name)["id"] for name in ids]
    assert settled == ["r1-1"] * 4


def match_of(league: League, view: Any, name: str) -> dict[str, Any]:
    """Return a match by an id of it."""
    return views.match_of(league.service, view, name)


def test_a_judge_who_only_asks_leaves_no_record(make_league: MakeLeague) -> None:
    """A GET writes nothing to the ledger, however often it is sent."""
    league = make_league(bots=2, judges_per_match=1)
    before = league.ledger()
    for name in ("ann", "bob"):
        for _ in range(3):
            ask(league, caller(name))
            league.later(timedelta(minutes=1).total_seconds())
    assert league.ledger() == before
    league.later(DAY)
    league.play()
    assert league.rows("judges") == []  # nobody is present any more
