"""What the owner of a bot sees and does: pauses and versions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, LOCAL, find_view
from agon.app.arena.live.entrants.bots import BotChanges, change, register
from agon.app.arena.live.scored import scored_arena
from agon.app.arena.live.work import HandIn, hand_in, work_of_bot
from agon.app.arena.report import round_findings
from agon.app.contests.cases.findings import scan
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.events import events
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.app.webhooks.subscriptions import subscribe
from agon.entities.access import Caller
from app.arena.live.conftest import MakeLeague
from fakes.arena import OLD, League, Model, answer
from fakes.service import ORGANISER, PARTICIPANT, VIEWER


def paused_bots(league: League, caller: Caller) -> list[Mapping[str, Any]]:
    """Return the bodies of the events about paused bots that a caller sees."""
    with league.service.store.read() as session:
        view = find_view(session, "autumn", caller, now=league.service.clock())
    seen = events(league.service, view).events
    return [event.body for event in seen if event.kind == "bot-paused"]


@pytest.mark.exhaustive
def test_a_pause_is_announced_to_the_owner_and_to_organizers_only(make_league: MakeLeague) -> None:
    """Also while the contest is frozen; others would learn who failed in hidden rounds."""
    league = make_league(bots=3)
    league.model = Model()
    open_contest(league.service, "autumn", by=ORGANISER)
    pulling, _ = register(league.service, "autumn", name="ada's", by=PARTICIPANT)
    row = {"id": pulling.id, "name": "ada's", "owner_id": "ada", "qualified_at": OLD}
    record(league.service, "autumn", [("bots", row, None)], by=LOCAL, replace=True)
    subscribe(league.service, "autumn", url="https://hooks.example/", by=ORGANISER)
    freeze(league.service, "autumn", by=ORGANISER)
    for _ in range(3):
        assert paused_bots(league, PARTICIPANT) == []
        assert league.play() == []
        league.later(31)  # the bot does not ask for its work
        assert league.work() == []
    (body,) = paused_bots(league, PARTICIPANT)
    assert body["bot"] == pulling.id
    assert "3 forfeits in a row, the last with late" in body["cause"]
    assert paused_bots(league, ORGANISER) == [body]
    for other in (ANONYMOUS, VIEWER, replace(PARTICIPANT, user="eve", name="user:eve")):
        assert paused_bots(league, other) == []
    with league.service.store.read() as session:
        (webhook,) = session.webhooks.of(session.contests.get("autumn").no)
        delivered = session.webhooks.deliveries(webhook.id)
        numbers = {event.no: event.kind for event in session.events.after(0)}
    assert "bot-paused" in {numbers[delivery.event_no] for delivery in delivered}


def provisional(league: League, name: str) -> bool:
    """Return whether the board marks a bot's rating as provisional."""
    with league.service.store.read() as session:
        contest = session.contests.get("autumn")
    with scored_arena(league.service, contest) as (scored, _):
        row = scored.board("bots").row(league.bot(name).id)
        standing = scored.explain(league.bot(name).id, board="bots").parts[-1]
    assert (standing.missing is not None) == row["provisional"]
    return bool(row["provisional"])


def test_a_new_version_is_recorded_and_makes_the_rating_provisional_again(
    make_league: MakeLeague,
) -> None:
    """By a change, by a reply and by what a pulling bot hands in; an unusable one is ignored."""
    league = make_league(bots=3, pulling=("b3",), provisional_matches=1, pairing="spread")
    league.model = Model()
    stated = {"b1": "1.0", "b2": "2\n"}

    def reply_of(url: str, version: str) -> Any:
        def behave(work: Mapping[str, Any]) -> Any:
            return replace(answer(url, work), version=version)

        return behave

    for name, version in stated.items():
        url = f"https://{name}.example/"
        league.network.behavior[url] = reply_of(url, version)
    for _ in range(4):
        assert league.play() == []
        for item in work_of_bot(league.service, "autumn", league.bot("b3").id, by=LOCAL):
            handed_in = HandIn(text=f"words {item['match']}", version="3 beta")
            hand_in(league.service, league.contest, item["id"], handed_in, by=LOCAL)
        assert league.work() == []
        league.later(3600)
    rows = league.rows("versions")
    marks = {row["bot_id"]: row["version"] for row in rows}
    assert marks == {league.bot("b1").id: "1.0", league.bot("b3").id: "3 beta"}
    assert len(rows) == 2
    assert league.bot("b2").version == ""
    assert [provisional(league, name) for name in ("b1", "b2", "b3")] == [False] * 3
    new = BotChanges(version="1.1")
    changed, _ = change(league.service, "autumn", league.bot("b1").id, new, by=LOCAL)
    assert (changed.version, changed.version_at) == ("1.1", league.clock.at)
    change(league.service, "autumn", changed.id, new, by=LOCAL)
    assert len(league.rows("versions")) == 3
    assert provisional(league, "b1")
    assert not provisional(league, "b2")


def test_forfeits_and_shared_networks_are_findings_of_the_scan(make_league: MakeLeague) -> None:
    """After settlement; of networks only keyed hashes are recorded, also for known owners."""
    league = make_league(bots=4)
    league.model = Model()
    service, hashed = league.service, "ab" * 16
    owner = {"id": "ada", "handle": "ada l", "account_created_at": OLD}
    record(service, "autumn", [("owners", owner, None)], by=LOCAL)
    people = [replace(PARTICIPANT, network=hashed), Caller(
        name="user:bob", user="bob", role="participant", network=hashed)]  # fmt: skip
    for caller in people:
        register(service, "autumn", name=f"bot of {caller.user}", by=caller)
    league.fail("b1", only="answer")
    assert league.play() == []
    scan(service, "autumn", further=round_findings)
    with service.store.read() as session:
        contest = session.contests.get("autumn")
        seq, lines = session.cases.findings(contest.no)
    reported = {value["code"]: value for value in map(orjson.loads, lines)}
    assert seq == contest.seq
    assert reported["forfeits"]["subjects"] == [league.bot("b1").id]
    assert (reported["forfeits"]["value"], reported["forfeits"]["probability"]) == (1, 0.5)
    assert reported["shared-network"]["subjects"] == ["ada", "bob"]
    (replaced,) = [body["row"] for body in league.entries("record-replaced")
                   if body["row"]["id"] == "ada"]  # fmt: skip
    assert replaced == {**replaced, "handle": "ada l", "network": hashed}
