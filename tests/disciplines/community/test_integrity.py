"""Findings: each simulated attack is detected, and an honest community has none."""

from pathlib import Path

import pytest

from agon.disciplines.community import DISCIPLINE
from agon.disciplines.community.checks.handles import one_letter_apart, skeleton
from agon.disciplines.community.integrity import CHECKS, find
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.disciplines.community.simulate import ATTACKS, simulate
from agon.kernel.findings import Finding, Severity
from agon.records import Records, read_rows
from sizes import ALL, size

ROOT = Path(__file__).parents[3]
SIZE = 400


def findings(attacks: list[str], seed: int, **rules: object) -> tuple[list[Finding], set[str]]:
    """Return the findings of a simulated community and its attackers."""
    simulation = simulate(size=SIZE, seed=seed, attacks=attacks)
    people = simulation.truth["people"].to_pylist()
    guilty = {str(row["id"]) for row in people if row["role"] != "honest"}
    records = read_rows(DISCIPLINE.schema, simulation.tables)
    return find(records, CommunityRules().override(rules)), guilty


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_an_honest_community_has_no_finding(seed: int) -> None:
    """At a chance of 0.001 per check, seven checks and five communities give 0.035 findings."""
    assert findings([], seed) == ([], set())


@pytest.mark.sample(1)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_attack_is_detected_and_its_users_are_named(attack: str, seed: int) -> None:
    """A user of the attack is among the subjects of the finding of that name."""
    reported, guilty = findings([attack], seed, target_groups=attack == "target-group")
    assert {one.code for one in reported} == {attack}
    named = {name for one in reported for name in one.subjects}
    assert named & guilty
    # A copied handle is reported with the original; among those exactly at both thresholds are
    # the few honest users that the finding expects there.
    innocent = {"near-duplicate-handle": 1, "threshold-hugging": round(reported[0].expected) + 1}
    assert len(named - guilty) <= innocent.get(attack, 0)


@pytest.mark.exhaustive
def test_threshold_hugging_is_found_as_often_as_the_rulebook_says() -> None:
    """Five people among some thirty are no certainty: the rulebook states a measured rate.

    `make test` tries the first 8 seeds, `make test-all` 40, and compares the first 20 of them
    with the table.
    """
    tried = size(40, at_least=8)
    detected = [
        any(one.code == "threshold-hugging" for one in findings(["threshold-hugging"], seed)[0])
        for seed in range(1, tried + 1)
    ]
    assert sum(detected) >= 0.85 * tried
    if ALL:
        page = (ROOT / "docs/rules/community.md").read_text()
        power = sum(detected[:20]) / 20
        assert f"| threshold-hugging | threshold-hugging |  |  | {power:.3g} | 0 |" in page


def test_a_group_for_one_creator_is_detected_where_the_rules_say_so() -> None:
    """Five users with ten likes each on one creator's prompts, among forty on others'."""
    assert findings(["target-group"], 1)[0] == []
    reported, guilty = findings(["target-group"], 1, target_groups=True)
    (finding,) = reported
    assert set(finding.subjects) == guilty
    assert finding.value == finding.records[0].count == 50
    assert 0 < finding.expected < 1
    honest, _ = findings([], 1, target_groups=True)
    assert honest == []


def test_a_finding_has_observed_and_expected_values() -> None:
    """A statistic, its expected value, its probability, and its records."""
    reported, _ = findings(["self-feedback"], 3)
    (finding,) = reported
    assert finding.severity is Severity.WARNING
    assert finding.value == 8
    assert 0 < finding.expected < 0.1
    assert finding.probability is not None
    assert finding.probability < 0.001
    assert finding.records[0].table == "quick_feedbacks"
    assert finding.records[0].count == len(finding.records[0].ids) == 8
    assert "8 of 8 feedbacks on own prompts" in finding.message


def test_self_feedback_is_found_when_the_rules_ignore_it_too() -> None:
    """The attempt is reported although it gives no points."""
    reported, _ = findings(["self-feedback"], 3, self_feedback="ignore")
    assert [one.code for one in reported] == ["self-feedback"]


def test_a_ring_is_detected_by_its_cycle() -> None:
    """Four users each like the prompts of the next one; no pair is mutual."""
    reported, _ = findings(["reciprocal-ring"], 1)
    (finding,) = reported
    assert len(finding.subjects) == 4
    assert finding.value == 20


