"""Open text files, gzipped or not, and report those that are not UTF-8 text."""

import gzip
import io
import zlib
from pathlib import Path
from typing import IO

from agon.records.issues import RowIssue
from agon.records.sources.issues import table_issue, unreadable

BROKEN = (OSError, EOFError, zlib.error)
"""Errors of reading a file: no permission, or a gzip file that is truncated or damaged."""

_HEAD = 4096
_UTF_8_REMEDY = "save the file as UTF-8"
_BINARY = {
    b"\x1f\x8b": ("gzip data", "add .gz to its name"),
    b"PAR1": ("Parquet data", "name it .parquet"),
    b"PK\x03\x04": ("a zip archive or a workbook", "name it .zip or .xlsx, or save it as CSV"),
    b"\xd0\xcf\x11\xe0": ("a workbook of an old kind", "save it as .xlsx or as CSV"),
    b"\x28\xb5\x2f\xfd": ("zstd data", "add .zst to its name"),
}


def binary(file: Path) -> io.BufferedReader:
    """Open a file and return its bytes, decompressed."""
    if file.suffix.lower() == ".gz":
        return io.BufferedReader(gzip.open(file, "rb"))
    return file.open("rb")


def text(file: Path) -> IO[str]:
    """Open a file as text without a byte order mark; bytes that are not UTF-8 are surrogates."""
    encoding, errors = "utf-8-sig", "surrogateescape"
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding=encoding, errors=errors, newline="")
    return file.open(encoding=encoding, errors=errors, newline="")


def binary_issue(table: str, file: Path) -> RowIssue | None:
    """Return the issue of a file that is not text, or None when it may be text."""
    try:
        with binary(file) as opened:
            head = opened.read(_HEAD)
    except PermissionError:
        return table_issue(table, file.name, "may not be read", "grant the permission to read it")
    except BROKEN as error:
        return unreadable(table, file.name, error)
    for magic, (fact, remedy) in _BINARY.items():
        if head.startswith(magic):
            return table_issue(table, file.name, f"holds {fact}", remedy)
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        reason = "is UTF-16 or UTF-32 text"
        return table_issue(table, file.name, reason, _UTF_8_REMEDY, code="wrong-encoding")
    if head.count(b"\x00") * 4 > len(head):
        reason = "holds NUL bytes (UTF-16 text or no text)"
        return table_issue(table, file.name, reason, _UTF_8_REMEDY, code="wrong-encoding")
    return None


def plain(field: str) -> tuple[str, bool]:
    """Return a field as text that can be stored, and whether it was UTF-8."""
    try:
        field.encode()
    except UnicodeEncodeError:
        return field.encode(errors="surrogateescape").decode(errors="replace"), False
    return field, True
