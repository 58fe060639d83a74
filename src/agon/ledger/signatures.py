"""Ed25519 signatures (RFC 8032) over the canonical JSON of plain values."""

import re
from collections.abc import Mapping
from typing import Any, Final

from agon.errors import Unavailable
from agon.kernel.fingerprints import canonical_json

KEY_BYTES: Final = 32
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


def public_key(key: bytes) -> bytes:
    """Return the public key (32 bytes) of a private one.

    Example:
        >>> public_key(bytes(32)).hex()[:16]
        '3b6a27bcceb6a42d'
    """
    public: bytes = _private(key).public_key().public_bytes_raw()
    return public


def sign(key: bytes, value: Mapping[str, Any]) -> str:
    """Return the signature of a value: 128 hex digits, equal for equal values."""
    signature: bytes = _private(key).sign(canonical_json(dict(value)))
    return signature.hex()


def verify(public: bytes, value: Mapping[str, Any], signature: str) -> bool:
    """Return whether a signature of a value is valid for a public key.

    Example:
        >>> key = bytes(32)
        >>> signature = sign(key, {"seq": 1})
        >>> verify(public_key(key), {"seq": 1}, signature)
        True
        >>> verify(public_key(key), {"seq": 2}, signature)
        False
    """
    if len(public) != KEY_BYTES or _SIGNATURE.fullmatch(signature) is None:
        return False
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        signer = ed25519.Ed25519PublicKey.from_public_bytes(public)
        signer.verify(bytes.fromhex(signature), canonical_json(dict(value)))
    except (InvalidSignature, ValueError, RecursionError):  # no such key; NaN in it, too deep
        return False
    return True


def _private(key: bytes) -> Any:
    return _ed25519().Ed25519PrivateKey.from_private_bytes(key)


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise Unavailable(
            "signatures need the package cryptography; pip install 'agon-engine[serve]'"
        ) from None
    return ed25519
