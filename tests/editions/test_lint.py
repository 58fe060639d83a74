"""Linting: an edition is held to its own words."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from agon.disciplines import discipline
from agon.editions import Edition, Example, edition, editions
from agon.editions.lint import lint, of_example
from agon.errors import NotFound


@pytest.mark.parametrize("name", editions())
def test_every_released_edition_keeps_its_word(name: str) -> None:
    """All worked examples of all seeds and pages, run as ``agon rules lint`` does."""
    assert [str(issue) for issue in lint(name)] == []


@pytest.mark.parametrize("name", editions())
def test_every_edition_has_examples_of_its_default_board(name: str) -> None:
    """An edition without an example could say anything."""
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
    """Run an example made here under the arena's literal edition."""
    example = Example("here", RECORDS, {}, "bots", expect, unscored, 1e-9)
    return of_example(
        discipline("arena"), edition("arena/sentience-1"), dataclasses.replace(example, **changes)
    )


def test_what_comes_out_as_told_is_no_fault() -> None:
    """A win between equals moves sixteen."""
    assert (
        issues({"ann": {"score": 1016, "rank": 1}, "bob": {"score": 984}}, unscored=("cy",)) == []
    )


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ({"ann": {"score": 1017}}, "ann: score is 1016.0, should be 1017"),
        ({"ann": {"scroe": 1016}}, "ann: scroe is not there"),
        ({"ann": {"score": {"h": 1}}}, "ann: score h is not there"),
        ({"ann": {"score": [1016]}}, "should be [1016]"),
        ({"ann": {"provisional": 1}}, "provisional is True, should be 1"),
        ({"zoe": {"score": 1}}, "zoe"),
        ({"cy": {"score": 1}}, "unscored"),
        ({}, "expects nothing"),
    ],
)
def test_every_difference_is_told(expect: Mapping[str, Any], said: str) -> None:
    """With what is, and what should be."""
    (issue,) = issues(expect)
    assert said in issue


def test_a_tolerance_is_kept() -> None:
    """Seeds print rounded numbers."""
    assert issues({"ann": {"score": 1016.4}}, tolerance=0.5) == []


def test_who_should_be_unscored_and_is_not_is_a_fault() -> None:
    """The other way round as well."""
    assert issues({}, unscored=("ann",)) == ["ann should be unscored on board bots"]


def test_refused_records_rules_and_boards_are_faults() -> None:
    """An example that cannot be run is wrong, not skipped."""
    bad = {**RECORDS, "matches": [{**MATCH, "winner": "x"}]}
    expect = {"ann": {"score": 1016}}
    assert "records are refused" in issues(expect, records=bad)[0]
    assert "did you mean k_new" in issues(expect, overrides={"k_nwe": 1})[0]
    assert "did you mean bots" in issues(expect, board="bot")[0]


def test_an_unknown_edition_is_not_found() -> None:
    """Nothing to lint."""
    with pytest.raises(NotFound):
        lint("arena/sentience-99")


def test_an_edition_must_give_every_rule_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default in code is no released value: it could change."""
    released = edition("dojo/0.1")

    class Text:
        """Stand for a file."""

        def read_text(self, *, encoding: str) -> str:
            """Return an edition that lacks nearly everything."""
            return f"rules = {{n_check = 200}} # {encoding}"

    def without(_: str) -> Edition:
        return dataclasses.replace(
            released, reasons={"no_rule": "x"}, examples=(), changelog=(), released="soon"
        )

    monkeypatch.setattr("agon.editions.lint.file_of", lambda _: Text())
    monkeypatch.setattr("agon.editions.lint.edition", without)
    told = "\n".join(map(str, lint("dojo/0.1")))
    assert "rule reward_base has no value" in told
    assert "rule n_check" not in told
    for said in ("no_rule, which is no rule", "no changelog", "no worked example", "not a date"):
        assert said in told
