"""The arena's attacks: what they do, and what each edition makes of them.

The worlds are small; ``agon attack arena`` plays larger ones.
"""

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

from agon.attacks.arena import LAB
from agon.attacks.arena.played import PlayedSeason
from agon.attacks.arena.season import Season
from agon.attacks.arena.world import DAYS, World, simulated_world
from agon.attacks.lab import AttackStanding, Lab
from agon.attacks.prices import default_prices
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.arena import integrity, scoring
from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.editions import edition
from agon.errors import Unreadable
from agon.records import read_rows

NAMES = {strategy.name: strategy for strategy in LAB.strategies}


@cache
def world() -> World:
    """Return a small arena."""
    return simulated_world(size=12, seed=3)


def rules_of(name: str) -> ArenaRules:
    """Return the rules of an edition."""
    rules = edition(name).rules
    assert isinstance(rules, ArenaRules)
    return rules


LITERAL, HARDENED = rules_of("arena/sentience-1"), rules_of("arena/hardened-1")


def play(name: str | None, plan: Plan, rules: ArenaRules = LITERAL) -> PlayedSeason:
    """Return the season with an attack; None: the attacker takes part honestly."""
    strategy = NAMES[name] if name else None
    return cast("PlayedSeason", LAB.play(world(), rules, strategy, plan, 0))


@cache
def honest_season() -> PlayedSeason:
    """Return the season in which the attacker takes part honestly."""
    return play(None, {})


def same(one: Any, other: Any) -> bool:
    """Return whether two values of facts are equal, arrays included."""
    if is_dataclass(one):
        return all(same(getattr(one, of.name), getattr(other, of.name)) for of in fields(one))
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else one == other


@pytest.mark.sample(2)
@pytest.mark.parametrize("strategy", LAB.strategies, ids=lambda strategy: strategy.name)
def test_every_attack_acts_has_a_price_and_depends_on_the_seed_alone(
    strategy: Strategy[Season],
) -> None:
    """Its first plan changes the records, twice the same; its files name source and knowledge."""
    plan = strategy.plans[0]
    played, again = play(strategy.name, plan), play(strategy.name, plan)
    tables = played.tables(DAYS - 1)
    assert all(tables[name].equals(again.tables(DAYS - 1)[name]) for name in tables)
    assert not tables["votes"].equals(honest_season().tables(DAYS - 1)["votes"])
    effort = played.effort
    assert sum(effort.accounts.values()) + sum(effort.actions.values()) > 0
    assert effort.money(default_prices()) > 0
    assert strategy.source
    assert strategy.knows
    assert strategy.meaning.endswith(".")


@pytest.mark.sample(1)
@pytest.mark.parametrize("rules", [LITERAL, HARDENED], ids=["literal", "hardened"])
def test_a_season_kept_as_arrays_gives_what_its_records_give(rules: ArenaRules) -> None:
    """Facts, findings, ratings day by day, votes, and the boards without the attacker."""
    played = play("omnipresent-rigging", {"judges": 16, "rivals": 8}, rules)
    with read_rows(SCHEMA, played.tables(DAYS - 1)) as records:
        assert same(facts_of(records), played.facts(DAYS - 1))
        scored = scoring.score(records, rules)
        ratings = {row["id"]: row["score"] for row in scored.board("bots").rows()}
        votes = {row["id"]: row["votes"] for row in scored.board("judges").rows()}
    best = max(ratings[name] for name in played.accounts)
    others = [ratings[name] for name in played.honest]
    assert played.standing == AttackStanding(
        1 + sum(other > best for other in others),
        best,
        sum(votes[name] for name in played.accounts) / sum(votes.values()),
        {name: 1 + sum(r > ratings[name] for r in [*others, best]) for name in played.honest},
    )
    assert LAB.findings(played, rules, 9) == Lab.findings(LAB, played, rules, 9)
    assert LAB.remaining(played, rules) == Lab.remaining(LAB, played, rules)


def test_records_of_an_earlier_day_are_a_part_of_those_of_a_later_one() -> None:
    """A finding after some actions sees the records of that day only."""
    played = play("void-dodging", {"share": 0.5})
    early, late = played.tables(3)["matches"], played.tables(DAYS - 1)["matches"]
    assert 0 < len(early) < len(late)
    assert late.slice(0, len(early)).equals(early)
    assert played.actions_until(3) < played.actions_until(DAYS - 1)


def test_judges_that_vote_for_a_bot_raise_its_rating() -> None:
    """Sixteen judges move it to the top, under both editions."""
    honest = honest_season().standing
    for rules in (LITERAL, HARDENED):
        played = play("target-rigging", {"judges": 16}, rules)
        assert played.standing.points > honest.points + 80


def test_not_answering_gains_under_the_literal_edition_only() -> None:
    """A void match keeps the rating; a loss does not."""
    standings = {}
    for rules in (LITERAL, HARDENED):
        played = play("void-dodging", {"share": 0.5}, rules)
        standings[rules.forfeit] = played.standing.points
    assert standings["void"] > standings["loss"] + 40


def test_a_judge_that_spends_its_trust_is_named_under_the_hardened_edition() -> None:
    """The check low-agreement warns of it; honest judges are not named more often than stated."""
    played = play("bank-of-trust", {"judges": 2, "day": 7}, HARDENED)
    findings = integrity.find(read_rows(SCHEMA, played.tables(DAYS - 1)), HARDENED)
    named = {one.subjects[0] for one in findings if one.code == "low-agreement"}
    assert named & set(played.accounts[1:])
    assert len(named & set(played.honest)) <= 1


def test_a_withdrawn_bot_plays_no_more() -> None:
    """After the day of the plan only one version is left."""
    played = play("retraction", {"versions": 4, "day": 10})
    late = played.season.arrays
    since = played.season.ends[10]
    playing = np.unique(np.concatenate([late.bot_a[since:], late.bot_b[since:]]))
    assert len(set(playing.tolist()) & set(played.season.accounts)) == 1


def test_a_real_board_gives_the_strengths() -> None:
    """The attacker meets bots as strong as the ratings say; too few bots are refused."""
    with read_rows(SCHEMA, honest_season().tables(DAYS - 1)) as records:
        observed = LAB.observe(records, seed=1)
    assert len(observed) == len(world()) + 1
    with (
        read_rows(SCHEMA, {"bots": [{"id": 1, "name": "a"}], "matches": []}) as records,
        pytest.raises(Unreadable, match="at least 12 rated bots, got 0"),
    ):
        LAB.observe(records, seed=1)
    with pytest.raises(Unreadable, match="at least 12 people with a bot each, got 11"):
        LAB.simulate(size=11, seed=1)
