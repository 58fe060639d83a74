"""Write a place on a published board as text that pages can be asked for with, and read it."""

import base64
import binascii
import re
from dataclasses import dataclass

from agon.errors import Unreadable

_FORM = re.compile(rb"b1\.([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,4})")


@dataclass(frozen=True)
class Cursor:
    """Hold where a page begins.

    A cursor stays with the snapshot it was given for: who pages through a board sees one state of
    it, whatever is published meanwhile.

    Attributes:
        snapshot: number of the snapshot.
        start: place of the page's first row, from 0.
        count: how many rows at most; 0: as many as are asked for.

    Example:
        >>> Cursor.read(str(Cursor(7, 100)))
        Cursor(snapshot=7, start=100, count=0)
    """

    snapshot: int
    start: int
    count: int = 0

    def __str__(self) -> str:
        text = f"b1.{self.snapshot}.{self.start}.{self.count}".encode()
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    def limit(self, asked: int) -> int:
        """Return how many rows its page has, where so many are asked for.

        Example:
            >>> Cursor(7, 100).limit(50), Cursor(7, 0, 20).limit(50)
            (50, 20)
        """
        return min(asked, self.count or asked)

    @classmethod
    def read(cls, text: str) -> "Cursor":
        """Read a cursor.

        Raises:
            Unreadable: it is none that a page gave.
        """
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            found = _FORM.fullmatch(base64.b64decode(padded, altchars=b"-_", validate=True))
        except (UnicodeEncodeError, binascii.Error):
            found = None
        if found is None:
            raise Unreadable("this is no cursor; take one that a page gave as next or previous")
        return cls(*map(int, found.groups()))
