"""Protections that rules promise and that do not work: seen, with rule and reason."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from agon.app.access.permissions import View
from agon.app.arena.judging.choice import pause_reason
from agon.app.arena.judging.limits import UsageLimits
from agon.app.arena.live.honeypots.bank import save_honeypot_answers
from agon.app.arena.live.protections import arenas_off, protections_off
from agon.app.arena.live.views import match_of
from agon.entities.arena_reports import DisabledProtection
from agon.entities.judging import ModelUsage
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, Model

LIMITS = UsageLimits(calls=10, tokens=10**6, max_failures=3, pause=timedelta(minutes=1))


def off(league: League) -> dict[str, DisabledProtection]:
    """Return the protections that are off, by name."""
    view = View(contest=league.contest, until=None, staff=False, user=None)
    return {each.name: each for each in protections_off(league.service, view)}


def test_audits_that_are_drawn_and_not_made_are_seen(make_league: MakeLeague) -> None:
    """A league without a model drew 531 audits and made none, and no page said so."""
    league = make_league(bots=4, audit_probability=1.0)
    league.model = Model()
    assert league.play() == []
    seen = off(league)["audits"]
    assert (seen.rule, seen.matches) == ("audit_probability", 2)
    assert (seen.setting, "no model is configured" in seen.cause) == ("[arena.audit]", True)
    assert "2 of 2 drawn audits were not made" in seen.cause
    view = View(contest=league.contest, until=None, staff=False, user=None)
    [first, *_] = league.rows("matches")
    shown = match_of(league.service, view, first["id"])
    assert shown["audit_missed"] == "no model is configured to audit"
    assert [(contest.id, each.name) for contest, each in arenas_off(league.service)] == [
        ("autumn", name) for name in off(league)
    ]


@pytest.mark.exhaustive
def test_each_protection_that_is_off_names_its_rule(make_league: MakeLeague) -> None:
    """A pool below its minimum, no API judge, and honeypots with texts that everybody knows."""
    league = make_league(bots=4, audit_probability=0.1, honeypot_probability=0.05)
    league.model = Model()
    assert league.play() == []
    assert {name: each.rule for name, each in off(league).items()} == {
        "audits": "audit_probability",
        "pool of judges": "min_judge_pool",
        "API judge": "judges_per_match",
        "honeypots": "honeypot_probability",
    }
    assert "the minimum is 10" in off(league)["pool of judges"].cause


def test_nothing_is_listed_that_works_or_that_no_rule_promises(make_league: MakeLeague) -> None:
    """A warning that is always there is not read."""
    league = make_league(bots=4, min_judge_pool=1, audit_probability=0.1, honeypot_probability=0.05)
    ask = partial(pause_reason, {"judge": LIMITS, "audit": LIMITS})
    league.service = replace(league.service, model_pause=ask)
    save_honeypot_answers(
        league.service, "autumn", [(1, {"id": "h1", "text": "As an AI, I note that."})], by="x"
    )
    assert off(league) == {}
    with league.service.store.write() as session:
        today = league.service.clock().date().isoformat()
        session.judging.save_usage(ModelUsage(judge="audit", day=today, calls=10))
    assert "the budget of 10 calls a day is used up" in off(league)["audits"].cause
    silent = make_league(bots=2)
    assert set(off(silent)) == {"API judge"}
