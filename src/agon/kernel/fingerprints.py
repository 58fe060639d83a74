"""Hash plain values: equal content has the same SHA-256 on every machine."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Write a plain value as UTF-8 JSON with sorted keys, no blanks and no NaN.

    Example:
        >>> canonical_json({"b": 1.0, "a": None})
        b'{"a":null,"b":1.0}'
    """
    text = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=str,
    )
    return text.encode()


def sha256(value: Any) -> str:
    """Hash a plain value: SHA-256 (hex) of its :func:`canonical_json`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha256_lines(values: Iterable[Any]) -> str:
    """Hash a sequence: SHA-256 (hex) of one canonical JSON line per value, in order."""
    digest = hashlib.sha256()
    for value in values:
        digest.update(canonical_json(value))
        digest.update(b"\n")
    return digest.hexdigest()
