"""Manifests: what a published board is and was computed from, as one signed value."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from agon.kernel.boards import UnscoredRow
from agon.kernel.fingerprints import canonical_json
from agon.ledger import signatures
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import (
    A_CONTEST,
    A_COUNT,
    A_NAME,
    A_SHA256,
    AN_INSTANT,
    BodyField,
    field_issues,
    is_contest,
    is_count,
    is_name,
    is_sha256,
    is_timestamp,
    preview,
)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The manifest of a snapshot.

    Attributes:
        edition, overrides: the rules, and ``rules_sha256`` their fingerprint.
        seq, head_sha256: the ledger's position it was made at, and the chain's hash there (hex).
        at: the ledger's time there.
        board_sha256: the board's own hash.
        merkle_root: the Merkle root of its lines (:func:`lines_of`).
        rows, unscored: the number of lines that are rows, and of the unscored ids after them.
    """

    contest: str
    discipline: str
    board: str
    edition: str
    overrides: Mapping[str, Any]
    rules_sha256: str
    seq: int
    head_sha256: str
    at: str
    board_sha256: str
    merkle_root: str
    rows: int
    unscored: int

    @property
    def size(self) -> int:
        """Return the number of lines in the Merkle tree."""
        return self.rows + self.unscored

    @property
    def canonical(self) -> bytes:
        """Return the bytes that are signed."""
        return canonical_json(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        value = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**value, "overrides": dict(self.overrides)}

    def sign(self, key: bytes) -> str:
        """Return the Ed25519 signature by a private key (128 hex digits)."""
        return signatures.sign(key, self.to_dict())

    def is_signed(self, signature: str, *, public: bytes) -> bool:
        """Return whether a signature is valid for a public key."""
        return signatures.verify(public, self.to_dict(), signature)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_FIELDS: Final = (
    BodyField("contest", is_contest, A_CONTEST),
    *(BodyField(name, is_name, A_NAME) for name in ("discipline", "board", "edition")),
    BodyField("overrides", _is_object, "an object"),
    *(
        BodyField(name, is_sha256, A_SHA256)
        for name in ("rules_sha256", "head_sha256", "board_sha256", "merkle_root")
    ),
    *(BodyField(name, is_count, A_COUNT) for name in ("seq", "rows", "unscored")),
    BodyField("at", is_timestamp, AN_INSTANT),
)


def manifest_of(value: Any) -> Manifest:
    """Return a manifest from a plain value.

    Raises:
        InvalidEntry: with every field that is missing, unknown or invalid.
    """
    if not isinstance(value, dict):
        raise InvalidEntry([LedgerIssue(f"the manifest is {preview(value)}", "give an object")])
    issues = field_issues(value, _FIELDS, subject="the manifest")
    if issues:
        raise InvalidEntry(issues)
    return Manifest(**value)


def lines_of(rows: Iterable[Mapping[str, Any]], unscored: Iterable[UnscoredRow]) -> Iterator[bytes]:
    """Yield the leaves of a board's Merkle tree: a line per row in order, one per unscored id.

    Example:
        >>> list(lines_of([{"rank": 1, "id": "a", "score": 2.0}], [UnscoredRow("b", "no votes")]))
        [b'{"id":"a","rank":1,"score":2.0}', b'{"id":"b","reason":"no votes"}']
    """
    for row in rows:
        yield canonical_json(row)
    for item in unscored:
        yield canonical_json(item.to_dict())
