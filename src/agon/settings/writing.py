"""Write settings as TOML, each below its meaning."""

import json
import textwrap
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from agon.settings.loading import Origin
from agon.settings.table import SETTINGS

_WIDTH = 98


def to_toml(origins: Iterable[Origin], *, origin: bool = False) -> str:
    """Return settings as the text of an ``agon.toml``; those with their default are commented out.

    A secret is commented out too, because it is shown as ``***``, and so is the header of a section
    without other lines.

    Args:
        origins: the settings, as :func:`agon.settings.origins` returns them.
        origin: whether each is followed by its origin.
    """
    parts: list[str] = []
    for section, items in groupby(origins, key=lambda item: SETTINGS[item.name].section):
        texts = [_text(item, origin=origin) for item in items]
        if section:
            is_commented = all(text.rpartition("\n")[2].startswith("#") for text in texts)
            parts.append(f"# [{section}]" if is_commented else f"[{section}]")
        parts += texts
    return "\n\n".join(parts) + "\n"


def _text(item: Origin, *, origin: bool) -> str:
    """Return a setting as lines of TOML."""
    setting = SETTINGS[item.name]
    lines = textwrap.wrap(f"{setting.meaning} ({setting.bounds})", _WIDTH, break_on_hyphens=False)
    commented = item.source == "default" or (setting.secret and "***" in str(item.value))
    line = f"{setting.key} = {_value(item.value)}" + (f"  # {item.source}" if origin else "")
    return "\n".join([*(f"# {text}" for text in lines), f"# {line}" if commented else line])


def _value(value: Any) -> str:
    """Return a value in TOML; strings, numbers and lists of them are written as in JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
