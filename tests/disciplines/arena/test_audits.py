"""Probes: each says *look* at the board with its defect, and none at a board without any."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agon.disciplines.arena.audits import TABLE, examine
from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.errors import NotScorable
from agon.kernel.figures import Probe
from agon.records import read_rows
from disciplines.arena.planted import (
    BOTS,
    DEFECTS,
    Row,
    battle,
    clean,
    one_circle,
    ties_of_a_weak_bot,
)


def examined(rows: list[Row], *, bots: list[str] | None = None, **rules: Any) -> dict[str, Probe]:
    """Return the probes of battles, by name."""
    names = bots or sorted({row[side] for row in rows for side in ("bot_a", "bot_b")})
    tables = {
        "bots": [{"id": name, "name": name, "owner_id": None} for name in names],
        "matches": rows,
    }
    with read_rows(SCHEMA, tables) as records:
        arena = ScoredArena(facts_of(records), ArenaRules().override(rules))
        return {probe.name: probe for probe in examine(arena)}


def alarms(make: Callable[[np.random.Generator], list[Row]], seed: int) -> set[str]:
    """Return which probes say *look* at a drawn board."""
    probes = examined(make(np.random.default_rng(seed)))
    return {name for name, probe in probes.items() if probe.verdict == "look"}


def test_every_probe_has_a_board_with_its_defect() -> None:
    """A probe that nothing makes fire is no probe."""
    assert list(DEFECTS) == list(examined(clean(np.random.default_rng(0), matches=500)))
    assert len(DEFECTS) == len(TABLE)


def test_ties_that_hide_a_weak_bot_are_noticed() -> None:
    """Its intervals are wide where ties are half a win, and the pair is apart without them."""
    probe = examined(ties_of_a_weak_bot(np.random.default_rng(2)))["ties"]
    assert (probe.verdict, probe.figure, probe.records) == ("look", 1, ("bot d",))
    assert "left out they change 2 of 6 ranks and reverse 1 pair of bots that are" in probe.sentence


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", DEFECTS)
def test_a_probe_notices_its_defect(name: str) -> None:
    """One seed here; the exhaustive test counts a hundred."""
    assert name in alarms(DEFECTS[name].draw, 1)


def test_no_probe_fires_on_a_board_without_defects() -> None:
    """A false alarm costs the trust in all others."""
    assert alarms(clean, 1) == set()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DEFECTS)
def test_a_probe_notices_its_defect_in_95_of_100_boards(name: str) -> None:
    """The promise of the specification."""
    assert sum(name in alarms(DEFECTS[name].draw, seed) for seed in range(100)) >= 95


def habitual(dice: np.random.Generator, *, judges: int) -> list[Row]:
    """Each judge repeats in nine of ten matches what it first said of a pair."""
    rows = clean(dice, bots=6, matches=600, judges=judges, spread=1.0)
    first: dict[tuple[str, str, str], Any] = {}
    for row in rows:
        known = first.setdefault((row["judge"], row["bot_a"], row["bot_b"]), row["winner"])
        row["winner"] = known if dice.random() < 0.9 else row["winner"]
    return rows


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [0, 18, 22])
def test_a_design_effect_of_ten_judges_is_held_against_what_chance_explains(seed: int) -> None:
    """Ten judges who vote independently have one above 1.5 in every seventh board of three bots."""
    dice = np.random.default_rng(seed)
    independent = examined(clean(dice, bots=3, matches=300, judges=10, spread=0.5))["voters"]
    assert independent.verdict == "fine", independent.sentence
    repeating = examined(habitual(dice, judges=10))["voters"]
    assert repeating.verdict == "look", repeating.sentence


def test_one_sure_cycle_is_noticed_where_as_many_are_expected() -> None:
    """Three bots of equal rating have a cycle by chance in one board of four, and no sure one."""
    probe = examined(one_circle(np.random.default_rng(3)))["cycles"]
    assert (probe.verdict, probe.figure) == ("look", 0.05)
    assert re.search(r"the surest has z = \d\.\d or more in each of its results", probe.sentence)
    assert "none of 400 drawn boards has one as sure" in probe.sentence


def one_loud_judge(dice: np.random.Generator) -> list[Row]:
    """A third of the matches are one judge's, who prefers one of two equal bots.

    As in arenakit's board of this kind, ranks hardly change without it.
    """
    strength = np.array([1.2, 0.6, 0.0, 0.0, -0.6, -1.2])
    rows = clean(
        dice, matches=6000, bots=6,
        chance=lambda a, b: float(1 / (1 + np.exp(strength[b] - strength[a]))),
    )  # fmt: skip
    for row in rows:
        row["prompt_id"] = f"p{dice.integers(500)}"
        if dice.random() < 0.35:
            row["judge"] = "loud"
            if {row["bot_a"], row["bot_b"]} == {BOTS[2], BOTS[3]} and dice.random() < 0.9:
                row["winner"] = "a" if row["bot_a"] == BOTS[3] else "b"
    return rows


def test_a_judge_who_alone_sets_two_bots_apart_is_named_and_makes_no_copies() -> None:
    """Its verdicts on the two are alike, which is its opinion and no row that is there twice."""
    probes = examined(one_loud_judge(np.random.default_rng(1)))
    assert probes["influence"].verdict == "look"
    merged = "without judge loud bot d and bot c are not apart any more"
    assert merged in probes["influence"].sentence
    assert probes["duplicates"].verdict == "fine"


def popular_bots(dice: np.random.Generator) -> list[Row]:
    """Draw battles of thirty bots, of whom some play ten times as often; no judge has a favorite.

    A pair of rarely seen bots can hang on one match, and there are 435 pairs and 40 groups to try.
    """
    names = [f"bot {number}" for number in range(30)]
    strength = np.linspace(2.5, -2.5, len(names))
    often = dice.permutation(1 / np.arange(1, len(names) + 1) ** 0.7)
    rows = []
    for number in range(6000):
        a, b = dice.choice(len(names), 2, replace=False, p=often / often.sum()).tolist()
        winner = "a" if dice.random() < 1 / (1 + np.exp(strength[b] - strength[a])) else "b"
        judge = f"j{dice.integers(150)}"
        rows.append(battle(number, names[a], names[b], winner, f"p{number}", judge))
    return rows


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(12))
def test_no_judge_or_prompt_is_named_where_one_match_can_move_a_bot(seed: int) -> None:
    """Every third such board had an alarm where a change of a gap was held against a normal law."""
    probe = examined(popular_bots(np.random.default_rng(seed)))["influence"]
    assert probe.verdict == "fine", probe.sentence


@pytest.mark.exhaustive
def test_one_sure_cycle_is_noticed_in_95_of_100_boards() -> None:
    """The promise of the specification, of arenakit's planted defect."""
    assert sum("cycles" in alarms(one_circle, seed) for seed in range(100)) >= 95


