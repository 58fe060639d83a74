"""The rules of a contest: those of an edition, of which its records can have what they read."""

from collections.abc import Mapping
from typing import Any

from agon.app.analysis.score import rules_of
from agon.disciplines import discipline
from agon.editions import Edition
from agon.errors import InvalidRule
from agon.kernel.rules import Rules


def contest_rules_of(
    discipline_name: str, edition: str | None, overrides: Mapping[str, Any]
) -> tuple[Edition, Rules]:
    """Return an edition and its rules with some changed, as a contest can have them.

    Ledgers that have other rules already are still replayed: their boards say what gave way.

    Raises:
        InvalidRule: a rule is unknown or out of bounds, or reads what no contest keeps.
        NotFound: there is no such edition.
    """
    released, rules = rules_of(discipline_name, edition, overrides)
    obstacle = discipline(discipline_name).rules_obstacle
    if obstacle is not None and (reason := obstacle(rules)) is not None:
        raise InvalidRule(reason)
    return released, rules
