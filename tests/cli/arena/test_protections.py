"""What does not work as the rules promise is seen in every place, with rule and reason."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.protections import PROTECTIONS
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.transitions import open_contest
from agon.cli.service.serve import protections_off
from cli.command import Cli
from fakes.arena import Model, league
from fakes.instance import Instance, instance_at
from web.browser import Browser
from web.markup import Markup


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder of the database, which all tests only read."""
    return tmp_path_factory.mktemp("protections")


@pytest.fixture(scope="module")
def instance(folder: Path) -> Iterator[Instance]:
    """Play a degraded round, and rounds with missed audits, few judges and built-in honeypots."""
    played = league(folder, bots=4, audit_probability=0.5, honeypot_probability=0.5)
    open_contest(played.service, "autumn", by=LOCAL)
    played.fail("b1", "b2", "b3", "b4", owner="transport", code="unreachable")
    assert played.play() == []
    played.network.behavior.clear()
    played.model = Model()
    played.service = replace(played.service, random=Random(5).randbytes)
    for _ in range(4):
        assert played.play() == []
    publish(played.service, "autumn")
    served = instance_at(folder, service=played.service)
    yield served
    served.close()


@pytest.mark.exhaustive
def test_a_degraded_round_is_one_in_which_no_bot_could_be_reached(
    instance: Instance, agon: Cli, folder: Path
) -> None:
    """The same rounds and no others, in the JSON of rounds and matches, pages, report, metrics."""
    rounds = {of["id"]: of for of in instance.get("/contests/autumn/rounds").json()["items"]}
    assert {name for name, of in rounds.items() if of["degraded"]} == {"r1"}
    browser = Browser(instance)
    for name in rounds:
        shown = instance.get(f"/contests/autumn/matches/{name}-1").json()
        assert shown["degraded"] is (name == "r1")
        assert "degraded" not in shown["draw"]
        page = Markup(browser.get(f"/c/autumn/matches/{name}-1").text)
        assert page.errors == []
        assert ("The round was degraded: no bot could be reached" in page.text) is (name == "r1")
    assert Markup(browser.get("/c/autumn/matches").text).text.count("degraded") == 1
    browser.sign_in("organiser")
    assert Markup(browser.get("/c/autumn/desk/rounds").text).text.count("degraded") == 1
    metrics = instance.client.get("/metrics", headers=instance.as_("operator")).text
    assert 'agon_arena_degraded_rounds{contest="autumn"} 1.0' in metrics
    database = f"sqlite:///{folder}/agon.db"
    report = agon("arena", "report", "autumn", "--database", database, "--format", "json")
    assert report.json()["degraded_rounds"] == ["r1"]
    table = agon("arena", "report", "autumn", "--database", database)
    assert "degraded, no bot could be reached: r1\n" in table.err


def test_protections_that_are_off_stand_in_every_place(
    instance: Instance, agon: Cli, folder: Path
) -> None:
    """Matches, desk, rules, report, metrics, the start of the server: name, rule, reason."""
    off = instance.get("/contests/autumn/protections").json()["items"]
    assert {each["name"]: each["rule"] for each in off} == {
        name: promised.rule for name, promised in PROTECTIONS.items()
    }
    browser = Browser(instance)
    pages = [browser.get("/c/autumn/matches").text, browser.get("/c/autumn/rules").text]
    browser.sign_in("organiser")
    pages.append(browser.get("/c/autumn/desk/rounds").text)
    texts = [Markup(page).text for page in pages]
    database = f"sqlite:///{folder}/agon.db"
    report = agon("arena", "report", "autumn", "--database", database)
    metrics = instance.client.get("/metrics", headers=instance.as_("operator")).text
    started = protections_off(instance.service)
    for each in off:
        for text in (*texts, report.err, "\n".join(started)):
            assert each["cause"] in text
        for text in (*texts[1:], report.err, "\n".join(started)):  # not Matches: for visitors
            assert each["rule"] in text
        labels = f'contest="autumn",protection="{each["name"]}",rule="{each["rule"]}"'
        assert f"agon_arena_protection_off{{{labels}}} 1.0" in metrics


@pytest.mark.exhaustive
def test_visitors_read_what_a_protection_does_and_managers_what_to_set(instance: Instance) -> None:
    """Who judges for fun knows neither rules by their names nor a file of settings."""
    off = instance.get("/contests/autumn/protections").json()["items"]
    missed = next(
        shown["id"]
        for of in instance.get("/contests/autumn/rounds").json()["items"]
        for number in range(1, of["matches"] + 1)
        if (shown := instance.get(f"/contests/autumn/matches/{of['id']}-{number}").json())[
            "audit_missed"
        ]
    )
    visitor, organizer = Browser(instance), Browser(instance)
    organizer.sign_in("organiser")
    judge = Browser(instance)
    judge.sign_in("judge")
    for address in ("/c/autumn/matches", f"/c/autumn/matches/{missed}"):
        for browser in (visitor, judge):
            page = Markup(browser.get(address).text)
            assert page.errors == []
            assert off[0]["meaning"] in page.text
            assert f"/c/autumn/rules#{off[0]['rule']}" in page.links
            assert not re.search(r"\w_\w|\[arena", page.text.replace(missed, ""))
        managed = Markup(organizer.get(address).text)
        assert managed.errors == []
        assert "Rule audit_probability, settings [arena.audit]" in managed.text
    desk = Markup(organizer.get("/c/autumn/desk/rounds").text).text
    assert all(each["rule"] in desk and (each["setting"] or "") in desk for each in off)


@pytest.mark.exhaustive
def test_a_match_states_what_it_went_without(instance: Instance) -> None:
    """The list of a contest does not show which of its matches were concerned."""
    browser = Browser(instance)
    seen: set[str] = set()
    for of in instance.get("/contests/autumn/rounds").json()["items"]:
        for number in range(1, of["matches"] + 1):
            name = f"{of['id']}-{number}"
            shown = instance.get(f"/contests/autumn/matches/{name}").json()
            off = {each["name"]: each["cause"] for each in shown["protections_off"]}
            seen |= off.keys()
            assert ("audits" in off) is (shown["audit_missed"] is not None)
            assert ("API judge" in off) is (shown["unjudged"] is not None)
            assert "the minimum is 10" in off["pool of judges"]
            assert ("honeypots" in off) is (shown["outcome"] == "honeypot")
            page = Markup(browser.get(f"/c/autumn/matches/{name}").text).text
            assert all(cause in page for cause in off.values())
    assert seen == {"audits", "pool of judges", "honeypots"}