@pytest.mark.exhaustive
def test_ties_that_hide_a_weak_bot_are_noticed_in_95_of_100_boards() -> None:
    """The promise of the specification, of arenakit's planted defect."""
    assert sum("ties" in alarms(ties_of_a_weak_bot, seed) for seed in range(100)) >= 95


@pytest.mark.exhaustive
def test_no_probe_fires_in_95_of_100_boards_without_defects() -> None:
    """All probes together."""
    assert sum(not alarms(clean, seed) for seed in range(100)) >= 95


def test_a_board_of_small_steps_is_not_fine_though_its_ends_are_apart() -> None:
    """Two tiers say that some bots differ; the order of neighbors is what a reader sees."""
    rows = clean(np.random.default_rng(2), matches=1500, spread=0.7)
    probe = examined(rows)["separation"]
    assert "0 of 7 neighbors are apart together" in probe.sentence
    assert "in 1 tiers" not in probe.sentence
    assert probe.verdict == "look"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("matches", "verdict"), [(14, "cannot tell"), (400, "look"), (6000, "fine")]
)
def test_a_board_is_judged_by_its_gaps_once_it_has_matches(matches: int, verdict: str) -> None:
    """Too few matches are no finding about a board: its gaps were not to be seen."""
    rows = clean(np.random.default_rng(4), matches=matches, spread=1.8)
    made = examined(rows, bradley_terry_regularisation=0.5)["separation"]
    assert made.verdict == verdict, made.sentence


def test_bots_that_only_tied_are_not_fine_at_the_top() -> None:
    """No matches swap two bots of equal ratings, which is no sign that the first is first."""
    rows = [{**row, "winner": "tie"} for row in clean(np.random.default_rng(1), matches=300)]
    probe = examined(rows)["robustness"]
    assert probe.verdict == "look"
    assert "not apart" in probe.sentence


def test_groups_that_never_met_are_seen_with_a_regularization() -> None:
    """All are rated then, and the weakest cut is no cut: nothing crosses it."""
    rows = [
        row
        for row in clean(np.random.default_rng(1), matches=800)
        if (row["bot_a"] in BOTS[:5]) == (row["bot_b"] in BOTS[:5])
    ]
    probe = examined(rows, bradley_terry_regularisation=0.5)["connectivity"]
    assert (probe.verdict, probe.records) == ("look", tuple(BOTS[5:]))
    assert "2 groups of bots never met" in probe.sentence


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_the_only_prompt_has_no_influence_to_measure(prior: float) -> None:
    """Without it there is no board; a rank that then moves says nothing."""
    rows = [{**row, "judge": None, "prompt_id": "p"} for row in clean(np.random.default_rng(1))]
    probe = examined(rows[:300], bradley_terry_regularisation=prior)["influence"]
    assert (probe.verdict, probe.figure) == ("cannot tell", None)
    assert probe.sentence == "all matches have one prompt, so that none can be left out"


