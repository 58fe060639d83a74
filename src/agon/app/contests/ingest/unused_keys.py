"""Collect how the keys of a request's rows were read: other spellings, and keys not used."""

from collections.abc import Iterable
from typing import Final

from agon.records.names.matching import MatchedNames
from agon.records.names.unused import shown_name

_MAX_NAMED: Final = 12


class UnusedKeys:
    """Collects names of keys over the batches of a request."""

    def __init__(self) -> None:
        self._read: dict[str, None] = {}
        self._unused: dict[str, int] = {}

    def add(self, table: str, matched: MatchedNames, rows: int) -> None:
        """Add how the keys of some rows of a table were read."""
        for own, key in matched.respelled.items():
            self._read[f"{table}.{shown_name(key)} as {own}"] = None
        for key in matched.unused:
            name = f"{table}.{shown_name(key)}"
            self._unused[name] = self._unused.get(name, 0) + rows

    def add_table(self, own: str, name: str) -> None:
        """Add the name that a table was read from."""
        self._read[f"{shown_name(name)} as {own}"] = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about other spellings, and one about what is not used; none without any.

        Example:
            >>> keys = UnusedKeys()
            >>> keys.add("votes", MatchedNames({"match_id": "matchId"}, ("note",)), 2)
            >>> keys.notes
            ('read votes.matchId as match_id', 'not used: votes.note (2 rows)')
        """
        unused = (
            f"{name} ({rows:,} row{'s' if rows > 1 else ''})" for name, rows in self._unused.items()
        )
        notes = []
        if self._read:
            notes.append(f"read {_list_names(self._read)}")
        if self._unused:
            notes.append(f"not used: {_list_names(unused)}")
        return tuple(notes)


def _list_names(names: Iterable[str]) -> str:
    listed = list(names)
    rest = len(listed) - _MAX_NAMED
    return ", ".join(listed[:_MAX_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
