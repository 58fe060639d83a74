"""State how far a ledger had come, over a signature: who kept a head can tell a changed ledger."""

from dataclasses import asdict, dataclass
from typing import Any

from agon.kernel.fingerprints import canonical_json
from agon.ledger import signatures


@dataclass(frozen=True, kw_only=True)
class Head:
    """Hold what is signed: the chain's hash after an entry.

    Attributes:
        head_sha256: the hash, hex.
        at: when it was stated, as :func:`agon.ledger.entry.timestamp` writes it.
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
    """Hold a head with its Ed25519 signature (128 hex digits)."""

    head: Head
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {**self.head.to_dict(), "signature": self.signature}

    @property
    def line(self) -> bytes:
        """Return it as a line of ``heads.ndjson``, without the line end."""
        return canonical_json(self.to_dict())

    def is_of(self, public: bytes) -> bool:
        """Say whether the owner of a public key signed it."""
        return signatures.verify(public, self.head.to_dict(), self.signature)


def sign_head(key: bytes, *, contest: str, seq: int, head: bytes, at: str) -> SignedHead:
    """Sign the chain's hash (32 bytes) after entry ``seq``."""
    stated = Head(contest=contest, seq=seq, head_sha256=head.hex(), at=at)
    return SignedHead(stated, signatures.sign(key, stated.to_dict()))
