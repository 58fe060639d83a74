"""Write settings as TOML, each below its meaning."""

import json
import textwrap
from collections.abc import Iterable
from typing import Any

from agon.settings.loading import Origin
from agon.settings.table import SETTINGS

_WIDTH = 98


def to_toml(origins: Iterable[Origin], *, origin: bool = False) -> str:
    """Return settings as the text of an ``agon.toml``; those with their default are commented out.

    A secret is commented out too, because it is shown as ``***``.

    Args:
        origins: the settings, as :func:`agon.settings.origins` returns them.
        origin: whether each is followed by its origin.
    """
    parts = []
    for item in origins:
        setting = SETTINGS[item.name]
        lines = textwrap.wrap(
            f"{setting.meaning} ({setting.bounds})", _WIDTH, break_on_hyphens=False
        )
        commented = item.source == "default" or (setting.secret and "***" in str(item.value))
        line = f"{item.name} = {_value(item.value)}" + (f"  # {item.source}" if origin else "")
        parts.append(
            "\n".join([*(f"# {text}" for text in lines), f"# {line}" if commented else line])
        )
    return "\n\n".join(parts) + "\n"


def _value(value: Any) -> str:
    """Return a value in TOML; strings, numbers and lists of them are written as in JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
