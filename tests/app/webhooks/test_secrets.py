"""Test stored secrets: encrypted for the server's key and their webhook."""

import pytest

from agon.app.webhooks.secrets import decrypt, encrypt
from agon.errors import Unreadable

KEY, SECRET, NONCE = b"k" * 32, b"s" * 32, b"n" * 12
SEALED = encrypt(SECRET, server_key=KEY, webhook_id="w1", nonce=NONCE)


def test_an_encrypted_secret_can_be_decrypted_and_not_be_read() -> None:
    """The database has only the encrypted form."""
    assert decrypt(SEALED, server_key=KEY, webhook_id="w1") == SECRET
    assert SECRET not in SEALED


@pytest.mark.parametrize(
    ("encrypted", "key", "webhook"),
    [
        (SEALED, b"x" * 32, "w1"),
        (SEALED, KEY, "w2"),
        (SEALED[:-1] + bytes([SEALED[-1] ^ 1]), KEY, "w1"),
        (SEALED[:20], KEY, "w1"),
        (b"", KEY, "w1"),
    ],
)
def test_another_key_or_webhook_or_a_changed_byte_is_rejected(
    encrypted: bytes, key: bytes, webhook: str
) -> None:
    """A secret moved to another row of the database cannot be decrypted."""
    with pytest.raises(Unreadable, match="restore the key file"):
        decrypt(encrypted, server_key=key, webhook_id=webhook)
