"""Say what a value is that cannot be read as its column's kind, where its form shows that.

A spreadsheet's ``45750.5`` and ``03/04/2025`` are no times, but people who have them in a file need
another advice than "give an ISO 8601 time". Tables and single rows are refused in the same words.
"""

import re
from dataclasses import replace
from datetime import date
from typing import Final

from agon.records.checks.constraints import Constraint
from agon.records.schemas import Column, Kind
from agon.records.values.json_values import UNIT_NAMES, epoch_unit

ONE_UNIT: Final = "give all times of a column in one unit, or all as 2026-11-21T10:00:00Z"
"""What to do about a column of times in several units."""

_DAY_NUMBER: Final = re.compile(r"[2-7][0-9]{4}([.,][0-9]+)?")  # of the years 1954 to 2119
_YEAR_LAST: Final = re.compile(r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})(?![0-9]).*")
_CLOCK: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
)
_DAY: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])")
_PERCENT: Final = re.compile(r"([+-]?[0-9]+(?:[.,][0-9]+)?)\s*%")
_GROUPED: Final = re.compile(r"[+-]?[0-9]+(?:[.,'’ \u00a0\u202f][0-9]+)+")
_MONTHS: Final = 12


def wrong_value(wrong: Constraint, column: Column, text: str) -> Constraint:
    """Return the requirement that a value violates, with what its form shows.

    Args:
        wrong: the requirement; one that is not about the column's kind is returned as it is.
        column: the column.
        text: the value as text.

    Example:
        >>> from agon.records.checks.constraints import constraints_of
        >>> score = Column("score", Kind.NUMBER, low=0, high=1)
        >>> wrong_value(constraints_of(score).wrong_type, score, "50%").remedy
        'give a number from 0 to 1: 0.5 for 50%'
        >>> at = Column("at", Kind.TIMESTAMP)
        >>> wrong_value(constraints_of(at).wrong_type, at, "03/04/2025").reason
        'does not begin with the year: it may be 2025-04-03 or 2025-03-04'
    """
    if wrong.code == "bad-timestamp":
        return _wrong_time(wrong, text.strip())
    if wrong.code == "wrong-type" and column.kind in {Kind.NUMBER, Kind.INTEGER}:
        return _wrong_number(wrong, column, text.strip())
    return wrong


def _wrong_time(wrong: Constraint, text: str) -> Constraint:
    unit = epoch_unit(text)
    if unit is not None:
        reason = f"is in {UNIT_NAMES[unit]} since 1970, and other times of the column are not"
        return replace(wrong, reason=reason, remedy=ONE_UNIT)
    if _DAY_NUMBER.fullmatch(text):
        remedy = "format the column as yyyy-mm-dd hh:mm:ss in the spreadsheet, and export it again"
        return replace(wrong, reason="is the number of a day in a spreadsheet", remedy=remedy)
    match = _YEAR_LAST.fullmatch(text)
    if match is not None:
        first, second, year = int(match[1]), int(match[3]), match[4]
        days = dict.fromkeys(
            f"{year}-{month:02}-{day:02}"
            for day, month in ((first, second), (second, first))
            if 1 <= month <= _MONTHS
        )
        if days:
            be = "may be" if len(days) > 1 else "is"
            reason = f"does not begin with the year: it {be} {' or '.join(days)}"
            return replace(wrong, reason=reason)
    clock = _CLOCK.match(text)
    zone = text[clock.end() :].strip() if clock else ""
    if zone and any(sign.isalpha() for sign in zone) and zone not in {"Z", "UTC"}:
        remedy = "give the offset, as in 2026-11-21T10:00:00+01:00, or Z for UTC"
        return replace(wrong, reason="has a zone without an offset", remedy=remedy)
    day = _DAY.match(text)
    if day is not None and day[1] >= "0001":
        try:
            date.fromisoformat(day[1])
        except ValueError:
            return replace(wrong, reason="is no day of the calendar")
    return wrong if day else replace(wrong, reason="is not an ISO 8601 time")


def _wrong_number(wrong: Constraint, column: Column, text: str) -> Constraint:
    percent = _PERCENT.fullmatch(text)
    if percent is not None:
        share = float(percent[1].replace(",", ".")) / 100
        advice = f": {share:.10g} for {text}" if column.high == 1 else " without the sign %"
        return replace(wrong, remedy=wrong.remedy + advice)
    if _GROUPED.fullmatch(text):
        advice = ", with a point before decimals and nothing between thousands"
        return replace(wrong, remedy=wrong.remedy + advice)
    return wrong
