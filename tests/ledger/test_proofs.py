"""Proofs of single rows: valid as issued, invalid when any byte is altered."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from agon.editions import edition
from agon.kernel.boards import Board, UnscoredRow
from agon.ledger import signatures
from agon.ledger.issues import InvalidEntry
from agon.ledger.manifest import Manifest, lines_of, manifest_of
from agon.ledger.merkle import Tree
from agon.ledger.proofs import MAX_PROOF_BYTES, Proof, verify_proof

KEY = bytes(range(32))
ROWS = [{"rank": at, "id": f"b{at}", "score": 9.0 - at} for at in range(1, 6)]
BOARD = Board("bots", pa.Table.from_pylist(ROWS), (UnscoredRow("x", "no matches"),))
LINES = list(lines_of(BOARD.rows(), BOARD.unscored))
MANIFEST = Manifest(
    contest="spring",
    discipline="arena",
    board="bots",
    edition="arena/sentience-1",
    overrides={},
    rules_sha256=edition("arena/sentience-1").rules_sha256,
    seq=12,
    head_sha256="1" * 64,
    at="2026-11-22T02:30:00.000000Z",
    board_sha256=BOARD.sha256,
    merkle_root=Tree(LINES).root.hex(),
    rows=5,
    unscored=1,
)


def proof_of(index: int, manifest: Manifest = MANIFEST) -> Proof:
    """Prove a line of the board."""
    return Proof(
        manifest=manifest,
        signature=manifest.sign(KEY),
        public_key=signatures.public_key(KEY),
        index=index,
        line=LINES[index],
        path=tuple(Tree(LINES).proof(index)),
    )


@pytest.mark.parametrize("index", range(6))
def test_every_row_and_unscored_id_is_proved(index: int) -> None:
    """A reader checks their own row without trusting the server."""
    verified = verify_proof(proof_of(index).to_bytes(), public=signatures.public_key(KEY))
    assert verified.issues == ()
    assert verified.proof == proof_of(index)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules_sha256": "0" * 64}, "expected rules_sha256 0000"),
        ({"overrides": {"k_new": 31}}, "k_new was 32.0 and is 31.0; restore"),
        ({"overrides": {"no_rule": 1}}, "unknown rule 'no_rule'"),
        ({"edition": "arena/sentience-99"}, None),  # an agon without the edition cannot compare
    ],
)
def test_the_rules_of_the_board_are_those_of_its_edition(
    changes: dict[str, Any], message: str | None
) -> None:
    """A board is what its edition says only under the rules that were recorded."""
    proof = proof_of(0, replace(MANIFEST, **changes))
    issues = verify_proof(proof.to_bytes(), public=signatures.public_key(KEY)).issues
    assert [message in str(issue) for issue in issues if message] == ([True] if message else [])
    assert len(issues) == (message is not None)


def test_the_manifest_signs_what_made_the_board() -> None:
    """Its canonical bytes are the contract."""
    signature = MANIFEST.sign(KEY)
    assert MANIFEST.is_signed(signature, public=signatures.public_key(KEY))
    assert not replace(MANIFEST, seq=13).is_signed(signature, public=signatures.public_key(KEY))
    assert json.loads(MANIFEST.canonical) == MANIFEST.to_dict()
    assert manifest_of(MANIFEST.to_dict()) == MANIFEST
    assert MANIFEST.size == 6


def test_all_faults_of_a_manifest_are_named() -> None:
    """Everything at once."""
    value = {**MANIFEST.to_dict(), "seq": -1, "at": "now", "more": 1}
    del value["board"]
    with pytest.raises(InvalidEntry) as caught:
        manifest_of(value)
    assert sorted(issue.what for issue in caught.value.issues) == [
        "at of the manifest is 'now'", "seq of the manifest is -1",
        "the manifest has no field 'more'", "the manifest lacks board",
    ]  # fmt: skip


def _with(**changed: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda value: {**value, **changed}


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (_with(index=1), "the line is not number 1 under the root"),
        (_with(index=6), "index is 6, the board has 6 lines"),
        (_with(index=-1), "index of the proof is -1"),
        (_with(line='{"id":"b1","rank":1,"score":9.0}'), "the line is not number 0"),
        (_with(path=[]), "the line is not number 0"),
        (_with(path=["x"]), "path of the proof is"),
        (_with(signature="0" * 128), "the signature is not that of public_key"),
        (_with(signature=7), "signature of the proof is 7"),
        (_with(public_key="0" * 64), "expected public_key "),
        (_with(manifest={**MANIFEST.to_dict(), "rows": 6}), "the signature is not that"),
        (_with(manifest={**MANIFEST.to_dict(), "rows": "x"}), "rows of the manifest is 'x'"),
        (_with(manifest=None), "manifest of the proof is None"),
        (_with(more=1), "the proof has no field 'more'"),
    ],
)
def test_an_altered_proof_names_its_fault(
    spoil: Callable[[dict[str, Any]], dict[str, Any]], what: str
) -> None:
    """Verified, or why not."""
    written = json.dumps(spoil(proof_of(0).to_dict())).encode()
    verified = verify_proof(written, public=signatures.public_key(KEY))
    assert any(issue.what.startswith(what) for issue in verified.issues), verified.issues


def test_somebody_elses_signature_is_distinguished() -> None:
    """A key in the file itself says nothing about whose it is."""
    forged = replace(proof_of(0), public_key=signatures.public_key(bytes(32)),
                     signature=MANIFEST.sign(bytes(32)))  # fmt: skip
    assert verify_proof(forged.to_bytes()).issues == ()
    issues = verify_proof(forged.to_bytes(), public=signatures.public_key(KEY)).issues
    assert [issue.remedy for issue in issues] == ["get the proof from the contest's owner"]


@pytest.mark.parametrize(
    "written",
    [b"", b"[]", b"\xff", b"{}", b"[" * 2000, b"x" * (MAX_PROOF_BYTES + 1)],
    ids=["empty", "list", "no text", "no fields", "deep", "long"],
)
def test_what_is_no_proof_is_refused(written: bytes) -> None:
    """No traceback for bad input."""
    verified = verify_proof(written)
    assert verified.proof is None
    assert verified.issues


def test_a_manifest_nested_too_deep_is_refused() -> None:
    """The issue is named before the interpreter's stack ends."""
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    written = proof_of(0).to_bytes().replace(b'"overrides":{}', b'"overrides":' + deep)
    issues = verify_proof(written).issues
    assert [issue.what for issue in issues] == [
        "the proof nests more than 100 levels of lists and objects"
    ]


def test_whatever_byte_is_altered_the_values_are_others_or_the_proof_fails() -> None:
    """Only blanks between values may change: a line end into a carriage return, say."""
    written = proof_of(0).to_bytes()
    blanks = 0
    for index in range(len(written)):
        for altered in {written[index] ^ 1, written[index] ^ 32, ord("\r")} - {written[index]}:
            changed = written[:index] + bytes([altered]) + written[index + 1 :]
            if not verify_proof(changed, public=signatures.public_key(KEY)).issues:
                assert json.loads(changed) == json.loads(written)
                blanks += 1
    assert blanks == 1
    twice = written.replace(b'{"index":', b'{"index":7,"index":', 1)
    assert "twice" in str(verify_proof(twice).issues[0])
