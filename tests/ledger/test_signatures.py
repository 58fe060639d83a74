"""Signatures: who signed what, and nothing else."""

import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import Unavailable
from agon.ledger import signatures
from agon.ledger.heads import sign_head
from sizes import size

KEY = bytes(range(32))


def test_the_signature_is_that_of_rfc_8032() -> None:
    """The second test vector gives the public key; other programs can check what we sign."""
    key = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    assert signatures.public_key(key) == public


def test_the_signature_of_another_key_fails() -> None:
    """Only the holder of the key signs."""
    signature = signatures.sign(KEY, {"a": 1})
    assert signatures.verify(signatures.public_key(KEY), {"a": 1}, signature)
    assert not signatures.verify(signatures.public_key(bytes(32)), {"a": 1}, signature)


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4)), st.data())
@settings(max_examples=size(60), deadline=None)
def test_any_other_value_or_signature_fails(value: dict[str, object], data: st.DataObject) -> None:
    """Order of keys does not matter; everything else does."""
    signature = signatures.sign(KEY, value)
    public = signatures.public_key(KEY)
    assert signatures.verify(public, dict(reversed(value.items())), signature)
    assert not signatures.verify(public, {**value, "more": None}, signature)
    at = data.draw(st.integers(0, 127))
    other = "0" if signature[at] != "0" else "1"
    assert not signatures.verify(public, value, signature[:at] + other + signature[at + 1 :])


@pytest.mark.parametrize("signature", ["", "0" * 128, "g" * 128, "A" * 128, "0" * 126, "é" * 128])
def test_what_is_no_signature_is_none(signature: str) -> None:
    """No traceback for bad input."""
    assert not signatures.verify(signatures.public_key(KEY), {}, signature)
    assert not signatures.verify(b"short", {}, signatures.sign(KEY, {}))
    assert not signatures.verify(b"\xff" * 32, {}, signatures.sign(KEY, {}))
    assert not signatures.verify(signatures.public_key(KEY), {"x": float("nan")}, signature)


def test_without_cryptography_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base install reads ledgers; only signatures need the extra."""
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(Unavailable, match=r"pip install 'agon-engine\[serve\]'"):
        signatures.sign(KEY, {})
    with pytest.raises(Unavailable, match=r"pip install 'agon-engine\[serve\]'"):
        signatures.verify(bytes(32), {}, "0" * 128)


def test_a_signed_head_says_contest_position_hash_and_time() -> None:
    """Moved to another contest, position or time it is worth nothing."""
    signed = sign_head(
        partial(signatures.sign, KEY),
        contest="spring",
        seq=5,
        head=bytes(32),
        at="2026-11-22T02:30:00.000000Z",
    )
    assert signed.to_dict() == {
        "contest": "spring", "seq": 5, "head_sha256": "0" * 64,
        "at": "2026-11-22T02:30:00.000000Z", "signature": signed.signature,
    }  # fmt: skip
    assert signed.is_of(signatures.public_key(KEY))
    assert not signed.is_of(signatures.public_key(bytes(32)))
    value = signed.head.to_dict()
    for name, other in [("contest", "autumn"), ("seq", 6), ("head_sha256", "1" * 64), ("at", "")]:
        spoiled = {**value, name: other}
        assert not signatures.verify(signatures.public_key(KEY), spoiled, signed.signature)
