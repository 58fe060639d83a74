"""Keep webhook secrets encrypted: a stolen database alone signs nothing."""

import hashlib
import hmac
from typing import Final

from agon.errors import Unreadable

NONCE_BYTES: Final = 12
_PURPOSE = b"agon webhook secrets 1"


def seal(secret: bytes, *, server_key: bytes, webhook_id: str, nonce: bytes) -> bytes:
    """Encrypt a webhook's secret: nonce, then AES-256-GCM under a key made from the server's.

    Args:
        secret: what to encrypt.
        server_key: the server's key.
        webhook_id: whose it is; under another id it cannot be opened.
        nonce: 12 fresh random bytes.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return nonce + AESGCM(_key(server_key)).encrypt(nonce, secret, webhook_id.encode())


def unseal(sealed: bytes, *, server_key: bytes, webhook_id: str) -> bytes:
    """Decrypt a webhook's secret.

    Raises:
        Unreadable: it was changed, or sealed for another webhook or under another key.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    try:
        return AESGCM(_key(server_key)).decrypt(nonce, rest, webhook_id.encode())
    except (InvalidTag, ValueError):
        raise Unreadable(
            f"the secret of webhook {webhook_id} cannot be opened with this server key; bring "
            "back the key file of the time it was made, or make the webhook anew"
        ) from None


def _key(server_key: bytes) -> bytes:
    return hmac.new(server_key, _PURPOSE, hashlib.sha256).digest()
