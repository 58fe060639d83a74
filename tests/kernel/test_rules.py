"""Rules: bounds, texts, versions, overrides from a command line, errors that name everything."""

from typing import Literal

import pytest

from agon.errors import InvalidRule
from agon.kernel.rules import Rules, rule


class Sample(Rules):
    """Rules of every kind."""

    bonus: float = rule(50, meaning="points", reason="the seed's", source="seed", ge=0, le=1000)
    count: int = rule(3, meaning="how many", reason="the seed's", source="seed", ge=1)
    mode: Literal["count", "ignore"] = rule("count", meaning="how", reason="open", source="spec")
    window: int | None = rule(None, meaning="epochs", reason="open", source="spec", ge=1)
    models: tuple[str, ...] = rule(("a", "b"), meaning="which", reason="seed", source="seed")
    on: bool = rule(default=False, meaning="whether", reason="opt-in", source="seed")


def test_text_values_are_read_as_what_the_rule_holds() -> None:
    """`--set key=value` gives text; the rule's kind decides what it means."""
    values = {"bonus": "7.5", "count": "4", "mode": "ignore", "window": "2", "models": "x, y",
             "on": "true"}  # fmt: skip
    rules = Sample().override(values)
    assert rules == Sample(bonus=7.5, count=4, mode="ignore", window=2, models=("x", "y"), on=True)
    assert rules.override({"window": "none"}).window is None
    assert rules.override({"models": '["one, two"]'}).models == ("one, two",)


def test_text_is_read_as_a_list_or_table_where_the_rule_may_hold_one() -> None:
    """A kind may be an alternative to none, and a table is stated as JSON."""

    class Optional(Rules):
        names: tuple[str, ...] | None = rule(None, meaning="who", reason="open", source="spec")
        shares: dict[str, float] = rule({}, meaning="of each", reason="open", source="spec")

    rules = Optional().override({"names": "ann, bob", "shares": '{"ann": 0.5}'})
    assert rules == Optional(names=("ann", "bob"), shares={"ann": 0.5})
    assert rules.override({"names": "null"}).names is None


def test_all_errors_are_reported_together_with_a_suggestion() -> None:
    """One round of corrections is enough."""
    with pytest.raises(InvalidRule) as caught:
        Sample().override({"bonsu": 1, "count": 0, "mode": "maybe", "bonus": "nan"})
    message = str(caught.value)
    assert "unknown rule 'bonsu': did you mean bonus?" in message
    assert "rule count = 0: input should be greater than or equal to 1" in message
    assert "rule mode = 'maybe': input should be 'count' or 'ignore'" in message
    assert "rule bonus = 'nan'" in message


def test_rules_are_frozen() -> None:
    """A value cannot change under a score."""
    with pytest.raises(ValueError, match="frozen"):
        Sample().count = 9


def test_texts_have_readable_bounds() -> None:
    """The rulebook is made from these."""
    bounds = {text.name: text.bounds for text in Sample.texts()}
    assert bounds == {
        "bonus": "number ≥ 0, ≤ 1,000",
        "count": "whole number ≥ 1",
        "mode": "one of count, ignore",
        "window": "whole number ≥ 1 or none",
        "models": "list",
        "on": "true or false",
    }


class Later(Sample):
    """The same rules with some that later versions added."""

    reach: bool = rule(default=False, meaning="whether", reason="off", source="x", since="0.2")
    reach_points: float = rule(2, meaning="points", reason="x", source="x", since="0.2", ge=0)
    names: tuple[str, ...] = rule((), meaning="which", reason="x", source="x", since="0.10")


def test_rules_that_were_added_later_and_have_their_defaults_are_not_stated() -> None:
    """So that a fingerprint of stated values outlives every rule that is added."""
    assert Later().stated_values() == Sample().stated_values()
    assert Later(count=9).stated_values() == Sample(count=9).stated_values()
    assert (
        Later(reach=False, reach_points=2.0, names=()).stated_values() == Sample().stated_values()
    )


def test_a_later_rule_is_stated_where_it_differs_from_its_default() -> None:
    """However it was set; set back to the default it is gone again."""
    rules = Later().override({"reach": "true", "names": "a, b"})
    assert rules.stated_values() == {**Sample().stated_values(), "reach": True, "names": ["a", "b"]}
    assert (
        rules.override({"reach": "false", "names": []}).stated_values() == Sample().stated_values()
    )


def test_a_version_has_the_rules_of_the_versions_before_it() -> None:
    """Versions are compared as numbers."""
    assert Later.existing_in("0.1") == set(Sample.model_fields)
    assert Later.existing_in("0.2.1") == {*Sample.model_fields, "reach", "reach_points"}
    assert Later.existing_in("0.10") == set(Later.model_fields)
    assert {text.since for text in Later.texts()} == {"0.1", "0.2", "0.10"}
