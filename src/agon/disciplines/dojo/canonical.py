"""Bring a submitted program into the one form that is hashed and measured (document 002, 1.3).

Two sources that differ only in their newline style, a byte order mark or blank lines at the end
are the same program: they have the same bytes, hash and length.
"""

import hashlib

from agon.errors import Unreadable

_BOM = b"\xef\xbb\xbf"


class NotUtf8(Unreadable):
    """The byte and line at which a source stops being UTF-8.

    Attributes:
        offset: index of the first wrong byte in the raw source, from 0.
        line: its line, from 1.
    """

    def __init__(self, *, offset: int, line: int, byte: int) -> None:
        super().__init__(
            f"not UTF-8: byte 0x{byte:02x} at offset {offset} (line {line}); save the file as UTF-8"
        )
        self.offset = offset
        self.line = line


def canonicalize(raw: bytes) -> bytes:
    r"""Return the canonical bytes of a source (document 002, 1.3 Canonicalization).

    Leading byte order marks are dropped; CRLF and lone CR become LF; blank lines at the end (only
    spaces and tabs) go; the last line ends with exactly one LF. Every other byte stays, blanks at
    the end of a line included. A source without any other line than blank ones becomes empty.
    All leading marks go, not only the first, so that the form of a form is itself.

    Raises:
        NotUtf8: with the byte offset and the line.

    Example:
        >>> canonicalize(b"\xef\xbb\xbfx = 1  \r\ny = 2\r\n \t\r\n\r\n")
        b'x = 1  \ny = 2\n'
        >>> canonicalize(b" \n\t\n")
        b''
    """
    _refuse_other_encodings(raw)
    start = 0
    while raw.startswith(_BOM, start):
        start += len(_BOM)
    unix = _unix_newlines(raw[start:])
    content = unix.rstrip(b" \t\n")
    if not content:
        return b""
    blanks_of_last_line = unix[len(content) :].partition(b"\n")[0]
    return content + blanks_of_last_line + b"\n"


def source_hash(canonical: bytes) -> str:
    r"""Hash canonical bytes: SHA-256 in hex, what ``sha256sum`` prints for a canonical file.

    Example:
        >>> source_hash(b"")[:16]
        'e3b0c44298fc1c14'
    """
    return hashlib.sha256(canonical).hexdigest()


def length(canonical: bytes) -> int:
    r"""Measure ``L_chars``: the number of **bytes** of the canonical source (document 002, 5.1).

    Example:
        >>> length("π\n".encode())
        3
    """
    return len(canonical)


def _refuse_other_encodings(raw: bytes) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = _unix_newlines(raw[: wrong.start]).count(b"\n") + 1
        raise NotUtf8(offset=wrong.start, line=line, byte=raw[wrong.start]) from None


def _unix_newlines(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
