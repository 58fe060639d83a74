"""State who writes a table's records: senders, or a protocol of the service alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

FindRow: TypeAlias = Callable[[str, str], "Mapping[str, Any] | None"]
"""Returns the newest row of a table with an id; None if there is none."""


@dataclass(frozen=True, kw_only=True)
class LiveProtocol:
    """A part of the service that writes records of a contest by itself.

    Attributes:
        name: its name, in messages (``rounds``).
        begins: the kinds of ledger entries with which it begins; a contest that has one is live.
        operations: ids of the operations of the API through which it writes.
        instead: what senders of records do instead, in messages.
    """

    name: str
    begins: tuple[str, ...]
    operations: tuple[str, ...]
    instead: str


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Who writes a table's records.

    Attributes:
        protocol: what alone writes them in a live contest; None: organizers send them.
        column, value: the protocol owns only rows with this value in this column; None: all rows.
        also: ids of the operations of the API with which the service writes such records besides.
    """

    protocol: LiveProtocol | None = None
    column: str | None = None
    value: str | None = None
    also: tuple[str, ...] = ()

    def owns(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row is the protocol's.

        Example:
            >>> trials = LiveProtocol(
            ...     name="trials", begins=("submission-received",), operations=(), instead="…"
            ... )
            >>> own = Owner(protocol=trials, column="validator_id", value="v1")
            >>> own.owns({"validator_id": "v1"}), own.owns({"validator_id": "v2"}), SENT.owns({})
            (True, False, False)
        """
        if self.protocol is None:
            return False
        return self.column is None or str(row.get(self.column)) == self.value


SENT: Final = Owner()
"""Organizers send the records at any time."""


@dataclass(frozen=True, kw_only=True)
class Ballot:
    """The table in which judges cast votes of their own.

    Its time column (``Table.time``) is set by the service for a judge's vote.

    Attributes:
        table: the table.
        voter: the column with the id of the judge.
        obstacle: returns why a judge may not cast a vote, from its row, the judge's id and a
            function that looks up rows, for a message; None: they may.
    """

    table: str
    voter: str
    obstacle: Callable[[Mapping[str, Any], str, FindRow], str | None] | None = None
