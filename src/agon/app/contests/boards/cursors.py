"""Encode and decode cursors: where a page of a published board begins."""

import base64
import binascii
import re
from dataclasses import dataclass

from agon.errors import Unreadable

_FORM = re.compile(rb"b1\.([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,4})")


@dataclass(frozen=True)
class Cursor:
    """Where a page begins.

    A cursor is bound to a snapshot: all pages that follow a first one show the same state of the
    board, whatever is published meanwhile.

    Attributes:
        snapshot: number of the snapshot.
        start: index of the page's first row, from 0.
        count: maximum number of rows; 0: the requested number.

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

    def limit(self, requested: int) -> int:
        """Return the maximum number of rows of its page, or fewer if fewer are requested.

        Example:
            >>> Cursor(7, 100).limit(50), Cursor(7, 0, 20).limit(50)
            (50, 20)
        """
        return min(requested, self.count or requested)

    @classmethod
    def read(cls, text: str) -> "Cursor":
        """Read a cursor.

        Raises:
            Unreadable: it is not a cursor of a page.
        """
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            match = _FORM.fullmatch(base64.b64decode(padded, altchars=b"-_", validate=True))
        except (UnicodeEncodeError, binascii.Error):
            match = None
        if match is None:
            raise Unreadable("this is not a cursor; use next or previous of a page")
        return cls(*map(int, match.groups()))
