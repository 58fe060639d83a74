"""Test that attachments of a ledger's directory are verified line by line."""

from hashlib import sha256
from pathlib import Path

import pytest

from agon.ledger.attachments import attachment_issues, attachment_lines, read_attachments
from agon.ledger.files import ATTACHMENTS

PAIRS = sorted((sha256(content).hexdigest(), content) for content in (b"", b"a", b"\xff" * 99))
LINES = list(attachment_lines(PAIRS))


def write(folder: Path, *lines: bytes) -> Path:
    """Write the file of attachments."""
    (folder / ATTACHMENTS).write_bytes(b"".join(lines))
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Without the file there are no attachments."""
    assert list(read_attachments(tmp_path)) == []
    assert list(read_attachments(write(tmp_path, *LINES))) == [content for _, content in PAIRS]
    assert attachment_issues(tmp_path) == []


@pytest.mark.parametrize(
    ("lines", "number", "fact"),
    [
        ([LINES[0], LINES[0]], 2, "not after the one above"),
        ([LINES[1], LINES[0]], 2, "not after the one above"),
        ([LINES[0][:-1]], 1, "has no end"),
        ([b"{}\n"], 1, "not an object of content and sha256"),
        ([b"[\n"], 1, "not an object of content and sha256"),
        ([b'{"content":"?","sha256":"x"}\n'], 1, "not an object of content and sha256"),
        ([b'{"content":3,"sha256":"x"}\n'], 1, "not an object of content and sha256"),
        ([LINES[0].replace(b",", b", ")], 1, "not in canonical form"),
        ([LINES[0].replace(b"}", b',"x":1}')], 1, "not in canonical form"),
        ([b'{"content":"YQ==","sha256":"00"}\n'], 1, "has another hash"),
        ([LINES[0], b"x" * 6_000_000 + b"\n"], 2, "longer than"),
    ],
)
def test_anything_else_is_an_issue_with_its_line(
    lines: list[bytes], number: int, fact: str, tmp_path: Path
) -> None:
    """A content that is not the one of its hash proves nothing."""
    [issue] = attachment_issues(write(tmp_path, *lines))
    assert (issue.file, issue.line) == (ATTACHMENTS, number)
    assert fact in issue.what


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A directory from others must not make agon read other files."""
    (tmp_path / ATTACHMENTS).symlink_to("/dev/zero")
    [issue] = attachment_issues(tmp_path)
    assert "regular file" in issue.what
