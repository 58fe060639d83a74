"""Recognize commands of compose files that do nothing but keep a container."""

import re
from typing import Any, Final

_SHELL: Final = r"(?:/bin/)?(?:ba)?sh"
_WAITING: Final = re.compile(
    rf"(?:{_SHELL} -l?c )?['\"]?(?:{_SHELL}|cat|sleep \w+|tail -f /dev/null)['\"]?"
)


def only_waits(command: Any) -> bool:
    """Return whether a command, as text or as a list of words, does nothing but wait.

    Example:
        >>> only_waits(["sh", "-c", "sleep infinity"]), only_waits("bash -c '/start.sh; sleep 9'")
        (True, False)
    """
    words = command if isinstance(command, list) else [command]
    return _WAITING.fullmatch(" ".join(map(str, words))) is not None
