"""The hardened edition: what little stake does under the reference edition, and not under it."""

from bisect import bisect_left
from typing import Any

import pytest
from scipy.stats import spearmanr

from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge, score
from agon.disciplines.challenge.simulate import simulate
from agon.editions import edition
from agon.records import read_rows
from disciplines.challenge.networks import Tables, records_of, rows_of, scored, tables_of

LITERAL, HARDENED = edition("challenge/term-1"), edition("challenge/hardened-1")
LITERAL_RULES, HARDENED_RULES = (one.rules.model_dump() for one in (LITERAL, HARDENED))
GUARDS = {name for name, value in HARDENED_RULES.items() if LITERAL_RULES[name] != value}
GRID = range(1, 61)
"""Shares of stake that an attacker may hold, in percent."""


def under(tables: Tables, **changes: Any) -> ScoredChallenge:
    """Score tables under the hardened edition with some of its rules changed."""
    return score(records_of(tables), ChallengeRules().override({**HARDENED_RULES, **changes}))


def literal(tables: Tables) -> ScoredChallenge:
    """Score tables under the reference edition."""
    return score(records_of(tables), ChallengeRules().override(LITERAL_RULES))


def dust(percent: float) -> Tables:
    """Return three honest validators who say .80, and four who share the stake and say .20."""
    stakes = {f"v{n}": (100 - percent) / 3 for n in (1, 2, 3)}
    stakes |= {f"v{n}": percent / 4 for n in (4, 5, 6, 7)}
    return tables_of({"a": (1, [0.8] * 3 + [0.2] * 4)}, stakes=stakes)


def push(percent: float, *, by: float = 0.0518) -> Tables:
    """Return a validator who raises a new agent's score within the outlier bound."""
    before = {(f"v{n}", 0): 0.8 for n in (1, 2, 3, 4)}
    honest = {(f"v{n}", 1): 0.8 for n in (1, 2, 3)}
    stakes = {f"v{n}": (100 - percent) / 3 for n in (1, 2, 3)} | {"v4": percent}
    return tables_of({"a": (1, before), "b": (2, {**honest, ("v4", 1): 0.8 + by})}, stakes=stakes)


def dust_price(**changes: Any) -> int:
    """Return the least percentage of stake with which four identities change the score."""

    def changes_score(percent: int) -> bool:
        rows = rows_of(under(dust(percent), **changes), "submissions")
        return bool(rows.get("a", {}).get("score") != 0.8)

    return GRID[bisect_left(GRID, True, key=changes_score)]


def push_price(**changes: Any) -> int:
    """Return the least percentage of stake with which a push resets the decay."""

    def resets(percent: int) -> bool:
        rows = rows_of(under(push(percent), **changes), "competitions")
        return bool(rows["main"]["last_improvement"] == 1)

    return GRID[bisect_left(GRID, True, key=resets)]


def test_four_validators_with_little_stake_decide_under_the_reference_edition_alone() -> None:
    """They outnumber three honest ones, who are left out; with stakes in the median they are."""
    before, after = literal(dust(1)), under(dust(1))
    assert rows_of(before, "submissions") == {}  # 1 % of the stake is too little for a score
    assert rows_of(literal(dust(30)), "submissions")["a"]["score"] == pytest.approx(0.2)
    assert [rows_of(before, "validators")[f"v{n}"]["flagged"] for n in (1, 2, 3, 4)] == [1, 1, 1, 0]
    assert rows_of(after, "submissions")["a"]["score"] == pytest.approx(0.8)
    assert [rows_of(after, "validators")[f"v{n}"]["flagged"] for n in (1, 2, 3, 4)] == [0, 0, 0, 1]


def test_a_push_within_the_outlier_bound_resets_the_decay_under_the_reference_edition_alone() -> (
    None
):
    """31 % of the stake, 0.0518 above the others, is an improvement of 2 % in the mean."""
    before, after = literal(push(31)), under(push(31))
    assert rows_of(before, "competitions")["main"]["last_improvement"] == 1
    assert rows_of(after, "competitions")["main"]["last_improvement"] == 0
    assert rows_of(after, "competitions")["main"]["best"] > 0.816


@pytest.mark.exhaustive
def test_each_guard_alone_makes_an_attack_dearer() -> None:
    """Without it the attack costs what it costs under the reference edition."""
    assert dust_price() >= 50
    assert dust_price(outlier_weights="equal") == 1
    assert push_price() >= 50
    assert push_price(improvement_stake=0.0) == 31
    assert {"outlier_weights", "improvement_stake"} == GUARDS


def test_a_push_split_among_identities_resets_nothing_either() -> None:
    """The guard counts stake, so that more identities buy nothing."""
    stakes = {"v1": 20, "v2": 20, "v3": 20, "v4": 20, "v5": 20}
    before = {(v, 0): 0.8 for v in stakes}
    pushed = {(v, 1): 0.8518 if v in {"v4", "v5"} else 0.8 for v in stakes}
    tables = tables_of({"a": (1, before), "b": (2, pushed)}, stakes=stakes)
    assert rows_of(literal(tables), "competitions")["main"]["last_improvement"] == 1
    assert rows_of(under(tables), "competitions")["main"]["last_improvement"] == 0


def test_an_unsupported_best_does_not_hide_a_supported_improvement() -> None:
    """Else an attacker could keep a competition stale by a push above every honest step."""
    stakes = {"v1": 23, "v2": 23, "v3": 23, "v4": 31}
    before = {(v, 0): 0.8 for v in stakes}
    honest = {(v, 1): 0.81604 for v in stakes}
    pushed = {**before, ("v4", 1): 0.8518}
    tables = tables_of({"a": (1, before), "b": (2, honest), "c": (3, pushed)}, stakes=stakes)
    row = rows_of(under(tables), "competitions")["main"]
    assert row["best"] > row["top"] == 0.81604
    assert row["last_improvement"] == 1


