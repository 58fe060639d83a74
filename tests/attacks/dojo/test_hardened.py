"""Each rule of ``dojo/hardened-1`` that differs from ``dojo/0.2`` ends attacks of its own."""

from functools import cache, partial
from typing import Any

import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner, select
from agon.editions import edition
from attacks.worlds import world_of

LAB = lab_of("dojo")
honest_world = partial(world_of, "dojo", size=30)
LITERAL, HARDENED = edition("dojo/0.2").rules, edition("dojo/hardened-1").rules
STRINGS = ("max_string_literal_chars", "max_string_bytes")
"""One limit in two units: of plain text a character is a byte."""
OFF = {name: getattr(LITERAL, name) for name in (*STRINGS, "tags_per_user")}
"""The rules that differ, as they were."""


@cache
def _runner(**overrides: Any) -> Runner:
    return Runner(LAB, honest_world(), HARDENED.override(overrides))


@cache
def _result(name: str, **overrides: Any) -> AttackResult:
    """Return the result of an attack under the hardened rules, some of them overridden."""
    return _runner(**overrides).run(select(LAB, [name])[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("rules", "attacks"),
    [
        (STRINGS, {"hidden-tables"}),
        (("tags_per_user",), {"tag-farming", "resubmission-races"}),
    ],
)
def test_each_rule_alone_ends_its_attacks(rules: tuple[str, ...], attacks: set[str]) -> None:
    """Off, they have their old price; on, no plan reaches the goal."""
    for name in ("hidden-tables", "tag-farming", "resubmission-races"):
        hardened = _result(name)
        assert (hardened.reached, hardened.gain.points) == (False, 0), name
        without = _result(name, **{rule: OFF[rule] for rule in rules})
        assert without.reached == (name in attacks), name
        if name in attacks:
            literal = _result(name, **OFF)
            assert without.effort == literal.effort, name


def test_no_other_rule_differs() -> None:
    """So that those above are the whole difference."""
    names = type(HARDENED).model_fields
    differing = {name for name in names if getattr(HARDENED, name) != getattr(LITERAL, name)}
    assert differing == OFF.keys()
