"""Findings: each catches its simulated attack, and honest arenas stay quiet."""

from typing import Any

import pytest

import agon
from agon.disciplines import discipline
from agon.disciplines.arena.integrity import CHECKS
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.simulate import ATTACKS, simulate
from agon.errors import NotFound
from agon.kernel.findings import Finding, Severity
from agon.records import read_rows
from disciplines.arena.arenas import Tables, bots, match, scored, vote

SIZE = 2500
SEEDS = (1, 2, 3)


def findings_of(
    *, attacks: list[str], seed: int, **rules: float
) -> tuple[list[Finding], dict[str, set[str]]]:
    """Simulate an arena; return its findings, and who has which role."""
    simulation = simulate(size=SIZE, seed=seed, attacks=attacks)
    findings = agon.score("arena", read_rows(SCHEMA, simulation.tables), overrides=rules).findings
    roles: dict[str, set[str]] = {}
    for person in simulation.truth["people"].to_pylist():
        roles.setdefault(person["role"], set()).add(str(person["id"]))
    return findings, roles


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_attack_is_caught_by_its_finding_and_no_one_else_is_warned_of(seed: int) -> None:
    """All attacks at once, seeds 1 to 3: warnings name exactly the attackers."""
    findings, roles = findings_of(attacks=list(ATTACKS), seed=seed)
    for attack in ATTACKS:
        warned = {
            finding.subjects[0] if attack == "collusion" else subject
            for finding in findings
            if finding.code == attack and finding.severity is Severity.WARNING
            for subject in finding.subjects
        }
        assert warned == roles[attack], attack


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [4, 5, 6, 7, 8, 9])
def test_an_honest_arena_gives_no_warning(seed: int) -> None:
    """Seeds 4 to 9; `surprise` allows one false warning in a thousand contests per check."""
    findings, _ = findings_of(attacks=[], seed=seed)
    assert [finding for finding in findings if finding.severity is not Severity.INFO] == []
    assert {finding.code for finding in findings} <= {"agreement", "audit-disagreement",
                                                      "position-bias", "collusion"}  # fmt: skip


def test_every_finding_is_described_and_every_attack_has_one() -> None:
    """`checks` is what the rulebook lists."""
    findings, _ = findings_of(attacks=list(ATTACKS), seed=1, detector_false_alarms=0.01)
    by_people = {"panel-share", "judge-burst"}  # test_panel_checks.py
    assert {finding.code for finding in findings} == set(CHECKS) - by_people
    assert set(ATTACKS) <= set(CHECKS)
    assert discipline("arena").checks == CHECKS


def test_findings_point_at_their_records() -> None:
    """Each vote or match behind a finding can be read."""
    simulation = simulate(size=SIZE, seed=1, attacks=list(ATTACKS))
    known = {
        "owners": {str(one) for one in simulation.tables["owners"]["id"].to_pylist()},
        "matches": {str(one) for one in simulation.tables["matches"]["id"].to_pylist()},
        "votes": {
            f"{vote['match_id']}/{vote['judge_id']}"
            for vote in simulation.tables["votes"].select(["match_id", "judge_id"]).to_pylist()
        },
    }
    for finding in agon.score("arena", read_rows(SCHEMA, simulation.tables)).findings:
        for refs in finding.records:
            assert set(refs.ids) <= known[refs.table]
            assert refs.count == finding.value or finding.code not in {"collusion", "plagiarism"}


def voting(sides: list[str], *, first: str = "a") -> dict[str, list[dict[str, Any]]]:
    """Write one judge's votes on matches of one bot against ever new ones."""
    others = [f"o{n}" for n in range(len(sides))]
    return {
        "bots": bots("fav", *others),
        "matches": [match(n, "fav", other) for n, other in enumerate(others)],
        "votes": [vote(n, "j", side, first=first) for n, side in enumerate(sides)],
    }


