"""Say what reads stored boards beside the sessions, for whoever serves many pages at a time."""

from collections.abc import Hashable
from typing import Protocol, TypeAlias

State: TypeAlias = Hashable
"""What a database held at a moment: as long as it is equal, nothing was stored in between."""


class Portions(Protocol):
    """Read rows of stored boards, and say with every answer which state of the database it is of.

    What is stored under a snapshot's number never changes, it only goes. So whoever knows from a
    session which snapshot is to be shown, and gets rows with the state that session began in,
    knows that the session would show the same now. All of it is asked from one event loop.
    """

    async def state(self) -> State:
        """Return the state of the database now.

        Raises:
            Unavailable: the database does not answer.
        """

    async def lines(self, no: int, *, start: int, count: int) -> tuple[State, list[bytes]]:
        """Return the JSON lines of the rows from place ``start`` (from 0) on, as far as stored.

        Raises:
            Unavailable: as for :meth:`state`.
        """

    async def place(self, no: int, name: str) -> tuple[State, int | None]:
        """Return the place of an id among the rows; None: it is not among them, or none is stored.

        Raises:
            Unavailable: as for :meth:`state`.
        """

    async def close(self) -> None:
        """Let go of the connection; a second call does nothing."""
