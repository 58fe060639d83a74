"""Convert values to what columns hold, and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from agon.errors import Unreadable
from agon.kernel.times import from_micros, to_micros


def to_micros_or_none(at: datetime | None) -> int | None:
    """Return microseconds as :func:`agon.kernel.times.to_micros` does; None stays None."""
    return None if at is None else to_micros(at)


def from_micros_or_none(count: int | None) -> datetime | None:
    """Return a time as :func:`agon.kernel.times.from_micros` does; None stays None."""
    return None if count is None else from_micros(count)


def json_text(value: Any) -> str:
    """Return JSON text, keys in their own order.

    Example:
        >>> json_text({"b": (1, 2)})
        '{"b":[1,2]}'

    Raises:
        Unreadable: it holds an integer of more than 64 bits, or a lone surrogate.
    """
    try:
        return orjson.dumps(value, default=_plain).decode()
    except orjson.JSONEncodeError as error:
        raise Unreadable(
            f"a value cannot be stored as JSON ({error}); give valid Unicode text and integers "
            "of 64 bits"
        ) from error


def json_or_none(value: Any) -> str | None:
    """Return JSON text as :func:`json_text` does; None stays None."""
    return None if value is None else json_text(value)


def parsed(text: str | None) -> Any:
    """Return the value of JSON text; None stays None."""
    return None if text is None else orjson.loads(text)


def _plain(value: object) -> Any:
    """Return a JSON value for one that orjson does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
