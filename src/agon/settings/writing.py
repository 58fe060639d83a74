"""Write settings as TOML, each under its meaning."""

import json
import textwrap
from collections.abc import Iterable
from typing import Any

from agon.settings.loading import Origin
from agon.settings.table import SETTINGS

_WIDTH = 98


def written_toml(origins: Iterable[Origin], *, origin: bool = False) -> str:
    """Write settings as an ``agon.toml``: what is set as it is, what is default behind a ``#``.

    A secret stands behind a ``#``, too: it is shown as ``***``, which is none.

    Args:
        origins: the settings, as :func:`agon.settings.origins` gives them.
        origin: whether each is followed by where it comes from.
    """
    parts = []
    for one in origins:
        setting = SETTINGS[one.name]
        lines = textwrap.wrap(
            f"{setting.meaning} ({setting.bounds})", _WIDTH, break_on_hyphens=False
        )
        aside = one.source == "default" or (setting.secret and "***" in str(one.value))
        line = f"{one.name} = {_value(one.value)}" + (f"  # {one.source}" if origin else "")
        parts.append("\n".join([*(f"# {text}" for text in lines), f"# {line}" if aside else line]))
    return "\n\n".join(parts) + "\n"


def _value(value: Any) -> str:
    """Write a value; strings, numbers and lists of them have the form they have in JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
