"""Write and verify attachments: contents that entries refer to by their SHA-256.

A ledger's directory has them in ``attachments.ndjson``, one object a line, sorted by hash; the file
is missing if there are none.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from agon.kernel.fingerprints import canonical_json
from agon.ledger.files import ATTACHMENTS, open_file, read_lines
from agon.ledger.issues import InvalidEntry, LedgerIssue

MAX_ATTACHMENT_BYTES: Final = 4 << 20

_MAX_LINE_BYTES: Final = MAX_ATTACHMENT_BYTES // 3 * 4 + 200
_AS_EXPORTED: Final = "use the file as it was exported"


def attachment_lines(attachments: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield the lines of hashes and contents, which are sorted by hash."""
    for digest, content in attachments:
        value = {"content": b64encode(content).decode(), "sha256": digest}
        yield canonical_json(value) + b"\n"


def read_attachments(folder: Path) -> Iterator[bytes]:
    """Yield the contents of the attachments of a ledger's directory, if it has any.

    Raises:
        InvalidEntry: a line is not an attachment, has another hash, or is not in order.
    """
    if not (folder / ATTACHMENTS).exists() and not (folder / ATTACHMENTS).is_symlink():
        return
    last = ""
    with open_file(folder, ATTACHMENTS) as stream:
        for number, (line, ended) in enumerate(read_lines(stream, max_bytes=_MAX_LINE_BYTES), 1):
            value = _value(line, number)
            if not ended:
                raise _invalid("the line has no end", number)
            if value["sha256"] <= last:
                raise _invalid("the attachment is not after the one above by its hash", number)
            last = value["sha256"]
            yield value["content"]


def attachment_issues(folder: Path) -> list[LedgerIssue]:
    """Return the first issue of the attachments of a ledger's directory; empty if there is none."""
    try:
        for _ in read_attachments(folder):
            pass
    except InvalidEntry as error:
        return list(error.issues)
    return []


def _value(line: bytes, number: int) -> dict[str, Any]:
    """Return hash and content of a line."""
    if len(line) > _MAX_LINE_BYTES:
        raise _invalid(f"the line is longer than {_MAX_LINE_BYTES:,} bytes", number)
    try:
        value = orjson.loads(line)
        content = b64decode(value["content"], validate=True)
        digest = value["sha256"]
    except (ValueError, KeyError, TypeError):
        raise _invalid("the line is not an object of content and sha256", number) from None
    if [line + b"\n"] != list(attachment_lines([(digest, content)])):
        raise _invalid("the line is not in canonical form", number)
    if sha256(content).hexdigest() != digest:
        raise _invalid("the content has another hash than sha256 says", number)
    return {"content": content, "sha256": digest}


def _invalid(fact: str, number: int) -> InvalidEntry:
    return InvalidEntry([LedgerIssue(fact, _AS_EXPORTED, ATTACHMENTS, number)])
