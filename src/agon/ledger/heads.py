"""Signed heads: the state of a ledger at a time, by which later changes are detected."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from agon.kernel.fingerprints import canonical_json
from agon.ledger import signatures


@dataclass(frozen=True, kw_only=True)
class Head:
    """The signed value: the chain's hash after an entry.

    Attributes:
        head_sha256: the hash, hex.
        at: the time of signing, in the form of :func:`agon.ledger.entry.timestamp`.
    """

    contest: str
    seq: int
    head_sha256: str
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SignedHead:
    """A head with its Ed25519 signature (128 hex digits)."""

    head: Head
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {**self.head.to_dict(), "signature": self.signature}

    @property
    def line(self) -> bytes:
        """Return the head as a line of ``heads.ndjson``, without the line end."""
        return canonical_json(self.to_dict())

    def is_of(self, public: bytes) -> bool:
        """Return whether the signature is valid for a public key."""
        return signatures.verify(public, self.head.to_dict(), self.signature)


def sign_head(
    sign: Callable[[dict[str, Any]], str], *, contest: str, seq: int, head: bytes, at: str
) -> SignedHead:
    """Return a signed head with the chain's hash (32 bytes) after entry ``seq``.

    Args:
        sign: returns the signature of a value, as a signer of the service does.
        contest: the contest.
        seq: the entry's position.
        head: the hash.
        at: the time of signing, as in :class:`Head`.
    """
    value = Head(contest=contest, seq=seq, head_sha256=head.hex(), at=at)
    return SignedHead(value, sign(value.to_dict()))
