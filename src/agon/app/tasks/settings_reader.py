"""Take keys out of a settings file one by one; gather what is wrong, keep what nobody asked for."""

import math
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from agon.app.files import Fault

_ALIKE = 0.75  # how alike an unknown key and a known one are when one may be meant for the other
_LONGEST_SHOWN = 60


class SettingsReader:
    """Hold one table of a settings file while it is read.

    Each method takes one key: it gives the value, or the default when the key is missing or its
    value is none (which is gathered as a fault). :meth:`rest` is what was not taken.
    """

    def __init__(
        self, content: Mapping[str, Any], *, where: str, faults: list[Fault], path: str = ""
    ) -> None:
        self._content = content
        self._where = where
        self._faults = faults
        self._path = path
        self._known: set[str] = set()
        self._inner: dict[str, SettingsReader] = {}

    def __contains__(self, key: str) -> bool:
        """Say whether the key is there."""
        return key in self._content

    def table(self, key: str) -> "SettingsReader":
        """Open a table inside; an empty one when it is missing."""
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.fault(key, value, f"write a table [{self._path}{key}]")
            value = {}
        inner = SettingsReader(
            value, where=self._where, faults=self._faults, path=f"{self._path}{key}."
        )
        self._inner[key] = inner
        return inner

    def number(self, key: str, *, default: float, low: float, high: float) -> float:
        """Take a finite number of ``low`` to ``high``."""
        value = self._take(key, default)
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not math.isfinite(value) or not low <= value <= high:
            self.fault(key, value, f"give a number of {low:g} to {high:g}")
            return float(default)
        return float(value)

    def whole(self, key: str, *, default: int, low: int, high: int) -> int:
        """Take a whole number of ``low`` to ``high``; ``2048.0`` is one."""
        value = self.number(key, default=default, low=low, high=high)
        if not value.is_integer():
            self.fault(key, value, "give a whole number")
            return default
        return int(value)

    def text(self, key: str, *, default: str = "", choices: Sequence[str] = ()) -> str:
        """Take a text, one of the choices if there are any."""
        value = self._take(key, default)
        if not isinstance(value, str):
            self.fault(key, value, "give text")
        elif choices and value not in choices and value != default:
            self.fault(key, value, f"give one of {', '.join(choices)}")
        else:
            return value
        return default

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.fault(key, value, 'give a list of texts, such as ["shell", "awk"]')
            return ()
        return tuple(value)

    def anything(self, key: str, default: Any = None) -> Any:
        """Take whatever stands there."""
        return self._take(key, default)

    def rest(self) -> dict[str, Any]:
        """Return what was not taken, tables inside included."""
        left = {key: value for key, value in self._content.items() if key not in self._known}
        inner = {key: rest for key, keys in self._inner.items() if (rest := keys.rest())}
        return {**left, **inner}

    def misspelt(self) -> Iterator[str]:
        """Say which key that was not taken resembles one that could have been."""
        for key in self._content:
            if key not in self._known and (
                meant := get_close_matches(key, self._known - set(self._content), 1, _ALIKE)
            ):
                full = f"{self._path}{key}"
                yield f"{self._where}: {full} is unknown and ignored; did you mean {meant[0]}?"
        for inner in self._inner.values():
            yield from inner.misspelt()

    def fault(self, key: str, value: object, remedy: str) -> None:
        """Gather that a key's value is not what it should be."""
        told = repr(value)
        if len(told) > _LONGEST_SHOWN:
            told = told[:_LONGEST_SHOWN] + "…"
        self._faults.append(Fault(self._where, f"{self._path}{key} is {told}", remedy))

    def _take(self, key: str, default: Any) -> Any:
        self._known.add(key)
        return self._content.get(key, default)
