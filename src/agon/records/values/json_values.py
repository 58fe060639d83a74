"""Read one JSON value as its column's kind, as ``casting.py`` does for columns.

Each reader takes a value that is not null and gives the typed value, or :data:`BAD` where it
cannot be one, or :data:`BEYOND` for an integer of more than 64 bits.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from typing import Any, Final, TypeAlias

from agon.records.schemas import Kind
from agon.records.values.words import FALSE, TRUE


class UnreadableValue(Enum):
    """Why a value cannot be read."""

    BAD = "is not of its kind"
    BEYOND = "is a whole number of more than 64 bits"


BAD, BEYOND = UnreadableValue.BAD, UnreadableValue.BEYOND
Reader: TypeAlias = Callable[[Any], Any]

_WHOLE: Final = re.compile(r"([+-]?[0-9]+)(\.0*)?")
_NUMBER: Final = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)"
)
_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"(?: UTC|Z|([+-])([01][0-9])(?::?([0-5][0-9]))?)?)?"
)
_USUAL: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?")
_TRUTHS: Final = {
    **dict.fromkeys(TRUE, True),
    **dict.fromkeys(FALSE, False),
}
EPOCH_UNITS: Final = (1, 1_000, 1_000_000)
"""The parts of a second that a number of a time may count."""
UNIT_NAMES: Final = {1: "seconds", 1_000: "milliseconds", 1_000_000: "microseconds"}
EPOCH_FIRST, EPOCH_END = 631_152_000, 4_102_444_800  # 1990 and 2100, in seconds since 1970
_EPOCH: Final = re.compile(r"[0-9]{9,16}(\.[0-9]*)?")
_ZERO: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - times are in UTC without a zone
_LOW, _HIGH = -(2**63), 2**63 - 1
_PLAIN_UP_TO = 1e21  # larger floats are written with an exponent, so they do not look like integers
_IDS_UP_TO = 1e15  # a float id has at most 15 digits


def _id(value: Any) -> Any:
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return BAD
    if isinstance(value, int):
        return str(value)
    if not value.is_integer() or abs(value) >= _IDS_UP_TO:
        return BAD
    return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return str(value).lower()
    return BAD if isinstance(value, dict | list) else str(value)


def _integer(value: Any) -> Any:
    if isinstance(value, str):
        if not value:
            return None
        match = _WHOLE.fullmatch(value.strip(" "))
        return _fitting(int(match[1])) if match else BAD
    if isinstance(value, bool) or not isinstance(value, int | float):
        return BAD
    if isinstance(value, float):
        return _fitting(int(value)) if value.is_integer() and abs(value) < _PLAIN_UP_TO else BAD
    return _fitting(value)


def _fitting(value: int) -> Any:
    return value if _LOW <= value <= _HIGH else BEYOND


def _number(value: Any) -> Any:
    if isinstance(value, str):
        if not value:
            return None
        text = value.strip(" ").lower()
        return float(text) if _NUMBER.fullmatch(text) else BAD
    if isinstance(value, bool) or not isinstance(value, int | float):
        return BAD
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _TRUTHS.get(value.strip(" ").lower(), BAD) if value else None
    return _TRUTHS.get(str(value), BAD) if isinstance(value, int | float) else BAD


def _timestamp(value: Any) -> Any:
    if not isinstance(value, str):
        return _epoch(value) if isinstance(value, int | float) else BAD
    if not value:
        return None
    if _EPOCH.fullmatch(value.strip(" ")):
        return _epoch(float(value) if "." in value else int(value))
    if _USUAL.fullmatch(value):
        try:
            return datetime.fromisoformat(value.removesuffix("Z"))
        except ValueError:
            pass  # hour 24, or an invalid day: checked below
    return _unusual_time(value.strip(" "))


def epoch_unit(value: Any) -> int | None:
    """Return how many parts of a second a number of a time counts, from 1990 to 2100; None: none.

    Example:
        >>> epoch_unit(1_760_000_000), epoch_unit("1760000000000"), epoch_unit("2026-01-20")
        (1, 1000, None)
    """
    if isinstance(value, str):
        if not _EPOCH.fullmatch(value.strip(" ")):
            return None
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    fitting = (u for u in EPOCH_UNITS if EPOCH_FIRST * u <= value < EPOCH_END * u)
    return next(fitting, None)


def has_no_zone(value: Any) -> bool:
    """Return whether a value is a text of a time of day without a zone.

    Example:
        >>> has_no_zone("2026-01-20 10:00"), has_no_zone("2026-01-20T10:00Z"), has_no_zone(7)
        (True, False, False)
    """
    match = _TIME.fullmatch(value.strip(" ")) if isinstance(value, str) else None
    return match is not None and match[4] is not None and match[0][-1].isdigit() and not match[8]


def _epoch(value: float) -> Any:
    """Return a time since 1970 in seconds, milliseconds or microseconds, from 1990 to 2100."""
    unit = epoch_unit(value)
    if unit is None:
        return BAD
    return _ZERO + timedelta(microseconds=round(value * (1_000_000 // unit)))


def _unusual_time(text: str) -> Any:
    match = _TIME.fullmatch(text)
    if match is None:
        return BAD
    year, month, day, *clock = (int(part or 0) for part in match.groups()[:6])
    hour, minute, second = clock
    micros = int((match[7] or "")[:6].ljust(6, "0"))
    midnight = hour == 24 and not (minute or second or micros)  # noqa: PLR2004  # a day's end
    offset = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0))
    zone = timezone(-offset if match[8] == "-" else offset)
    try:
        time = datetime(year, month, day, 0 if midnight else hour, minute, second, micros, zone)
        return (time + timedelta(days=midnight)).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return BAD


READERS: Final[dict[Kind, Reader]] = {
    Kind.ID: _id,
    Kind.TEXT: _text,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.TIMESTAMP: _timestamp,
}
"""How to read a value of each kind."""