def test_findings_never_change_a_score() -> None:
    """Only the records and the rules determine the board."""
    simulation = simulate(size=100, seed=2, attacks=list(ATTACKS))
    records = read_rows(DISCIPLINE.schema, simulation.tables)
    before = score(records, CommunityRules()).board("user-score").sha256
    assert find(records, CommunityRules())
    assert score(records, CommunityRules()).board("user-score").sha256 == before


def test_cross_validation_correlates_scores_with_an_outside_reputation() -> None:
    """Opt-in: rho with its interval and the number of people, as information."""
    reported, _ = findings([], 1, cross_validation=True)
    (finding,) = reported
    assert finding.code == "cross-validation"
    assert finding.severity is Severity.INFO
    assert 0 < finding.value < 1
    assert "95% interval" in finding.message


def test_every_attack_has_its_check() -> None:
    """An attack without a check would be an invitation."""
    assert ATTACKS.keys() <= CHECKS.keys()


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [("ada_lovelace", "Ada-L0velace", True), ("adalovelace", "ada1ovelace", True),
     ("modern-art", "modem_art", True), ("grace", "graces", False), ("ａｄａ１", "adal", True)],
)  # fmt: skip
def test_names_that_look_equal_have_equal_skeletons(one: str, other: str, *, equal: bool) -> None:
    """Case, separators, full-width letters and look-equal digits make no other name."""
    assert (skeleton(one) == skeleton(other)) is equal


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [("love", "love", False), ("love", "dove", True), ("love", "loves", True),
     ("love", "ove", True), ("love", "loev", False), ("", "a", True), ("ab", "ba", False)],
)  # fmt: skip
def test_one_letter_apart_means_one_change(one: str, other: str, *, apart: bool) -> None:
    """Changed, added or left out; swapped letters are two changes."""
    assert one_letter_apart(one, other) is apart
    assert one_letter_apart(other, one) is apart


def test_numbered_handles_are_not_near_duplicates() -> None:
    """A school that hands out names with numbers is no fraud."""
    rows = [{"id": n, "handle": f"student{n:04d}"} for n in range(300)]
    records: Records = read_rows(DISCIPLINE.schema, {"users": rows})
    assert find(records, CommunityRules()) == []


def test_a_text_as_long_as_content_is_no_handle() -> None:
    """Its variants by one letter would be as many as it has letters, each as long as it is."""
    rows = [{"id": n, "handle": "ada " * 100_000 + "b" * n} for n in (1, 2)]
    assert find(read_rows(DISCIPLINE.schema, {"users": rows}), CommunityRules()) == []


def test_text_ids_replace_missing_handles() -> None:
    """PeerBench knows people by id alone; number ids say nothing."""
    rows = [{"id": name} for name in ("ada_lovelace", "ada.l0velace", "grace_hopper")]
    (one,) = find(read_rows(DISCIPLINE.schema, {"users": rows}), CommunityRules())
    assert one.subjects == ("ada.l0velace", "ada_lovelace")


def test_an_empty_community_has_no_finding() -> None:
    """Empty tables are no error."""
    assert find(read_rows(DISCIPLINE.schema, {"users": []}), CommunityRules()) == []


def test_models_with_one_name_in_two_spellings_are_reported() -> None:
    """They count as two wrong models, which no board shows."""
    names = [
        "claude-3.5-sonnet",
        "Claude 3-5 Sonnet",
        "gpt-4o",
        "openai/gpt-4o:free",
        "gpt-4o-mini",
    ]
    tables = {
        "users": [{"id": "ada"}],
        "prompts": [{"id": "p", "uploader_id": "ada"}],
        "responses": [
            {"id": f"r{at}", "prompt_id": "p", "model": name} for at, name in enumerate(names)
        ],
    }
    reported = find(read_rows(DISCIPLINE.schema, tables), CommunityRules())
    (one,) = [each for each in reported if each.code == "model-spellings"]
    assert one.subjects == ("claude-3-5-sonnet", "claude-3.5-sonnet")
    assert "Claude 3-5 Sonnet, claude-3.5-sonnet count as 2 models" in one.message
