"""Test a league among friends: the how-to from nothing to a settled round, with one list."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.arena import League, Network
from fakes.instance import Instance, instance_at
from fakes.service import Clock

ROOT = Path(__file__).parents[4]


@pytest.fixture
def league(tmp_path: Path) -> Any:
    """Return an instance with a friendly league, made as the desk and the command make it."""
    instance = instance_at(tmp_path)
    body = {"id": "league", "discipline": "arena", "title": "League", "preset": "friendly"}
    assert instance.post("/contests", "organiser", json=body).status_code == 201
    assert instance.post("/contests/league/open", "organiser").status_code == 200
    yield instance
    instance.close()


def missing(instance: Instance) -> list[str]:
    """Return what is missing for the next round."""
    listed: list[str] = instance.get("/contests/league/next-round").json()["missing"]
    return listed


def work_off(instance: Instance) -> list[str]:
    """Do what a worker has to do; return why jobs failed."""
    service = instance.service
    clock = service.clock
    assert isinstance(clock, Clock)
    return League(service, Network(), clock).work()


def test_one_list_names_everything_that_is_missing(league: Instance) -> None:
    """Errors that come one at a time cost a newcomer an hour."""
    bots, judges = missing(league)
    assert bots.startswith("bots of two owners are needed, there are those of 0")
    assert judges.startswith("a match needs 1 judge, 0 can judge now")
    refused = league.post("/contests/league/matches", "organiser")
    assert refused.status_code == 409
    assert all(text in refused.json()["detail"] for text in (bots, judges))
    page = league.client.get("/c/league/matches").text
    assert "bots of two owners are needed" in page
    assert "a match needs 1 judge" in page


def test_two_bots_and_one_judge_play_a_round(league: Instance) -> None:
    """Nobody qualifies, no account has to be old, and no model is configured."""
    first = league.post("/contests/league/bots", "participant", json={"name": "one"}).json()
    second = league.post(
        "/contests/league/bots", "organiser", json={"name": "two", "owner": "olga"}
    ).json()
    assert [text.split(",")[0] for text in missing(league)] == ["a match needs 1 judge"]
    assert league.get("/contests/league/judge/work?wait=0", "judge").status_code == 200
    assert missing(league) == []
    begun = league.post("/contests/league/matches", "organiser")
    assert begun.status_code == 202, begun.text
    assert work_off(league) == []
    for bot, role, text in ((first, "participant", "tea and rain"), (second, "organiser", "no")):
        path = f"/contests/league/bots/{bot['id']}/work?wait=0"
        (work,) = league.get(path, role).json()["items"]
        done = league.post(f"/contests/league/work/{work['id']}", role, json={"text": text})
        assert done.status_code == 200, done.text
    assert work_off(league) == []
    (vote,) = league.get("/contests/league/judge/work?wait=0", "judge").json()["items"]
    voted = league.post(f"/contests/league/work/{vote['id']}", "judge", json={"vote": "A"})
    assert voted.status_code == 200, voted.text
    assert work_off(league) == []
    (settled,) = league.get("/contests/league/rounds").json()["items"]
    assert settled["state"] == "settled"
    assert league.get("/contests/league/matches/r1-1").json()["outcome"] == "rated"


def test_other_disciplines_have_no_preset_of_arenas(tmp_path: Path) -> None:
    """The error names the discipline that has it."""
    instance = instance_at(tmp_path)
    body = {"id": "cup", "discipline": "dojo", "title": "Cup", "preset": "friendly"}
    refused = instance.post("/contests", "organiser", json=body)
    assert (refused.status_code, "discipline arena" in refused.text) == (422, True), refused.text
    instance.close()


def test_unchanged_example_bots_differ() -> None:
    """Two friends who start the same file must not be skipped as copies of each other."""
    code = (
        "import sys; sys.argv = ['pull.py', 'league', sys.argv[1]];"
        "text = open('examples/bots/pull.py').read().partition('state = None')[0];"
        "exec(text); print(reply_to({'kind': 'answer', 'prompt': 'Why?', 'max_chars': 400}))"
    )
    env = {**os.environ, "AGON_SERVER": "http://site", "AGON_TOKEN": "t"}
    answers = {
        subprocess.run(
            [sys.executable, "-c", code, bot], cwd=ROOT, env=env, capture_output=True, check=True
        ).stdout
        for bot in ("bot_one", "bot_two", "bot_three")
    }
    assert len(answers) == 3
