"""The attacker computes terms outside of the limits of time, and submits them as a table.

The table has the form that the payload policy leaves room for, just under its thresholds: a string,
and numbers of which each holds several terms. Terms are taken to have four digits.
"""

from itertools import islice

from agon.attacks.dojo.season import Season
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.dojo.rules import DojoRules

DIGITS = 4
"""Digits of a term."""

_OWN = 40
"""Bytes of names and digits of the program besides its table, and more numbers than it needs."""


def act(season: Season, plan: Plan) -> None:
    """Submit tables for some problems that others have solved."""
    if season.day == 1:
        for problem in islice(season.computed_problems(), int(plan["problems"])):
            season.compute_terms()
            if source := table_program(season.terms_of(problem), season.rules):
                season.submit(problem, source, tag="closed_form")


def table_program(terms: int, rules: DojoRules) -> str | None:
    """Return a program that holds a table, None if the payload policy has no room for one.

    Example:
        >>> print(table_program(3, DojoRules(max_string_literal_chars=9)))
        def solver():
            t = "10001001" + "".join(map(str, [1002]))
            return [int(t[4 * i : 4 * i + 4]) for i in range(3)]
        <BLANKLINE>
        >>> table_program(3, DojoRules(max_string_literal_chars=11, max_literal_digits=3)) is None
        True
    """
    digits = "".join(str(1000 + number % 9000) for number in range(terms))
    characters = rules.max_string_literal_chars
    if rules.max_string_bytes is not None:  # a digit is a byte
        characters = min(characters, rules.max_string_bytes)
    in_string = characters // DIGITS * DIGITS
    rest = digits[in_string:]
    width = (rules.max_literal_digits or len(digits)) // DIGITS * DIGITS
    room = rules.max_information_bytes or len(digits) + _OWN
    if rest and (
        not width
        or len(rest) / width > rules.max_numeric_literals - _OWN
        or len(rest) > room - _OWN
    ):
        return None
    numbers = ", ".join(rest[index : index + width] for index in range(0, len(rest), width or 1))
    more = f' + "".join(map(str, [{numbers}]))' if rest else ""
    return (
        f'def solver():\n    t = "{digits[:in_string]}"{more}\n'
        f"    return [int(t[4 * i : 4 * i + 4]) for i in range({terms})]\n"
    )


STRATEGY = Strategy(
    name="hidden-tables",
    description=__doc__,
    source="document 002, 3.2: payload thresholds; agon's contest for tables of answers",
    controls="a computer for some days",
    knows="the published thresholds",
    goal="rank+1",
    plans=tuple({"problems": problems} for problems in (1, 2, 3, 5, 10, 30)),
    act=act,
)
