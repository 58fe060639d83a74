"""A league over HTTP: register, add prompts, play a round, see nothing before it is settled."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.network.pinging import endpoint_check
from agon.app.arena.live.network.transport import BotReply
from agon.app.arena.live.work import HandIn, hand_in
from agon.app.contests.ingest.records import record
from fakes.arena import League, Model, Network
from fakes.arena import league as league_at
from fakes.instance import API, Instance, instance_at

CONTEST = "/contests/autumn"
BOTS = f"{CONTEST}/bots"
NDJSON = {"content-type": "application/x-ndjson"}
RULES = {"honeypot_probability": 0, "audit_probability": 0}


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with an arena called ``autumn``."""
    opened = instance_at(tmp_path)
    new = {"id": "autumn", "discipline": "arena", "title": "A", "overrides": RULES}
    assert opened.post("/contests", "organiser", json=new).status_code == 201
    yield opened
    opened.close()


@pytest.fixture
def league(instance: Instance) -> League:
    """Return the league of the instance, with a network that rejects one endpoint."""
    service, network = instance.service, Network()
    network.behavior["https://x.example/"] = lambda _: BotReply(nonce="wrong")
    check = endpoint_check(network, random=service.random, new_id=service.new_id)
    object.__setattr__(service, "check_endpoint", check)  # frozen, and shared with the application
    object.__setattr__(service, "has_model_judge", True)  # as below; without it nobody could judge
    clock: Any = service.clock
    return League(service, network, clock, model=Model())


def register(instance: Instance, role: str = "participant", **bot: Any) -> Any:
    """Register a bot; return the response."""
    return instance.post(BOTS, role, json={"name": "Ada's", **bot})


@pytest.mark.usefixtures("league")
def test_a_bot_is_registered_once_per_owner_after_a_ping(instance: Instance) -> None:
    """The secret is shown once; what concerns the owner is not shown to others."""
    bot = register(instance, endpoint="https://a.example/").json()
    assert bot["secret"].startswith("whsec_")
    assert bot["status"] == "registered"
    second = register(instance)
    assert second.status_code == 409
    assert "bots_per_owner" in second.json()["detail"]
    assert register(instance, owner="other").status_code == 403
    wrong = register(instance, "organiser", endpoint="https://x.example/")
    assert wrong.status_code == 422
    assert "did not repeat the nonce" in wrong.json()["detail"]
    path = f"{BOTS}/{bot['id']}"
    public = instance.get(path).json()
    assert (public["endpoint"], public["paused"], public["answers"]) == (None, None, "push")
    assert "secret" not in public
    assert (public["qualified_at"], bot["qualified_at"]) == (None, None)
    assert instance.get(path, "participant").json()["endpoint"] == "https://a.example/"
    rotated = instance.post(f"{path}/rotate-secret", "participant").json()
    assert rotated["secret"] not in {None, bot["secret"]}
    assert instance.post(f"{path}/rotate-secret", "viewer").status_code == 403
    eligibility = instance.get(f"{path}/eligibility", "participant").json()
    reasons = eligibility["reasons"]
    assert not eligibility["judge"]
    assert reasons[:2] == ["does not want to judge; set judges", "has not qualified"]
    assert reasons[-1] == "has completed 0 matches: 5 more matches"
    changed = instance.client.patch(
        API + path, json={"judges": True, "version": "2"}, headers=instance.as_("participant")
    )
    assert changed.json()["version"] == "2"
    reasons = instance.get(f"{path}/eligibility", "participant").json()["reasons"]
    assert "has not qualified" in reasons
    assert "has completed 0 matches: 5 more matches" in reasons


@pytest.mark.exhaustive
def test_a_match_is_sealed_until_it_is_settled(instance: Instance, league: League) -> None:
    """Neither a round nor a match shows who plays before all votes are cast."""
    pushing = register(instance, endpoint="https://a.example/").json()
    pulling = register(instance, "organiser").json()
    assert pulling["secret"] is None
    add_prompts(instance)
    for bot in (pushing, pulling):
        qualify(instance, bot)
        assert instance.get(f"{BOTS}/{bot['id']}").json()["qualified_at"] == "2026-01-01T00:00:00Z"
    assert instance.post(f"{CONTEST}/matches", "organiser").status_code == 202
    assert league.work() == []
    (item,) = instance.get(f"{BOTS}/{pulling['id']}/work?wait=1", "organiser").json()["items"]
    assert item["protocol"] == "agon-arena-1"
    shown = instance.get(f"{CONTEST}/rounds/1").json()
    assert shown["state"] == "answering"
    assert shown["missing"] == {"answers": 1, "votes": 0}
    assert shown["pairs"] is None
    match = f"{CONTEST}/matches/r1-1"
    sealed = instance.get(match).json()
    assert {name for name, value in sealed.items() if value is not None} == {"id", "round", "state"}
    work = f"{CONTEST}/work/{item['id']}"
    assert instance.post(work, "participant", json={"text": "x"}).status_code == 404
    assert instance.post(work, "organiser", json={"text": "my own words"}).json()["accepted"]
    assert league.work() == []
    settled = instance.get(match).json()
    assert (settled["state"], settled["outcome"]) == ("settled", "rated")
    assert settled["votes"][0]["judge_id"] == "model-1"
    assert len(settled["proof"]["seed"]) == 32
    (listed,) = instance.get(f"{CONTEST}/rounds").json()["items"]
    assert len(listed["pairs"]) == 1
    league.later(3600)
    assert instance.post(work, "organiser", json={"text": "my own words"}).status_code == 200
    assert instance.post(work, "organiser", json={"text": "other"}).status_code == 409
    assert instance.get(f"{CONTEST}/judge/work", "judge").json() == {"items": []}


