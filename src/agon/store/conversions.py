"""Turn values into what columns hold, and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from agon.errors import Unreadable
from agon.kernel.times import micros, moment_at


def micros_or_none(at: datetime | None) -> int | None:
    """Count as :func:`agon.kernel.times.micros` does, where there may be no time."""
    return None if at is None else micros(at)


def moment_or_none(count: int | None) -> datetime | None:
    """Return a time as :func:`agon.kernel.times.moment_at` does, where there may be none."""
    return None if count is None else moment_at(count)


def json_text(value: Any) -> str:
    """Write JSON, keys in their own order.

    Example:
        >>> json_text({"b": (1, 2)})
        '{"b":[1,2]}'

    Raises:
        Unreadable: a whole number of more than 64 bits, or half a character.
    """
    try:
        return orjson.dumps(value, default=_plain).decode()
    except orjson.JSONEncodeError as error:
        raise Unreadable(
            f"a value cannot be kept as JSON ({error}); give text of whole characters and whole "
            "numbers of 64 bits"
        ) from error


def json_or_none(value: Any) -> str | None:
    """Write JSON as :func:`json_text` does; None stays None."""
    return None if value is None else json_text(value)


def parsed(text: str | None) -> Any:
    """Read what :func:`json_text` wrote; None stays None."""
    return None if text is None else orjson.loads(text)


def _plain(value: object) -> Any:
    """Say how values are written that JSON has no word for."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