def test_a_weight_counts_as_often_in_other_conventions_of_ties() -> None:
    """A row of weight 5 is five matches: without ties and by Davidson the same ranks change."""
    rows = clean(np.random.default_rng(6), matches=150, spread=0.1)
    repeated = [{**row, "id": 5 * row["id"] + copy} for row in rows for copy in range(5)]
    weighted = [{**row, "weight": 5.0} for row in rows]
    changes = [
        re.findall(r"(left out|Davidson) they change (\d)", examined(each)["ties"].sentence)
        for each in (repeated, weighted)
    ]
    assert changes[0] == changes[1] == [("left out", "2"), ("Davidson", "0")]


def test_the_probe_of_ties_fits_davidson_as_the_rule_does() -> None:
    """The ranks that the probe says change are those of a board under ties=davidson."""
    rows = clean(np.random.default_rng(6), matches=150, spread=0.1)
    tables = {
        "bots": [{"id": name, "name": name, "owner_id": None} for name in BOTS],
        "matches": rows,
    }
    with read_rows(SCHEMA, tables) as records:
        rules = ArenaRules().override({"ties": "davidson"})
        board = ScoredArena(facts_of(records), rules).board("bradley-terry")
    moved = sum(row["rank"] != row["plain_rank"] for row in board.rows())
    assert f"by Davidson they change {moved} of 8" in examined(rows)["ties"].sentence


@pytest.mark.parametrize("bots", [[], ["ada"], ["ada", "bob"]], ids=len)
def test_a_board_without_a_rated_match_is_not_examined(bots: list[str]) -> None:
    """The page of a contest that has only begun says so; it is no error of the service."""
    with pytest.raises(NotScorable, match="no rated match between two bots"):
        examined([], bots=bots)


@pytest.mark.parametrize("winners", [["a"], ["tie"], ["a", "b"], ["tie", "tie"]], ids=" ".join)
def test_every_probe_answers_on_a_board_of_one_or_two_matches(winners: list[str]) -> None:
    """A contest has such boards on its first day."""
    rows = [battle(n, "ada", "bob", winner, f"p{n}", "j") for n, winner in enumerate(winners)]
    probes = examined(rows, bradley_terry_regularisation=0.5)
    assert len(probes) == len(TABLE)
    assert all(probe.figure is None or np.isfinite(probe.figure) for probe in probes.values())


def test_the_probe_of_positions_states_the_bound_that_its_verdict_follows() -> None:
    """A z of 2.3 is fine among a dozen probes, which a reader who knows 1.96 has to be able to see.

    Boards of growing advantage turn from fine to look at the bound.
    """
    seen = set()
    for advantage in (0.0, 0.2, 0.3):
        rows = clean(np.random.default_rng(3), advantage=advantage)
        probe = examined(rows)["position"]
        stated = re.search(r"z = ([+-][\d.]+); fine within ±([\d.]+), not", probe.sentence)
        assert stated
        z, bound = stated.groups()
        assert probe.verdict == ("look" if abs(float(z)) > float(bound) else "fine")
        seen.add((abs(float(z)) > 1.96, probe.verdict))
    assert seen == {(False, "fine"), (True, "fine"), (True, "look")}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["separation", "robustness", "connectivity", "coverage", "voters"])
def test_a_figure_with_a_bound_comes_with_it(name: str) -> None:
    """Without what was expected a reader cannot see why a figure is fine."""
    probe = examined(clean(np.random.default_rng(1)))[name]
    assert probe.expected is not None
    assert re.search(r"fine: |fine up to", probe.sentence), probe.sentence


def test_matches_that_repeat_by_chance_are_no_duplicates() -> None:
    """Forty judges, drawn for each of forty prompts, meet some of them again."""
    dice = np.random.default_rng(4)
    rows = [
        {**row, "prompt_id": f"p{dice.integers(40)}", "judge": f"j{dice.integers(40)}"}
        for row in clean(dice)
    ]
    probe = examined(rows)["duplicates"]
    assert probe.verdict == "fine", probe
    assert probe.figure == pytest.approx(probe.expected, rel=0.25)
    copied = rows + [{**row, "id": 100_000 + row["id"]} for row in rows[:100]]
    assert examined(copied)["duplicates"].verdict == "look"