def test_a_stake_that_moves_ends_no_decay_under_either_edition() -> None:
    """Document 001, Decay Reset: a new agent has to beat the top; the explanation says so."""
    tables = tables_of({"a": (1, {("v1", 0): 0.6, ("v2", 0): 0.5, ("v3", 0): 0.4})})
    tables["validators"].append({"id": "v1", "stake": 300, "epoch": 20})
    for result in (literal(tables), under(tables)):
        row = rows_of(result, "competitions")["main"]
        assert (row["last_improvement"], row["stale"], row["burn_percent"]) == (0, 10, 50)
    assert literal(tables).explain("main", board="competitions").notes[1] == (
        "a has 0.54, but it was first evaluated in epoch 0, and the top score is of epoch 0: only "
        "a new agent resets the decay (improvement_by)"
    )
    anyone = scored(tables, improvement_by="any")
    assert rows_of(anyone, "competitions")["main"]["last_improvement"] == 20


@pytest.mark.parametrize(
    ("stakes", "last_improvement"),
    [({0: 0}, 12), ({0: 0, 5: 1}, 12), ({0: 1}, 0), ({0: 1, 5: 0}, 0)],
)
def test_evaluations_that_do_not_count_make_no_agent_old(
    stakes: dict[int, float], last_improvement: int
) -> None:
    """Else an identity without stake could keep every later agent from ending the decay.

    ``stakes`` are those of the one who evaluates b in epoch 0, in which the top is set, by epoch.
    """
    top = {(v, 0): 0.5 for v in ("v1", "v2", "v3")}
    better = {("early", 0): 0.9} | {(v, 12): 0.9 for v in ("v1", "v2", "v3")}
    tables = tables_of({"a": (1, top), "b": (2, better)})
    tables["validators"] = [row for row in tables["validators"] if row["id"] != "early"]
    for epoch, stake in stakes.items():
        tables["validators"].append({"id": "early", "stake": stake, "epoch": epoch})
    row = rows_of(scored(tables), "competitions")["main"]
    assert row["last_improvement"] == last_improvement


def test_explanations_name_the_rules_of_the_hardened_edition() -> None:
    """Who is left out or does not improve reads which rule says so."""
    parts = {part.name: part for part in under(dust(1)).explain("a", board="submissions").parts}
    dusty = parts["evaluation of v4"]
    assert "further out than 3.5 by stake (outlier_weights), so it is left out" in dusty.text
    assert dusty.rules["outlier_weights"] == "stake"
    explained = under(push(31)).explain("main", board="competitions")
    assert explained.parts[0].rules["improvement_stake"] == 0.5
    assert explained.notes[1] == (
        "b has 0.816058, but an improvement needs 0.816 from at least 50 % of the stake behind it "
        "(improvement_stake); that much of it gives only 0.8"
    )
    assert len(literal(push(31)).explain("main", board="competitions").notes) == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_without_attackers_the_ranks_are_those_of_the_reference_edition(seed: int) -> None:
    """The guards change what honest people get by little."""
    tables = simulate(size=5000, seed=seed).tables
    with read_rows(SCHEMA, tables) as records:
        scores = [
            {
                row["id"]: row["score"]
                for row in score(records, ChallengeRules().override(rules)).board("weights").rows()
            }
            for rules in (LITERAL_RULES, HARDENED_RULES)
        ]
    ids = sorted(scores[0])
    literally, hardened = ([one[name] for name in ids] for one in scores)
    assert spearmanr(literally, hardened)[0] >= 0.98


def test_validators_without_stake_make_no_quorum_and_outvote_nobody() -> None:
    """Identities cost nothing: three of them must not turn an honest report into an outlier."""
    free = tables_of({"a": (1, [0.2] * 3 + [0.8])}, stakes={"v1": 0, "v2": 0, "v3": 0, "v4": 9})
    reason = literal(free).board("submissions").unscored[0].reason
    assert reason == "1 validator reported; at least 3 must (min_validators)"
    backed = tables_of(
        {"a": (1, [0.8, 0.81, 0.79] + [0.2] * 4)},
        stakes={f"v{n}": 1 if n < 4 else 0 for n in range(1, 8)},
    )
    assert rows_of(literal(backed), "submissions")["a"]["score"] == pytest.approx(0.8)
    counted = scored(backed, zero_stake_counts=True)
    assert rows_of(counted, "submissions") == {}


def test_each_open_reading_of_the_seed_is_a_rule() -> None:
    """Stake of each validator, the mean over all that reported, the burn beside the weights."""
    stakes = {"v1": 50, "v2": 30, "v3": 10, "v4": 10}
    tables = tables_of({"a": (1, [0.8, 0.8, 0.8, 0.2])}, stakes=stakes)
    two = {"min_stake_of": "validator", "min_validators": 2}
    assert rows_of(scored(tables, **two), "submissions")["a"]["validators"] == 2
    mean = rows_of(scored(tables, mean_over="reported"), "submissions")["a"]["score"]
    assert mean == pytest.approx(0.8 * 0.9)
    late = rows_of(scored(tables, epoch=18, weight_cap=1.0, burn_application="added"), "weights")
    assert (late["1"]["weight"], late["0"]["weight"]) == (1.0, pytest.approx(0.4))
