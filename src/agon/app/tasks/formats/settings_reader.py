"""Read a settings file key by key; collect errors, return the keys that were not read."""

import math
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from agon.app.files import FileIssue

DAY_S = 86_400
"""The longest time of a settings file, in seconds."""
_SIMILARITY = 0.75  # above it an unknown key is taken for a misspelled known one
_MAX_SHOWN_CHARACTERS = 60


class SettingsReader:
    """A table of a settings file while it is read.

    Each method reads one key: it returns the value, or the default when the key is missing or its
    value is invalid (which is collected as an error). :meth:`rest` returns the keys not read.
    """

    def __init__(
        self, content: Mapping[str, Any], *, where: str, issues: list[FileIssue], path: str = ""
    ) -> None:
        self._content = content
        self._where = where
        self._issues = issues
        self._path = path
        self._known: set[str] = set()
        self._inner: dict[str, SettingsReader] = {}

    def __contains__(self, key: str) -> bool:
        """Return whether the key exists."""
        return key in self._content

    def table(self, key: str) -> "SettingsReader":
        """Return the reader of a nested table; of an empty one when it is missing."""
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.add_issue(key, value, f"write a table [{self._path}{key}]")
            value = {}
        inner = SettingsReader(
            value, where=self._where, issues=self._issues, path=f"{self._path}{key}."
        )
        self._inner[key] = inner
        return inner

    def number(self, key: str, *, default: float, low: float, high: float) -> float:
        """Return a finite number from ``low`` to ``high``."""
        value = self._take(key, default)
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not math.isfinite(value) or not low <= value <= high:
            self.add_issue(key, value, f"give a number from {low:g} to {high:g}")
            return float(default)
        return float(value)

    def integer(self, key: str, *, default: int, low: int, high: int) -> int:
        """Return a number that must be whole, as ``2048.0`` is; another is an issue."""
        value = self.number(key, default=default, low=low, high=high)
        if not value.is_integer():
            self.add_issue(key, value, "give a whole number")
            return default
        return int(value)

    def text(self, key: str, *, default: str = "", choices: Sequence[str] = ()) -> str:
        """Return a text, one of the choices if there are any."""
        value = self._take(key, default)
        if not isinstance(value, str):
            self.add_issue(key, value, "give text")
        elif choices and value not in choices and value != default:
            self.add_issue(key, value, f"give one of {', '.join(choices)}")
        else:
            return value
        return default

    def flag(self, key: str) -> bool | None:
        """Return true or false; None when the key is missing."""
        value = self._take(key, None)
        if value is None or isinstance(value, bool):
            return value
        self.add_issue(key, value, "give true or false")
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.add_issue(key, value, 'give a list of texts, such as ["shell", "awk"]')
            return ()
        return tuple(value)

    def anything(self, key: str, default: Any = None) -> Any:
        """Return the value, of whatever type."""
        return self._take(key, default)

    def rest(self) -> dict[str, Any]:
        """Return the keys that were not read, with those of nested tables."""
        left = {key: value for key, value in self._content.items() if key not in self._known}
        inner = {key: rest for key, keys in self._inner.items() if (rest := keys.rest())}
        return {**left, **inner}

    def misspelled_keys(self) -> Iterator[str]:
        """Yield a message for each unread key that resembles a known one."""
        for key in self._content:
            if key not in self._known and (
                meant := get_close_matches(key, self._known - set(self._content), 1, _SIMILARITY)
            ):
                full = f"{self._path}{key}"
                yield f"{self._where}: {full} is unknown and ignored; did you mean {meant[0]}?"
        for inner in self._inner.values():
            yield from inner.misspelled_keys()

    def note(self, key: str, what: str) -> str:
        """Return a message about a key that is no error."""
        return f"{self._where}: {self._path}{key} {what}"

    def add_issue(self, key: str, value: object, remedy: str) -> None:
        """Collect an error about a key's value."""
        text = repr(value)
        if len(text) > _MAX_SHOWN_CHARACTERS:
            text = text[:_MAX_SHOWN_CHARACTERS] + "…"
        self._issues.append(FileIssue(self._where, f"{self._path}{key} is {text}", remedy))

    def _take(self, key: str, default: Any) -> Any:
        self._known.add(key)
        return self._content.get(key, default)
