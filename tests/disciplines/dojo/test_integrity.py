"""Dojo findings: each catches its simulated attack, and honest seasons stay quiet."""

from collections import Counter
from typing import Any

import pytest

import agon
from agon.disciplines import discipline
from agon.disciplines.dojo.integrity import CHECKS
from agon.disciplines.dojo.judgement import is_contradicted
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.rules import DojoRules
from agon.disciplines.dojo.simulate import ATTACKS, WITH_SOURCE
from agon.errors import NotFound
from agon.kernel.findings import Finding, Severity
from agon.records import read_rows
from sizes import ALL, size

DOJO = discipline("dojo")
CAUGHT_BY = {
    "literal-payload": "literal-payload",
    "huge-literal": "huge-literal",
    "copied-source": "same-source",
    "renamed-copy": "same-structure",
    "tag-farming": "tag-farming",
    "false-tag": "false-tag",
}


def findings(*, attacks: list[str], seed: int) -> list[Finding]:
    """Return the findings of a simulated season."""
    simulation = DOJO.simulate(size=600, seed=seed, attacks=attacks)
    return agon.score("dojo", read_rows(SCHEMA, simulation.tables)).findings


@pytest.mark.sample(1)
@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_is_caught_by_its_finding(attack: str) -> None:
    """Each attacker of a seeded simulation is a subject of the finding for the attack."""
    simulation = DOJO.simulate(size=size(600, at_least=300), seed=11, attacks=[attack])
    people = simulation.truth["people"].to_pylist()
    attackers = {person["id"] for person in people if person["attack"] == attack}
    assert attackers
    named = {
        subject
        for finding in agon.score("dojo", read_rows(SCHEMA, simulation.tables)).findings
        if finding.code == CAUGHT_BY[attack]
        for subject in finding.subjects
    }
    assert attackers <= named


def test_every_attack_has_a_finding_and_every_finding_is_listed() -> None:
    """The rulebook's tables are complete."""
    assert set(CAUGHT_BY) == set(ATTACKS)
    assert set(CAUGHT_BY.values()) <= set(CHECKS)


@pytest.mark.exhaustive
def test_honest_seasons_raise_no_serious_finding() -> None:
    """Honest seasons of 600 submissions (5, in `make test` 1): no copies, payloads or farms."""
    seeds = range(size(5, at_least=1))
    codes = Counter(finding.code for seed in seeds for finding in findings(attacks=[], seed=seed))
    serious = {"same-source", "same-structure", "huge-literal", "literal-payload", "name-payload",
             "tag-farming", "hash-mismatch"}  # fmt: skip
    assert not serious & codes.keys()


def test_findings_do_not_change_a_score() -> None:
    """The hash of the board is the same before and after."""
    simulation = DOJO.simulate(size=200, seed=3, attacks=list(ATTACKS))
    result = agon.score("dojo", read_rows(SCHEMA, simulation.tables))
    before = result.board().sha256
    assert result.findings
    assert agon.score("dojo", result.records).board().sha256 == before


def test_a_wrong_recorded_hash_is_an_error() -> None:
    """A record that contradicts itself stops a check with exit code 1."""
    row: dict[str, Any] = {
        "id": "s", "problem_id": "p", "user_id": "u", "created_at": "2026-01-01",
        "source": "x = 1\n", "source_hash": "0" * 64, "verdict": "ok",
    }  # fmt: skip
    records = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": [row]})
    severities = {f.code: f.severity for f in agon.score("dojo", records).findings}
    assert severities == {"hash-mismatch": Severity.ERROR}


def test_many_tags_on_one_problem_are_explained_with_the_expected_number() -> None:
    """Nine users, nine tags, where a season of nine tags would give fewer."""
    rows = [
        {"id": f"s{n}", "problem_id": "p", "user_id": f"u{n}", "created_at": "2026-01-01",
         "source_hash": f"{n:064x}", "l_chars": 9, "method_tag": f"t{n}", "verdict": "ok"}
        for n in range(9)
    ]  # fmt: skip
    records = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": rows})
    tags = [f for f in agon.score("dojo", records).findings if f.code == "tag-distribution"]
    assert [(f.subjects, f.value) for f in tags] == [(("p",), 9)]
    assert tags[0].expected == pytest.approx(9 * (1 - 2.718281828459045**-1))


