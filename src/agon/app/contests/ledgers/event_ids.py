"""Encrypt the numbers of events, so that ids reveal no counts.

Events are numbered over all contests and include staff events. Plain numbers would reveal how many
events occurred between two public ones, in the same contest and in others.
"""

import hashlib
from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from agon.app.service import SigningKey
from agon.errors import Unreadable

FIRST: Final = "0"
"""The position before the first event."""

_HALF: Final = 8


class EventIds:
    """Converts numbers of events to ids of one contest and back, equally in every process.

    An id is one AES block of the contest's hash and the number, under a key of the service.

    Args:
        signer: the signing key of the service.

    Example:
        >>> from agon.app.service import SigningKey
        >>> ids = EventIds(SigningKey(bytes(32)))
        >>> ids.number("spring", ids.text("spring", 7))
        7
    """

    def __init__(self, signer: SigningKey) -> None:
        self._signer = signer

    def text(self, contest: str, number: int) -> str:
        """Return an event's id: 32 hex digits."""
        block = _mark(contest) + number.to_bytes(_HALF)
        encryptor = self._cipher.encryptor()
        return (encryptor.update(block) + encryptor.finalize()).hex()

    def number(self, contest: str, text: str) -> int:
        """Return the number of an id, 0 for :data:`FIRST`.

        Raises:
            Unreadable: it is not the id of an event of this contest.
        """
        if text == FIRST:
            return 0
        decryptor = self._cipher.decryptor()
        block = decryptor.update(bytes.fromhex(text)) + decryptor.finalize()
        if block[:_HALF] != _mark(contest):
            raise Unreadable(
                "this is not the id of an event of this contest; give the last one received, or 0"
            )
        return int.from_bytes(block[_HALF:])

    @cached_property
    def _cipher(self) -> Cipher[modes.ECB]:
        # The signature of a value that is signed nowhere else is a secret of all processes.
        secret = bytes.fromhex(self._signer.sign({"agon": "event ids"}))
        key = hashlib.sha256(secret).digest()
        # A single block is encrypted, and equal events have equal ids on purpose.
        return Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 (see the comment above)


def _mark(contest: str) -> bytes:
    return hashlib.sha256(contest.encode()).digest()[:_HALF]
