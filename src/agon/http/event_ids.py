"""Write the numbers of events so that nobody can count by them.

Events are numbered over all contests, the staff's among them. The plain numbers would tell anybody
how much happened between two public events, and of one contest how much is hidden in another.
"""

import hashlib
from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from agon.app.service import SigningKey
from agon.errors import Unreadable

FIRST: Final = "0"
"""Stands for the place before the first event."""

PATTERN: Final = r"^(0|[0-9a-f]{32})$"
_HALF: Final = 8


class EventIds:
    """Turn an event's number into an id of one contest and back, the same in every process.

    One AES block holds the hash of the contest and the number; its key is the service's own.

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
        """Return the number behind an id, 0 for :data:`FIRST`.

        Raises:
            Unreadable: it is of no event of this contest.
        """
        if text == FIRST:
            return 0
        decryptor = self._cipher.decryptor()
        block = decryptor.update(bytes.fromhex(text)) + decryptor.finalize()
        if block[:_HALF] != _mark(contest):
            raise Unreadable("this id is of no event here; give the last one you have, or 0")
        return int.from_bytes(block[_HALF:])

    @cached_property
    def _cipher(self) -> Cipher[modes.ECB]:
        # A signature of what is never signed elsewhere is a secret that all processes share.
        secret = bytes.fromhex(self._signer.sign({"agon": "event ids"}))
        key = hashlib.sha256(secret).digest()
        # One block holds all, and equal events have equal ids on purpose.
        return Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 (as said above)


def _mark(contest: str) -> bytes:
    return hashlib.sha256(contest.encode()).digest()[:_HALF]
