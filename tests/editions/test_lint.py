"""Lint: an edition states every rule and its worked examples give what they expect."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from agon.disciplines import discipline
from agon.editions import Example, edition, editions
from agon.editions.lint import lint, of_example
from agon.editions.registry import parse
from agon.errors import NotFound


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", editions())
def test_every_released_edition_has_no_issue(name: str) -> None:
    """The worked examples of all seeds and pages give what they expect: ``agon rules lint``.

    Every edition in every run: users check their own scorers against these examples.
    """
    assert [str(issue) for issue in lint(name)] == []


@pytest.mark.parametrize("name", editions())
def test_every_edition_has_examples_of_its_default_board(name: str) -> None:
    """An edition without an example is not verified."""
    released = edition(name)
    default = discipline(released.discipline).boards[0]
    assert any(example.board.partition(":")[0] == default for example in released.examples)


MATCH = {"id": 1, "played_at": None, "bot_a": "ann", "bot_b": "bob", "kind": "rated"}
RECORDS = {
    "bots": [{"id": name, "owner_id": None, "name": name} for name in ("ann", "bob", "cy")],
    "matches": [{**MATCH, "winner": "a"}],
}


def issues(
    expect: Mapping[str, Any], *, unscored: tuple[str, ...] = (), **changes: Any
) -> list[str]:
    """Run an example under the arena's reference edition."""
    example = Example("here", RECORDS, {}, "bots", expect, unscored, 1e-9)
    return of_example(
        discipline("arena"), edition("arena/sentience-1"), dataclasses.replace(example, **changes)
    )


def test_an_example_that_gives_what_it_expects_has_no_issue() -> None:
    """A win between equal ratings moves sixteen points."""
    assert (
        issues({"ann": {"score": 1016, "rank": 1}, "bob": {"score": 984}}, unscored=("cy",)) == []
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"ann": {"score": 1017}}, "ann: score is 1016.0, should be 1017"),
        ({"ann": {"scroe": 1016}}, "ann: scroe is missing"),
        ({"ann": {"score": {"h": 1}}}, "ann: score h is missing"),
        ({"ann": {"score": [1016]}}, "should be [1016]"),
        ({"ann": {"provisional": 1}}, "provisional is True, should be 1"),
        ({"zoe": {"score": 1}}, "zoe"),
        ({"cy": {"score": 1}}, "unscored"),
        ({}, "expects nothing"),
    ],
)
def test_every_difference_is_reported(expect: Mapping[str, Any], message: str) -> None:
    """The issue has the actual and the expected value."""
    (issue,) = issues(expect)
    assert message in issue


def test_a_tolerance_is_allowed() -> None:
    """Seeds print rounded numbers."""
    assert issues({"ann": {"score": 1016.4}}, tolerance=0.5) == []


def test_a_scored_id_that_should_be_unscored_is_an_issue() -> None:
    """The reverse is an issue as well."""
    assert issues({}, unscored=("ann",)) == ["ann should be unscored on board bots"]


def test_rejected_records_rules_and_boards_are_issues() -> None:
    """An example that cannot be run is wrong, not skipped."""
    bad = {**RECORDS, "matches": [{**MATCH, "winner": "x"}]}
    expect = {"ann": {"score": 1016}}
    assert "records are rejected" in issues(expect, records=bad)[0]
    assert "did you mean k_new" in issues(expect, overrides={"k_nwe": 1})[0]
    assert "did you mean bots" in issues(expect, board="bot")[0]


def test_an_unknown_edition_is_not_found() -> None:
    """There is nothing to lint."""
    with pytest.raises(NotFound):
        lint("arena/sentience-99")


def _linted(monkeypatch: pytest.MonkeyPatch, text: str, **changes: Any) -> str:
    """Lint a text as edition dojo/0.2."""
    released = dataclasses.replace(parse(text, full_name="dojo/0.2"), **changes)

    class File:
        """A file with the text."""

        def read_text(self, *, encoding: str) -> str:
            """Return the text."""
            return text if encoding else ""

    monkeypatch.setattr("agon.editions.lint.file_of", lambda _: File())
    monkeypatch.setattr(
        "agon.editions.lint.edition",
        lambda name: released if name == "dojo/0.2" else edition(name),
    )
    return "\n".join(map(str, lint("dojo/0.2")))


HEAD = 'agon = "0.1"\ntitle = "x"\nreleased = "2026-01-01"\n'


def test_an_edition_states_every_basic_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default in code is not a released value; added rules are off unless stated."""
    text = f"{HEAD}rules = {{n_check = 200}}\nreasons = {{no_rule = 'x'}}"
    issues = _linted(monkeypatch, text, released="soon")
    no_value = "rule {} has no value; an edition states every rule of the source document"
    assert no_value.format("reward_base") in issues
    assert "rule n_check" not in issues
    assert "max_information_bytes" not in issues
    for issue in ("no_rule, which is not a rule", "no changelog", "no worked example"):
        assert issue in issues
    assert "released = 'soon' is not a date" in issues


def test_an_edition_does_not_state_rules_of_later_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has their defaults; what it states must have existed."""
    text = f"{HEAD}rules = {{n_check = 200}}".replace('"0.1"', '"0.0"')
    assert "rule n_check exists since agon 0.1, the edition is of 0.0" in _linted(monkeypatch, text)
    text = text.replace('"0.0"', '"soon"')
    assert "agon = 'soon' is not a version" in _linted(monkeypatch, text)


def test_an_edition_repeats_neither_its_base_nor_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value and each reason is in one place."""
    reason = next(
        text.reason for text in discipline("dojo").rules.texts() if text.name == "n_check"
    )
    text = f"""{HEAD}base = "dojo/0.1"
    rules = {{ n_check = 200, stage_base = 1 }}
    reasons = {{ n_check = "{reason}", stage_base = "Another." }}"""
    issues = _linted(monkeypatch, text, examples=())
    assert "rule n_check has the value of its base dojo/0.1; leave it out" in issues
    assert "the reason for n_check is known without it; leave it out" in issues
    assert "stage_base" not in issues
