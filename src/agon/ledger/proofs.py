"""Proofs of single lines of published boards, and their verification."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from agon.errors import NotFound
from agon.kernel.fingerprints import canonical_json
from agon.kernel.text.plain_json import InvalidJson, read_json
from agon.ledger import merkle
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import A_COUNT, BodyField, field_issues, is_count, is_sha256, preview
from agon.ledger.manifest import Manifest, manifest_of
from agon.ledger.rules_comparison import check_rules

MAX_PROOF_BYTES: Final = 32 * 1024 * 1024
"""Maximum length of a proof file: a line, a manifest, at most 64 hashes."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A proof of one line.

    Attributes:
        manifest: the snapshot's, with its ``signature`` by ``public_key`` (32 bytes).
        index: the line's index among the board's lines, from 0: rows first, then unscored ids.
        line: the canonical JSON of the row, or of ``{"id", "reason"}``.
        path: the sibling hashes on the path to the root, the lowest first.
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
            "path": [sibling.hex() for sibling in self.path],
        }

    def to_bytes(self) -> bytes:
        """Return the proof file."""
        return canonical_json(self.to_dict()) + b"\n"


@dataclass(frozen=True, kw_only=True)
class ProofVerification:
    """The result of verifying a proof file; without issues the line is proved."""

    proof: Proof | None
    issues: tuple[LedgerIssue, ...]


def verify_proof(written: bytes, *, public: bytes | None = None) -> ProofVerification:
    """Verify a proof file: signature over the manifest, line under its Merkle root, and rules.

    The ``rules_sha256`` of the manifest is compared with that of its edition, if this agon has it.
    A proof covers the file's values; blanks and line ends between them have no meaning.

    Args:
        written: the file's bytes.
        public: the public key that must have signed it. Without it the key in the file is used,
            which proves only that the file is consistent.
    """
    try:
        proof = _proof_of(written)
    except InvalidEntry as error:
        return ProofVerification(proof=None, issues=error.issues)
    manifest = proof.manifest
    issues = []
    if public is not None and proof.public_key != public:
        fact = f"expected public_key {public.hex()}, got {proof.public_key.hex()}"
        issues.append(LedgerIssue(fact, "get the proof from the contest's owner"))
    if not manifest.is_signed(proof.signature, public=proof.public_key):
        fact = "the signature is not that of public_key over the manifest"
        issues.append(LedgerIssue(fact, "use the proof as it was issued"))
    if proof.index >= manifest.size:
        fact = f"index is {proof.index}, the board has {manifest.size} lines"
        issues.append(LedgerIssue(fact, "use the proof as it was issued"))
    else:
        root = bytes.fromhex(manifest.merkle_root)
        if not merkle.verify(proof.line, proof.index, manifest.size, proof.path, root):
            fact = f"the line is not number {proof.index} under the root {manifest.merkle_root}"
            issues.append(LedgerIssue(fact, "use the line and its path as they were issued"))
    if not issues:
        with suppress(NotFound):
            issue = check_rules(manifest.edition, manifest.overrides, manifest.rules_sha256)
            issues += [] if issue is None else [issue]
    return ProofVerification(proof=proof, issues=tuple(issues))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_sha256, value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_FIELDS: Final = (
    BodyField("manifest", _is_object, "the snapshot's manifest"),
    BodyField("signature", _is_text, "128 lowercase hex digits"),
    BodyField("public_key", is_sha256, "64 lowercase hex digits"),
    BodyField("index", is_count, A_COUNT),
    BodyField("line", _is_text, "the line as text"),
    BodyField("path", _is_path, "a list of hashes, 64 lowercase hex digits each"),
)


def _proof_of(written: bytes) -> Proof:
    """Return the proof in a file.

    Raises:
        InvalidEntry: with every field that is missing, unknown or invalid.
    """
    if len(written) > MAX_PROOF_BYTES:
        fact = f"the proof is longer than {MAX_PROOF_BYTES:,} bytes"
        raise InvalidEntry([LedgerIssue(fact, "use the proof as it was issued")])
    try:
        value = read_json(written)
    except InvalidJson as error:
        fact = f"the proof {error.fact}"
        raise InvalidEntry([LedgerIssue(fact, "use the file as it was issued")]) from None
    if not isinstance(value, dict):
        raise InvalidEntry([LedgerIssue(f"the proof is {preview(value)}", "give an object")])
    issues = field_issues(value, _FIELDS, subject="the proof")
    if issues:
        raise InvalidEntry(issues)
    return Proof(
        manifest=manifest_of(value["manifest"]),
        signature=value["signature"],
        public_key=bytes.fromhex(value["public_key"]),
        index=value["index"],
        line=value["line"].encode(),
        path=tuple(bytes.fromhex(sibling) for sibling in value["path"]),
    )
