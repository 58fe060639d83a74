"""Store what entries refer to by hash, such as exact requests and responses."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import select

from agon.errors import NotFound, Unreadable
from agon.ledger.attachments import MAX_ATTACHMENT_BYTES
from agon.store.connection.transaction import Transaction
from agon.store.schema import ATTACHMENTS

_PAGE: Final = 100


class Attachments:
    """Contents by their SHA-256, in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, contest_no: int, content: bytes) -> str:
        """Store a content, once, and return its SHA-256 in hexadecimal digits.

        Raises:
            Unreadable: it is too long.
        """
        if len(content) > MAX_ATTACHMENT_BYTES:
            raise Unreadable(
                f"an attachment has {len(content):,} bytes; give at most {MAX_ATTACHMENT_BYTES:,}"
            )
        digest = sha256(content).hexdigest()
        adding = self._transaction.insert(ATTACHMENTS).values(
            contest_no=contest_no, sha256=digest, content=content
        )
        self._transaction.change(
            adding.on_conflict_do_nothing(index_elements=["contest_no", "sha256"])
        )
        return digest

    def get(self, contest_no: int, digest: str) -> bytes:
        """Return a content.

        Raises:
            NotFound: the contest has no such attachment.
        """
        content: bytes | None = self._transaction.scalar(
            select(ATTACHMENTS.c.content).where(
                ATTACHMENTS.c.contest_no == contest_no, ATTACHMENTS.c.sha256 == digest
            )
        )
        if content is None:
            raise NotFound(f"the contest has no attachment {digest}; copy the hash from its entry")
        return content

    def all(self, contest_no: int) -> Iterator[tuple[str, bytes]]:
        """Yield hash and content of all attachments of a contest, sorted by hash."""
        last = ""
        while page := self._page(contest_no, last):
            yield from page
            last = page[-1][0]

    def _page(self, contest_no: int, after: str) -> list[tuple[str, bytes]]:
        listing = (
            select(ATTACHMENTS.c.sha256, ATTACHMENTS.c.content)
            .where(ATTACHMENTS.c.contest_no == contest_no, ATTACHMENTS.c.sha256 > after)
            .order_by(ATTACHMENTS.c.sha256)
            .limit(_PAGE)
        )
        return [(row.sha256, _bytes(row.content)) for row in self._transaction.all(listing)]


def _bytes(content: Any) -> bytes:
    """Return a stored content; a changed file of SQLite may have text instead."""
    return content if isinstance(content, bytes) else str(content).encode()
