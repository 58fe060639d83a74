"""Constraints on the values of a column, with the texts of their issues.

Both engines take codes, reasons and remedies from here: ``checks.py`` for tables in SQL and
``rows.py`` for single rows in Python.
"""

from dataclasses import dataclass
from typing import Final

from agon.records.schemas import Column, Kind, Table

_KINDS: Final = {
    Kind.ID: ("is not an id", "give a whole number or text"),
    Kind.TEXT: ("is not text", "give text"),
    Kind.INTEGER: ("is not a whole number", "give a whole number"),
    Kind.NUMBER: ("is not a number", "give a number"),
    Kind.BOOLEAN: ("is not true or false", "give true or false"),
    Kind.TIMESTAMP: (
        "is not a time in the years 1 to 9999",
        "give an ISO 8601 time such as 2026-11-21T10:00:00Z",
    ),
}
_64_BITS: Final = " of at most 64 bits (±9,223,372,036,854,775,807)"


@dataclass(frozen=True)
class Constraint:
    """A requirement with the reason and remedy for values or rows that violate it.

    Attributes:
        code: the kind of issue.
        reason: the fact.
        remedy: how to correct it.
    """

    code: str
    reason: str
    remedy: str


@dataclass(frozen=True)
class ColumnConstraints:
    """The requirements of one column; a value violates at most one of them."""

    wrong_type: Constraint
    empty: Constraint
    unknown_value: Constraint
    non_finite: Constraint
    out_of_range: Constraint
    over_64_bits: Constraint


def constraints_of(column: Column) -> ColumnConstraints:
    """Return the requirements of a column.

    What is no text is none of the words of a closed list either.
    """
    right = expected_value(column)
    bounded = not (column.low is None and column.high is None and column.above is None)
    code = "bad-timestamp" if column.kind is Kind.TIMESTAMP else "wrong-type"
    unknown = Constraint("unknown-value", "is not one of the known values", right)
    return ColumnConstraints(
        wrong_type=unknown if column.choices else Constraint(code, _KINDS[column.kind][0], right),
        empty=Constraint("empty", "is empty", right),
        unknown_value=unknown,
        non_finite=Constraint("non-finite", "is not a finite number", right),
        out_of_range=Constraint("out-of-range", "is out of range", right),
        over_64_bits=Constraint(
            "out-of-range", "is out of range", right if bounded else right + _64_BITS
        ),
    )


def exactly_one(table: Table) -> Constraint:
    """Return the requirement that a row gives exactly one of several columns."""
    names = ", ".join(table.exactly_one_of)
    return Constraint(
        "exactly-one", f"does not give exactly one of {names}", "fill exactly one of them"
    )


INCONSISTENT: Final = "inconsistent"
"""The code of rows that fail a check of the schema."""


def expected_value(column: Column) -> str:
    """Describe the values that a column accepts, for messages.

    Example:
        >>> expected_value(Column("score", Kind.NUMBER, low=0, high=1))
        'give a number from 0 to 1'
        >>> expected_value(Column("weight", Kind.NUMBER, above=0))
        'give a number above 0'
    """
    if column.choices:
        return "give one of " + ", ".join(column.choices)
    kind = _KINDS[column.kind][1]
    if column.above is not None:
        most = "" if column.high is None else f" and of at most {column.high:.15g}"
        return f"{kind} above {column.above:.15g}{most}"
    if column.low is not None and column.high is not None:
        return f"{kind} from {column.low:.15g} to {column.high:.15g}"
    if column.low is not None:
        return f"{kind} of at least {column.low:.15g}"
    if column.high is not None:
        return f"{kind} of at most {column.high:.15g}"
    return kind
