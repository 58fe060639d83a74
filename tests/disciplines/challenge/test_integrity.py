"""Findings: each catches its attack, and an honest network is left in peace."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from agon.disciplines.challenge import DISCIPLINE
from agon.disciplines.challenge.integrity import CHECKS, find
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.simulate import ATTACKS, simulate
from agon.errors import NotFound
from agon.kernel.findings import Finding, Severity
from agon.records import read_rows
from disciplines.challenge.networks import RULES, Tables, networks, records_of, tables_of
from sizes import size

CAUGHT = {
    "erratic-validator": ("outlier-record", ("erratic-validator",)),
    "copying-validator": ("copying-validators", ("copying-validator", "v1")),
    "lagging-validator": ("lagging-validators", ("lagging-validator", "v2")),
    "stake-whale": ("stake-concentration", ("stake-whale",)),
    "self-serving-validator": ("self-serving-votes", None),
    "copied-agent": ("duplicate-agents", None),
    "rewritten-agent": ("near-duplicate-agents", None),
}
"""Which check catches which attack, and whom it names where that is known beforehand."""

BY_THEMSELVES = {
    "unimprovable-top", "paid-without-score", "missing-task-results", "stopped-validator",
    "partial-validator", "seat-changed-hands", "zero-stake", "other-reward-source",
    "dust", "carried-top", "shared-uid", "burn-to-miner",
}  # fmt: skip
"""Checks that need no attacker: they report what rules and scores come to (test_next_steps.py)."""


@cache
def findings(size: int, seed: int, *attacks: str) -> list[Finding]:
    """Return the findings of a simulated network."""
    made = simulate(size=size, seed=seed, attacks=attacks)
    return find(read_rows(DISCIPLINE.schema, dict(made.tables)), ChallengeRules())


def test_every_attack_has_a_check_and_every_check_an_attack() -> None:
    """One attack per finding of the page."""
    assert set(CAUGHT) == set(ATTACKS)
    assert {code for code, _ in CAUGHT.values()} | BY_THEMSELVES == set(CHECKS)


@pytest.mark.sample(2)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_attack_is_caught_by_its_check(attack: str, seed: int) -> None:
    """Five thousand evaluations suffice; statistic, expectation and records are all there."""
    code, who = CAUGHT[attack]
    caught = [one for one in findings(5000, seed, attack) if one.code == code]
    assert caught
    assert who is None or who in {one.subjects for one in caught}
    for one in caught:
        assert one.value > one.expected
        assert one.probability is None or one.probability < 0.001
        assert one.records
        assert one.severity is Severity.WARNING


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_an_honest_network_is_left_in_peace(seed: int) -> None:
    """Each check reports one honest network in a thousand; seeds 0 to 5 are not among them."""
    assert findings(5000, seed) == []


def test_all_attackers_at_once_are_caught() -> None:
    """Attackers do not hide each other."""
    assert {one.code for one in findings(8000, 3, *ATTACKS)} == set(CHECKS) - BY_THEMSELVES


def test_validators_who_all_agree_are_no_copies() -> None:
    """Where tasks have one result, honest validators report the same numbers."""
    same = {(f"v{v}", epoch): (epoch % 7) / 10 for v in range(6) for epoch in range(60)}
    tables = tables_of({"a": (1, same), "b": (2, same)})
    assert find(records_of(tables), ChallengeRules()) == []


def test_a_lenient_validator_is_not_self_serving() -> None:
    """A validator above the others for all submissions favors none."""
    made = simulate(size=3000, seed=4, attacks=())
    table = made.tables["evaluations"]
    lenient = np.array(table["validator_id"].to_pylist()) == "v1"
    scores = np.minimum(table["score"].to_numpy() + 0.1 * lenient, 1.0)
    place = table.column_names.index("score")
    tables = {**made.tables, "evaluations": table.set_column(place, "score", pa.array(scores))}
    codes = {one.code for one in find(read_rows(DISCIPLINE.schema, tables), ChallengeRules())}
    assert "self-serving-votes" not in codes


def test_one_miner_who_submits_the_same_again_is_only_noted() -> None:
    """Resubmitting one's own agent gains nothing."""
    tables = tables_of({"a": (1, [0.5] * 3), "b": (1, [0.5] * 3)},
                       content_hash={"a": "x", "b": "x"})  # fmt: skip
    (only,) = find(records_of(tables), ChallengeRules())
    assert (only.code, only.severity, only.subjects) == ("duplicate-agents", Severity.INFO, ("1",))


@settings(
    max_examples=size(20, at_least=3, dear=True),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(networks(), RULES)
def test_looking_never_fails(tables: Tables, rules: dict[str, Any]) -> None:
    """Gaps, ties, no stake, one validator: there may be nothing to find, but no error."""
    for one in find(records_of(tables), ChallengeRules().override(rules)):
        assert one.code in CHECKS


def test_a_simulation_is_the_same_for_the_same_seed_and_no_other() -> None:
    """An attack lab needs records it can make again."""
    one, same, other = (simulate(size=800, seed=s, attacks=list(ATTACKS)) for s in (7, 7, 8))
    assert all(one.tables[name].equals(same.tables[name]) for name in one.tables)
    assert one.truth["people"].equals(same.truth["people"])
    assert not one.tables["evaluations"].equals(other.tables["evaluations"])


@pytest.mark.parametrize("size", [1, 50, 3000])
def test_a_simulation_is_valid_and_about_as_large_as_asked(size: int) -> None:
    """Records that were made must be records that are accepted."""
    made = simulate(size=size, seed=5, attacks=list(ATTACKS))
    records = read_rows(DISCIPLINE.schema, dict(made.tables))
    honest = simulate(size=size, seed=5).tables["evaluations"].num_rows
    assert size < 300 or 0.9 * size < honest < 1.1 * size
    assert records.count("evaluations") >= honest
    people = made.truth["people"].to_pylist()
    roles = {row["role"] for row in people}
    assert roles == {"honest", *ATTACKS}
    miners = {row["id"] for row in people if row["kind"] == "miner"}
    assert miners == {str(uid) for uid in made.tables["submissions"]["miner_uid"].to_pylist()}


def test_an_unknown_attack_or_no_size_is_rejected() -> None:
    """A misspelt attack would be an honest network."""
    with pytest.raises(NotFound, match="did you mean stake-whale"):
        simulate(size=10, seed=1, attacks=["stake-wale"])
    with pytest.raises(ValueError, match="at least 1"):
        simulate(size=0, seed=1)