@pytest.mark.parametrize(("votes", "is_reported"), [(10, False), (11, True)])
def test_collusion_starts_above_ten_votes_for_one_bot(
    votes: int,
    is_reported: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """> 10 of the last 50, with the probability under its exposure."""
    findings = scored(voting(["a"] * votes)).findings
    collusion = [finding for finding in findings if finding.code == "collusion"]
    assert bool(collusion) is is_reported
    if is_reported:
        assert collusion[0].value == 11
        # Nobody else has voted: a coin, so 11 of 11 has chance 1 / 2048.
        assert collusion[0].probability == pytest.approx(2**-11)


def test_only_the_last_fifty_votes_count() -> None:
    """Eleven old votes for a bot are forgotten after fifty others."""
    assert not [
        finding
        for finding in scored(voting(["a"] * 11 + ["b"] * 50)).findings
        if finding.code == "collusion"
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("sides", "is_reported"),
    [("aaaaaaaaab", True), ("aaaaaaaabb", False), ("aaaaaaaaa", False)],
)
def test_position_bias_needs_ten_votes_and_more_than_four_in_five(
    sides: str,
    is_reported: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """9 of 10 is more than 80 %, 8 of 10 is not, and 9 of 9 are too few votes."""
    findings = [one for one in scored(voting(list(sides))).findings if one.code == "position-bias"]
    assert bool(findings) is is_reported


@pytest.mark.sample(1)
@pytest.mark.parametrize(("right", "is_reported"), [(2, True), (3, False)])
def test_audit_disagreement_is_less_than_half_of_at_least_five(
    right: int,
    is_reported: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """2 of 5 is reported, 3 of 5 is not; without a fifth audit nothing is."""
    tables = voting(["a"] * 5)
    for n, row in enumerate(tables["matches"]):
        row["audit_verdict"] = "a" if n < right else "b"
    codes = [one.code for one in scored(tables).findings]
    assert ("audit-disagreement" in codes) is is_reported
    tables["matches"][4]["audit_verdict"] = None
    assert "audit-disagreement" not in [one.code for one in scored(tables).findings]


def test_addresses_are_never_printed() -> None:
    """Records may hold a plain address; what is said about it holds none."""
    owners: list[dict[str, Any]] = [
        {"id": n, "handle": handle, "account_created_at": None, "ip": f"203.0.113.{n}"}
        for n, handle in enumerate(["moonlight", "sunshine"])
    ]
    tables: Tables = {
        "owners": owners,
        "bots": [{"id": n, "name": "x", "owner_id": n} for n in range(2)],
        "matches": [match(1, 0, 1, winner="a")],
    }
    findings = [one for one in scored(tables).findings if one.code == "shared-network"]
    assert [one.subjects for one in findings] == [("0", "1")]
    assert findings[0].severity is Severity.WARNING
    assert "203" not in str(findings[0].to_dict())
    owners[1]["network"] = "5f0c"
    assert [one for one in scored(tables).findings if one.code == "shared-network"] == []


def test_simulation_is_the_same_for_a_seed_and_another_for_another() -> None:
    """Equal arguments give equal records; so a finding can be shown again."""
    one, same, other = (simulate(size=300, seed=seed, attacks=["collusion"]) for seed in (1, 1, 2))
    assert all(one.tables[name].equals(same.tables[name]) for name in one.tables)
    assert all(one.truth[name].equals(same.truth[name]) for name in one.truth)
    assert not one.tables["votes"].equals(other.tables["votes"])
    assert one.tables["matches"].num_rows == 300


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_simulated_records_pass_validation_at_any_size(size: int) -> None:
    """From no record to many; every board can be computed."""
    simulation = simulate(size=size, seed=1, attacks=list(ATTACKS))
    result = agon.score("arena", read_rows(SCHEMA, simulation.tables))
    assert len(result.board("judges")) >= 18
    assert isinstance(result.findings, list)


def test_an_unknown_attack_is_not_found() -> None:
    """The error of a misspelled attack names the nearest one."""
    with pytest.raises(NotFound, match="did you mean collusion"):
        simulate(size=10, seed=1, attacks=["colusion"])
