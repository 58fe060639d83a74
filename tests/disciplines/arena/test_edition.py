"""The released edition: its worked examples come out, and its rules are the documented ones."""

import pytest

from agon.disciplines.arena.rules import ArenaRules
from agon.editions import edition, editions
from agon.errors import InvalidRule


@pytest.mark.parametrize("name", editions("arena"))
def test_the_edition_has_the_examples_of_its_source(name: str) -> None:
    """Every vector of the spec page that records can say, and the seed's scenarios."""
    assert len(edition(name).examples) >= 20


def test_the_literal_edition_sets_the_defaults() -> None:
    """Rules say their default once; the edition of the seed's letter gives the same."""
    assert edition("arena/sentience-1").rules == ArenaRules()


@pytest.mark.parametrize(
    "wrong", [{"k_new": 0}, {"confidence": 1}, {"honeypot_probability": 1.1}, {"interval": "bayes"}]
)
def test_values_out_of_bounds_are_rejected(wrong: dict[str, object]) -> None:
    """Each with the rule's name."""
    with pytest.raises(InvalidRule, match=next(iter(wrong))):
        ArenaRules().override(wrong)


def test_an_unknown_rule_is_rejected_with_a_suggestion() -> None:
    """`k_old` is no rule."""
    with pytest.raises(InvalidRule, match="k_new"):
        ArenaRules().override({"k_neww": 3})
