"""Derive the columns of a competition's own rules from the rules, with the same bounds."""

from types import NoneType
from typing import Any, Literal, get_args, get_origin

from agon.disciplines.challenge.rules import COMPETITION_RULES, ChallengeRules
from agon.records import Column, Kind

_LOW, _HIGH = ("ge", "gt"), ("le", "lt")
_KINDS = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.NUMBER}


def column_of_rule(name: str) -> Column:
    """Return the column that sets a rule for one competition.

    Example:
        >>> column_of_rule("top_n").kind, column_of_rule("top_n").low
        (<Kind.INTEGER: 'integer'>, 1)
        >>> column_of_rule("improvement").choices
        ('relative', 'absolute')
    """
    field = ChallengeRules.model_fields[name]
    annotation: Any = field.annotation
    if get_origin(annotation) is not Literal:
        kinds = [one for one in get_args(annotation) or (annotation,) if one is not NoneType]
        annotation = kinds[0]
    bounds = {
        key: value
        for one in field.metadata
        for key in (*_LOW, *_HIGH)
        if (value := getattr(one, key, None)) is not None
    }
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    return Column(
        name,
        Kind.TEXT if choices else _KINDS[annotation],
        required=False,
        low=next((bounds[key] for key in _LOW if key in bounds), None),
        high=next((bounds[key] for key in _HIGH if key in bounds), None),
        choices=choices,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    )


COMPETITION_COLUMNS = tuple(column_of_rule(name) for name in COMPETITION_RULES)
"""One column for every rule that a competition may set for itself."""


def _of_the_network(name: str, kind: Kind) -> Column:
    return Column(
        name,
        kind,
        required=False,
        meaning="Rejected: a rule of the network.",
        empty="as it must be",
    )


NETWORK_COLUMNS = (
    _of_the_network("weight_cap", Kind.NUMBER),
    _of_the_network("cap_excess", Kind.TEXT),
    _of_the_network("rounding", Kind.TEXT),
    _of_the_network("burn_uid", Kind.INTEGER),
)
"""Rules of the network that a competition cannot set; they are rejected rather than ignored."""
