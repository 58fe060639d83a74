"""Encrypt webhook secrets: a stolen database alone cannot sign messages."""

import hashlib
import hmac
from typing import Final

from agon.errors import Unreadable

NONCE_BYTES: Final = 12
_PURPOSE = b"agon webhook secrets 1"


def encrypt(secret: bytes, *, server_key: bytes, webhook_id: str, nonce: bytes) -> bytes:
    """Encrypt a webhook's secret: the nonce, then AES-256-GCM with a key derived from the server's.

    Args:
        secret: the secret.
        server_key: the server's key.
        webhook_id: its webhook; with another id it cannot be decrypted.
        nonce: 12 fresh random bytes.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return nonce + AESGCM(_key(server_key)).encrypt(nonce, secret, webhook_id.encode())


def decrypt(encrypted: bytes, *, server_key: bytes, webhook_id: str) -> bytes:
    """Decrypt a webhook's secret.

    Raises:
        Unreadable: it was changed, or encrypted for another webhook or with another key.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, rest = encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:]
    try:
        return AESGCM(_key(server_key)).decrypt(nonce, rest, webhook_id.encode())
    except (InvalidTag, ValueError):
        raise Unreadable(
            f"the secret of webhook {webhook_id} cannot be decrypted with this server key; "
            "restore the key file it was created with, or create the webhook again"
        ) from None


def _key(server_key: bytes) -> bytes:
    return hmac.new(server_key, _PURPOSE, hashlib.sha256).digest()
