"""Each rule of ``dojo/hardened-1`` that differs from ``dojo/0.2`` ends attacks of its own."""

from functools import partial
from typing import Any

import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner, select
from agon.editions import edition
from attacks.worlds import world_of

LAB = lab_of("dojo")
honest_world = partial(world_of, "dojo", size=40)
LITERAL, HARDENED = edition("dojo/0.2").rules, edition("dojo/hardened-1").rules


def _result(name: str, rules: Any) -> AttackResult:
    return Runner(LAB, honest_world(), rules).run(select(LAB, [name])[0])


@pytest.mark.parametrize(
    ("rule", "attacks"),
    [
        ("max_string_literal_chars", {"hidden-tables"}),
        ("tags_per_user", {"tag-farming", "resubmission-races"}),
    ],
)
def test_each_rule_alone_ends_its_attacks(rule: str, attacks: set[str]) -> None:
    """Off, they have their old price; on, no plan reaches the goal."""
    old = getattr(LITERAL, rule)
    for name in ("hidden-tables", "tag-farming", "resubmission-races"):
        hardened = _result(name, HARDENED)
        assert (hardened.reached, hardened.gain.points) == (False, 0), name
        without = _result(name, HARDENED.override({rule: old}))
        assert without.reached == (name in attacks), name
        if name in attacks:
            literal = _result(name, LITERAL)
            assert without.effort == literal.effort, name


def test_no_other_rule_differs() -> None:
    """So that the two above are the whole difference."""
    names = type(HARDENED).model_fields
    differing = {name for name in names if getattr(HARDENED, name) != getattr(LITERAL, name)}
    assert differing == {"max_string_literal_chars", "tags_per_user"}
