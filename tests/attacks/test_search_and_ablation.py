"""A search finds cheaper plans where there are any; a guard off alone opens its attack."""

from dataclasses import replace
from typing import Any

import pytest

from agon.app.analysis.attack import AttackReport, attack
from agon.attacks.catalog import lab_of
from agon.attacks.prices import default_prices
from agon.attacks.runner import Runner, select
from agon.attacks.search import bounds, search
from agon.editions import edition

PRICES = default_prices()


@pytest.fixture(scope="module")
def report() -> AttackReport:
    """Two attacks on a small dojo, with search and ablation."""
    return attack(
        "dojo",
        editions=["hardened-1"],
        names=["tag-farming", "renamed-copies"],
        size=20,
        trials=4,
        ablation=True,
    )


def test_a_search_finds_what_a_catalog_of_dear_plans_lacks() -> None:
    """Twice the same for a seed, within the bounds, and the cheaper plan reaches the goal."""
    lab = lab_of("community")
    [spam] = select(lab, ["feedback-spam"])
    dear = replace(spam, plans=({"feedbacks": 30},))
    runner = Runner(lab, lab.simulate(size=30, seed=1), edition("community/scores0002-1").rules)
    catalog = runner.run(dear)
    assert catalog.reached
    first, again = (
        search(runner, dear, catalog, prices=PRICES, seed=1, trials=8) for _ in range(2)
    )
    assert first == again
    assert first.cheapest.reached
    assert first.cheapest.effort.money(PRICES) < catalog.effort.money(PRICES)
    within = bounds(dear)["feedbacks"]
    assert within.low <= first.cheapest.plan["feedbacks"] <= within.high
    assert runner.run_plan(dear, first.cheapest.plan, goal="rank+1") == first.cheapest


@pytest.mark.exhaustive
def test_nothing_much_cheaper_than_the_catalog_is_found(report: AttackReport) -> None:
    """At most 20 % cheaper than the cheapest attack; every find names a file that replays it."""
    value = report.to_dict(stored=True)["search"]
    assert [best["ratio"] >= 0.8 for best in value["best"]] == [True]
    assert [found["name"] for found in value["attacks"]] == ["tag-farming", "renamed-copies"]
    files = dict(report.replays())
    for found in value["attacks"]:
        assert dict(files[found["replay"]].plan) == found["plan"]


@pytest.mark.exhaustive
def test_a_guard_off_alone_opens_its_attack_and_an_idle_one_is_named(report: AttackReport) -> None:
    """The two attacks have nothing to do with tables in strings."""
    guards: list[dict[str, Any]] = report.to_dict()["ablation"]
    [strings, tags] = guards
    assert strings["guard"] == {
        "max_string_literal_chars": {"off": 2000, "on": 200},
        "max_string_bytes": {"off": 2000, "on": 200},
    }
    assert strings["idle"]
    assert {effect["effect"] for effect in strings["attacks"]} == {None}
    assert strings["honest_correlation"] == 1
    assert not tags["idle"]
    assert [effect["effect"] for effect in tags["attacks"]] == ["possible", None]
