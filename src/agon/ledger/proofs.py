"""Prove one line of a published board to anybody: a file with all it takes, and its check."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agon.errors import NotFound
from agon.kernel.fingerprints import canonical_json
from agon.ledger import merkle
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import A_COUNT, Field, is_count, is_sha256, misfits, shown
from agon.ledger.manifest import Manifest, manifest_of
from agon.ledger.rules_check import check_rules

LARGEST_PROOF: Final = 32 * 1024 * 1024
"""No proof file is longer, in bytes: a line, a manifest, at most 64 hashes."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Hold what proves a line.

    Attributes:
        manifest: the snapshot's, with its ``signature`` by ``public_key`` (32 bytes).
        index: the line's place among the board's lines, from 0: rows first, then unscored ids.
        line: the canonical JSON of the row, or of ``{"id", "reason"}``.
        path: the hashes beside its way to the root, the lowest first.
    """

    manifest: Manifest
    signature: str
    public_key: bytes
    index: int
    line: bytes
    path: Sequence[bytes]

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "manifest": self.manifest.to_dict(),
            "signature": self.signature,
            "public_key": self.public_key.hex(),
            "index": self.index,
            "line": self.line.decode(),
            "path": [beside.hex() for beside in self.path],
        }

    def to_bytes(self) -> bytes:
        """Return the proof file."""
        return canonical_json(self.to_dict()) + b"\n"


@dataclass(frozen=True, kw_only=True)
class VerifiedProof:
    """Hold what a proof file says, and everything wrong with it; none when it proves the line."""

    proof: Proof | None
    issues: tuple[LedgerIssue, ...]


def verify_proof(written: bytes, *, public: bytes | None = None) -> VerifiedProof:
    """Verify a proof file: signature over the manifest, line under its Merkle root, and rules.

    The ``rules_sha256`` of the manifest is compared with that of its edition, if this agon has it.

    Args:
        written: the file's bytes.
        public: the public key it has to be signed by. Without it the key in the file is taken,
            which proves no more than that the file fits together.
    """
    try:
        proof = _proof_of(written)
    except InvalidEntry as error:
        return VerifiedProof(proof=None, issues=error.issues)
    manifest = proof.manifest
    issues = []
    if public is not None and proof.public_key != public:
        what = f"public_key is {proof.public_key.hex()}, expected is {public.hex()}"
        issues.append(LedgerIssue(what, "take the proof from the contest's owner"))
    if not manifest.is_signed(proof.signature, public=proof.public_key):
        what = "the signature is not that of public_key over the manifest"
        issues.append(LedgerIssue(what, "take the proof as it was given"))
    if proof.index >= manifest.size:
        what = f"index is {proof.index}, the board has {manifest.size} lines"
        issues.append(LedgerIssue(what, "take the proof as it was given"))
    else:
        root = bytes.fromhex(manifest.merkle_root)
        if not merkle.verify(proof.line, proof.index, manifest.size, proof.path, root):
            what = f"the line is not number {proof.index} under the root {manifest.merkle_root}"
            issues.append(LedgerIssue(what, "take the line and its path as they were given"))
    if not issues:
        with suppress(NotFound):
            issue = check_rules(manifest.edition, manifest.overrides, manifest.rules_sha256)
            issues += [] if issue is None else [issue]
    return VerifiedProof(proof=proof, issues=tuple(issues))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_sha256, value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_FIELDS: Final = (
    Field("manifest", _is_object, "the snapshot's manifest"),
    Field("signature", _is_text, "128 small hex digits"),
    Field("public_key", is_sha256, "64 small hex digits"),
    Field("index", is_count, A_COUNT),
    Field("line", _is_text, "the line as text"),
    Field("path", _is_path, "a list of hashes, 64 small hex digits each"),
)


def _proof_of(written: bytes) -> Proof:
    """Read a proof file.

    Raises:
        InvalidEntry: with every field that is missing, unknown or does not fit.
    """
    if len(written) > LARGEST_PROOF:
        what = f"the proof is longer than {LARGEST_PROOF:,} bytes"
        raise InvalidEntry([LedgerIssue(what, "take the proof as it was given")])
    try:
        value = orjson.loads(written)
    except orjson.JSONDecodeError as error:
        what = f"the proof is no JSON in UTF-8 ({error})"
        raise InvalidEntry([LedgerIssue(what, "take the file as it was given")]) from None
    if not isinstance(value, dict):
        raise InvalidEntry([LedgerIssue(f"the proof is {shown(value)}", "give an object")])
    issues = misfits(value, _FIELDS, of="the proof")
    if issues:
        raise InvalidEntry(issues)
    return Proof(
        manifest=manifest_of(value["manifest"]),
        signature=value["signature"],
        public_key=bytes.fromhex(value["public_key"]),
        index=value["index"],
        line=value["line"].encode(),
        path=tuple(bytes.fromhex(beside) for beside in value["path"]),
    )
