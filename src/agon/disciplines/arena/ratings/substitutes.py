"""Rate a contest by what its records say, where a rule asks for more."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agon.disciplines.arena.ratings.strengths import Strengths
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable


def rate_anyway(
    rate: Callable[[ArenaRules], Strengths], rules: ArenaRules
) -> tuple[Strengths, ArenaRules]:
    """Return ratings and the rules that they follow from, the stated ones where that is possible.

    A column that nobody filled, or a style that is the same in all answers, must not take the
    rating from every bot of a contest. Each rule that is left out is said in a note, with why.

    Args:
        rate: rates under some rules.
        rules: the rules of the contest.

    Raises:
        NotScorable: no bot can be rated whatever these rules say.
    """
    said: list[str] = []
    while True:
        try:
            made = rate(rules)
        except NotScorable as error:
            simpler = rules.override(error.instead)
            if simpler == rules:
                raise
            said.append(f"{error}; until then this board has {_text(_changed(rules, simpler))}")
            rules = simpler
        else:
            return replace(made, notes=(*said, *made.notes)), rules


def _changed(rules: ArenaRules, simpler: ArenaRules) -> dict[str, Any]:
    """Return the values of the rules that were replaced."""
    before = rules.model_dump()
    return {name: value for name, value in simpler.model_dump().items() if value != before[name]}


def _text(values: Mapping[str, Any]) -> str:
    """Return values of rules in words.

    Example:
        >>> _text({"cluster": "none", "control": ""})
        'cluster=none and control empty'
    """
    return " and ".join(f"{name}={value}" if value else f"{name} empty"
                        for name, value in values.items())  # fmt: skip
