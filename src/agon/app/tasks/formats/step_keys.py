"""Read the keys of ``[[steps]]`` that a step has for itself."""

import re
from collections.abc import Mapping
from typing import Any, Final

from agon.app.containers.pass_rule import REWARD
from agon.app.tasks.formats.settings_reader import DAY_S, SettingsReader

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)


def check_step_name(keys: SettingsReader, taken: set[str]) -> str:
    """Return the name of a step, which names a folder; a wrong or second one is an error."""
    name = keys.text("name")
    if not _NAME.fullmatch(name) or name in taken:
        keys.add_issue("name", name, "give each step the name of its own folder in steps/")
    taken.add(name)
    return name


def min_rewards(keys: SettingsReader) -> tuple[tuple[str, float], ...]:
    """Return the least reward by key: of ``reward`` where a step gives one number."""
    value = keys.anything("min_reward")
    rows: Mapping[str, Any] = value if isinstance(value, Mapping) else {REWARD: value}
    if value is None:
        return ()
    if any(isinstance(x, bool) or not isinstance(x, int | float) for x in rows.values()):
        keys.add_issue("min_reward", value, "give a number, or a table with a number per key")
        return ()
    return tuple((key, float(number)) for key, number in rows.items())


def step_seconds(keys: SettingsReader) -> float | None:
    """Return a step's own time limit; None where it has none."""
    if "timeout_sec" not in keys:
        return None
    return keys.number("timeout_sec", default=600.0, low=0.1, high=DAY_S)
