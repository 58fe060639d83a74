"""Each row of the tables of checks and attacks does what it says, in all four disciplines."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from agon.disciplines import BUILT_IN, discipline
from agon.disciplines.capabilities import Simulation
from agon.kernel.attacks import Attack, select
from agon.kernel.findings import Check, Finding, Severity, run_checks
from agon.records import read_rows

SIZES = {"community": 200, "challenge": 5000, "dojo": 600, "arena": 8000}
"""Records in which every check fires once all attacks are played."""

SMALL = {"community": 20, "challenge": 200, "dojo": 80, "arena": 1200}
"""Records large enough for every attack."""

FIRED_BY_THEMSELVES = {
    ("community", "model-spellings"),
    ("dojo", "tag-distribution"),
    ("dojo", "tag-spellings"),
    ("dojo", "hash-mismatch"),
    ("challenge", "unimprovable-top"),
    ("challenge", "paid-without-score"),
    ("challenge", "missing-task-results"),
    ("challenge", "other-reward-source"),
    ("challenge", "zero-stake"),
    ("challenge", "stopped-validator"),
    ("challenge", "partial-validator"),
    ("challenge", "carried-top"),
    ("challenge", "dust"),
    ("challenge", "seat-changed-hands"),
    ("challenge", "shared-uid"),
    ("challenge", "burn-to-miner"),
    ("arena", "panel-share"),
    ("arena", "judge-burst"),
}
"""Checks that no attack is about; community/test_integrity.py, dojo/test_integrity.py,
challenge/test_next_steps.py, challenge/test_task_checks.py, challenge/test_integrity.py,
challenge/test_seats.py and arena/test_panel_checks.py make them fire."""


OPT_INS: Mapping[str, Mapping[str, Any]] = {
    "community": {"cross_validation": True, "target_groups": True},
    "arena": {"detector_false_alarms": 0.01},
}
"""Rules that switch checks on."""


@cache
def simulated(name: str, attacks: tuple[str, ...]) -> Simulation:
    """Simulate a few records with some attacks."""
    return discipline(name).simulate(size=SMALL[name], seed=3, attacks=attacks)


ATTACKS = [(name, attack) for name in BUILT_IN for attack in discipline(name).attacks]


@pytest.mark.sample(13)
@pytest.mark.parametrize(("name", "attack"), ATTACKS)
def test_every_attack_changes_the_records_and_is_in_the_truth(name: str, attack: str) -> None:
    """An attack without effect, or whose attacker is not in the truth, fails here."""
    honest, attacked = simulated(name, ()), simulated(name, (attack,))
    assert attacked.tables != honest.tables
    people = attacked.truth["people"].to_pylist()
    assert any(attack in {row["role"], row.get("attack")} for row in people)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", BUILT_IN)
def test_every_check_fires_when_all_attacks_are_played(name: str) -> None:
    """A check that no record can make fire is no check."""
    of = discipline(name)
    made = of.simulate(size=SIZES[name], seed=3, attacks=list(of.attacks))
    findings = of.find(
        read_rows(of.schema, made.tables), of.rules().override(OPT_INS.get(name, {}))
    )
    alone = {code for other, code in FIRED_BY_THEMSELVES if other == name}
    assert {one.code for one in findings} | alone == set(of.checks)


def test_a_finding_with_the_code_of_another_check_is_an_error() -> None:
    """What a reader finds under a code is what the table says about it."""
    finding = Finding("other", Severity.INFO, (), "statistic", 1.0, 0.0, None, "message")
    with pytest.raises(ValueError, match="check own returned a finding other"):
        run_checks([Check("own", "meaning", lambda _: [finding])], None)


def test_attacks_are_selected_in_the_order_of_their_names() -> None:
    """Equal arguments give equal records, so the order is the caller's."""
    table: list[Attack[None]] = [Attack(name, "meaning", lambda _: None) for name in "abc"]
    assert [attack.name for attack in select(table, ["c", "a"])] == ["c", "a"]
