"""Titles of rules: an edition and its overrides, as headings name them."""

from collections.abc import Mapping
from typing import Any


def rules_title(edition: str, overrides: Mapping[str, Any]) -> str:
    """Return an edition and overrides as headings name them.

    Example:
        >>> rules_title("arena/sentience-1", {"confidence": 0.9})
        'arena/sentience-1 with confidence=0.9'
    """
    changed = ", ".join(f"{name}={_plain(value)}" for name, value in overrides.items())
    return f"{edition} with {changed}" if changed else edition


def _plain(value: Any) -> str:
    """Return a rule's value as ``--set`` takes it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.15g}"
    return "none" if value is None else str(value)