@pytest.mark.exhaustive
def test_work_that_is_late_is_gone(instance: Instance, league: League) -> None:
    """A program sees by the code that its answer came too late, and does not send it again."""
    pulling = [register(instance, role).json() for role in ("participant", "organiser")]
    add_prompts(instance)
    for bot in pulling:
        qualify(instance, bot)
    instance.post(f"{CONTEST}/matches", "organiser")
    league.work()
    (item,) = instance.get(f"{BOTS}/{pulling[0]['id']}/work", "participant").json()["items"]
    league.later(40)
    late = instance.post(f"{CONTEST}/work/{item['id']}", "participant", json={"text": "late"})
    assert (late.status_code, late.json()["code"]) == (410, "deadline-passed")


def test_only_the_drawn_judge_votes_once_in_time_and_for_a_shown_label(tmp_path: Path) -> None:
    """Each error is clear, the first vote counts, and no other match waits for a late one."""
    names = ("b1", "b2", "b3", "b4")
    played = league_at(tmp_path, bots=4, pulling=names, judges_per_match=2, judge_min_matches=99)
    people = [("judges", {"id": name, "kind": "person"}, None) for name in ("judy", "olga")]
    record(played.service, "autumn", people, by=LOCAL)
    instance = instance_at(tmp_path, service=replace(played.service, random=Random(1).randbytes))
    try:
        judy, olga = people_vote(played, instance)
        both, second = judy
        path, other = (f"{CONTEST}/work/{item['id']}" for item in (judy[both], olga[both]))
        for role in ("participant", "viewer", None):
            assert instance.post(path, role, json={"vote": "A"}).status_code in {401, 403, 404}
        foreign = instance.post(other, "judge", json={"vote": "A"})
        assert (foreign.status_code, foreign.json()["code"]) == (404, "not-found")
        assert "you have no work" in foreign.json()["detail"]
        assert instance.post(f"{CONTEST}/work/x", "judge", json={"vote": "A"}).status_code == 404
        for label in ("C", "a", "tie", "", "A "):
            wrong = instance.post(path, "judge", json={"vote": label})
            assert (wrong.status_code, '{"vote": "A"}' in wrong.json()["detail"]) == (422, True)
        for body in ({}, {"vote": "A", "text": "x"}, {"text": "x"}):
            assert instance.post(path, "judge", json=body).status_code == 422, body
        receipt = instance.post(path, "judge", json={"vote": "B"})
        assert (receipt.status_code, receipt.json()["accepted"]) == (200, True)
        assert instance.post(path, "judge", json={"vote": "B"}).json() == receipt.json()
        assert instance.post(path, "judge", json={"vote": "A"}).status_code == 409
        for role, item in (("organiser", olga[both]), ("judge", judy[second])):
            done = instance.post(f"{CONTEST}/work/{item['id']}", role, json={"vote": "A"})
            assert done.status_code == 200
        played.later(61)
        late_path = f"{CONTEST}/work/{olga[second]['id']}"
        late = instance.post(late_path, "organiser", json={"vote": "A"})
        assert (late.status_code, late.json()["code"]) == (410, "deadline-passed")
        played.model = Model()
        assert played.work() == []
        votes = {(vote["match_id"], vote["judge_id"], vote["vote"])
                 for vote in played.rows("votes")}  # fmt: skip
        seen = {answers: item["match"] for answers, item in judy.items()}
        assert set(seen.values()).isdisjoint(item["match"] for item in olga.values())
        shown = {answers: f"{CONTEST}/matches/{name}" for answers, name in seen.items()}
        drawn = {answers: instance.get(path).json()["id"] for answers, path in shown.items()}
        assert {(drawn[both], "judy", "B"), (drawn[both], "olga", "A")} < votes
        assert {judge for match, judge, _ in votes if match == drawn[second]} == {"model-1"}
    finally:
        instance.close()


def people_vote(played: League, instance: Instance) -> list[dict[frozenset[str], Any]]:
    """Play a round up to its votes; return the work of the judge and the organizer by answers."""
    roles = ("judge", "organiser")
    for role in roles:
        assert instance.get(f"{CONTEST}/judge/work", role).json() == {"items": []}
    assert played.play() == []
    with played.service.store.read() as session:
        no = session.contests.get("autumn").no
        items = [
            item
            for bot in session.arena.bots(no)
            for item in session.arena.waiting_work(no, bot.id, now=played.clock.at)
        ]
    for item in items:
        answer = HandIn(text=f"words of {item.assignee}")
        hand_in(played.service, played.contest, item.id, answer, by=LOCAL)
    assert played.work() == []
    waiting = [instance.get(f"{CONTEST}/judge/work", role).json()["items"] for role in roles]
    return [{frozenset(item["answers"].values()): item for item in items} for items in waiting]


def add_prompts(instance: Instance) -> None:
    """Add two prompts; a human answer to a prompt that does not exist is an error."""
    lines = '{"id": "p1", "text": "Why?"}\n{"id": "p2", "text": "Where?", "retired": true}\n'
    sent = instance.post(f"{CONTEST}/prompts", "organiser", content=lines, headers=NDJSON)
    assert sent.json() == {"saved": 2}, sent.text
    lines = '{"id": "h", "prompt_id": "p9", "text": "x"}'
    sent = instance.post(f"{CONTEST}/human-answers", "organiser", content=lines, headers=NDJSON)
    assert sent.status_code == 422


def qualify(instance: Instance, bot: Any) -> None:
    """Record that a bot has qualified."""
    row = {
        "id": bot["id"], "name": bot["name"], "owner_id": bot["owner"],
        "is_judge": bot["judges"], "qualified_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    path = f"{CONTEST}/records?table=bots&replace=true"
    assert instance.post(path, "organiser", json=row).status_code in {200, 201}