def test_a_simulation_is_its_seed() -> None:
    """Equal arguments give equal records; another seed gives others."""
    first, again = (DOJO.simulate(size=300, seed=5, attacks=["false-tag"]) for _ in range(2))
    assert all(first.tables[name].equals(again.tables[name]) for name in first.tables)
    other = DOJO.simulate(size=300, seed=6, attacks=["false-tag"])
    assert not first.tables["submissions"].equals(other.tables["submissions"])


def test_a_large_season_gives_most_sources_by_hash_and_is_valid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judge of millions records hashes; validation and scoring take them."""
    with_source = WITH_SOURCE if ALL else 200
    monkeypatch.setattr("agon.disciplines.dojo.simulate.WITH_SOURCE", with_source)
    simulation = DOJO.simulate(size=with_source + 1000, seed=1, attacks=[])
    table = simulation.tables["submissions"]
    assert table["source"].null_count == 1000
    records = read_rows(SCHEMA, simulation.tables)
    assert agon.score("dojo", records).board().rows(top=1)[0]["score"] > 0


def test_an_unknown_attack_is_rejected_with_a_suggestion() -> None:
    """A misspelled attack must not give an honest season."""
    with pytest.raises(NotFound, match="did you mean tag-farming"):
        DOJO.simulate(size=10, seed=1, attacks=["tag-framing"])


def test_a_source_is_classified_once_however_often_it_is_submitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Findings take work in proportion to what is submitted, not to how often."""
    classified: list[tuple[str, str]] = []

    def count(source: str, tag: str, rules: DojoRules) -> bool:
        classified.append((source, tag))
        return is_contradicted(source, tag, rules)

    monkeypatch.setattr("agon.disciplines.dojo.judgement.is_contradicted", count)
    squares = "def solver():\n    return [n * n for n in range(200)]\n"
    rows = [
        {"id": f"s{at}", "problem_id": "p", "user_id": f"u{at}", "created_at": "2026-01-01",
         "source": squares, "verdict": "ok", "method_tag": "matrix_power"}
        for at in range(20)
    ]  # fmt: skip
    records = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": rows})
    tags = [f for f in agon.score("dojo", records).findings if f.code == "false-tag"]
    assert len(tags) == 20
    assert classified == [(squares, "matrix_power")]


SPELLINGS = ("closed_form", "Closed-Form", " closed form", "sum")


def spelled(spelling: str) -> agon.Result:
    """Score four users, three of whom declare one tag in three spellings."""
    rows = [
        {"id": f"s{at}", "problem_id": "p", "user_id": f"u{at}", "created_at": f"2026-01-0{at + 1}",
         "source_hash": str(at) * 64, "l_chars": 800, "verdict": "ok", "method_tag": tag}
        for at, tag in enumerate(SPELLINGS)
    ]  # fmt: skip
    records = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": rows})
    return agon.score("dojo", records, overrides={"tag_spelling": spelling})


def test_spellings_of_a_tag_are_reported_where_they_count_as_several() -> None:
    """With the seed's letter a bonus for a new tag is a matter of a hyphen; a finding says so."""
    exact = [one for one in spelled("exact").findings if one.code == "tag-spellings"]
    assert [(one.subjects, one.value) for one in exact] == [(("p",), 3)]
    assert "' closed form', 'Closed-Form', 'closed_form' count as 3 tags" in exact[0].message
    assert [one for one in spelled("folded").findings if one.code == "tag-spellings"] == []


def test_folded_tags_are_one_tag() -> None:
    """The earliest of all spellings is the first of the tag."""
    points = {
        spelling: {
            row["id"]: row["diversity"] for row in spelled(spelling).board("problem:p").rows()
        }
        for spelling in ("exact", "folded")
    }
    assert points["exact"] == {"u0": 50, "u1": 50, "u2": 50, "u3": 50}
    assert points["folded"] == {"u0": 50, "u1": 20, "u2": 20, "u3": 50}
