"""Canonical source: one form, one hash, one length (document 002, 1.3)."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.canonical import NotUtf8, canonicalize, length, source_hash
from agon.errors import Unreadable
from sizes import size

PIECES = st.sampled_from(
    [
        "x = 1",
        "π",
        " ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\f",
        "\v",
        "\u2028",
        "\x85",
        "\ufeff",
        "\\",
        "\0",
    ]
)
SOURCES = st.lists(PIECES, max_size=12).map("".join)
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", b""),
        (b"\n", b""),
        (b" \t\r\n\r \n", b""),
        (b"x", b"x\n"),
        (b"x\n", b"x\n"),
        (b"x\n\n \n\t", b"x\n"),
        (b"x \t", b"x \t\n"),
        (b"x \t\n  \n", b"x \t\n"),
        (b"\n\n  x\n", b"\n\n  x\n"),
        (b"a\rb\r\nc\n\rd", b"a\nb\nc\n\nd\n"),
        (b"x\n\f\n", b"x\n\f\n"),
        (b"x\n\v", b"x\n\v\n"),
        (b"x\n\xc2\xa0\n", b"x\n\xc2\xa0\n"),
        (BOM + b"x\n", b"x\n"),
        (BOM + BOM + b"x\n", b"x\n"),
        (BOM, b""),
        (BOM + b"\r\n", b""),
        (b"x" + BOM + b"\n", b"x" + BOM + b"\n"),
        (b"\n" + BOM + b"x\n", b"\n" + BOM + b"x\n"),
        (b"# coding: latin-1\nx = '\xc3\xa9'", b"# coding: latin-1\nx = '\xc3\xa9'\n"),
        (b"x\\\n", b"x\\\n"),
        (b"\0\n", b"\0\n"),
    ],
)  # fmt: skip
def test_each_case_has_its_canonical_bytes(raw: bytes, expected: bytes) -> None:
    """The spec's sentence, case by case: what goes goes, every other byte stays."""
    assert canonicalize(raw) == expected


@given(SOURCES)
@settings(max_examples=size(200), deadline=None)
def test_the_canonical_form_is_its_own_canonical_form(source: str) -> None:
    """Hashing a stored canonical source again must give the same hash."""
    once = canonicalize(source.encode())
    assert canonicalize(once) == once


@given(st.lists(st.sampled_from(["a", " b ", "", "\t"]), max_size=8))
@settings(max_examples=size(50), deadline=None)
def test_newline_style_does_not_matter(lines: list[str]) -> None:
    """The same file from Windows, Unix and an old Mac is one submission."""
    forms = {canonicalize(newline.join(lines).encode()) for newline in ("\n", "\r\n", "\r")}
    assert len(forms) == 1


@given(SOURCES)
@settings(max_examples=size(200), deadline=None)
def test_canonical_source_agrees_with_a_line_by_line_reading(source: str) -> None:
    """A second, slow reading of the same rule: split into lines, drop blank ones from the end."""
    lines = source.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    assert canonicalize(source.encode()) == "".join(line + "\n" for line in lines).encode()


def test_the_hash_of_a_tidy_file_is_its_sha256() -> None:
    """Anyone can check a published hash with sha256sum."""
    canonical = "def solver():\n    return [1]  # π\n".encode()
    assert source_hash(canonicalize(canonical)) == hashlib.sha256(canonical).hexdigest()


def test_length_counts_bytes_not_characters() -> None:
    """A letter outside ASCII costs as many bytes as it has."""
    assert length(canonicalize("é\r\n".encode())) == 3


@pytest.mark.parametrize(
    ("raw", "offset", "line"),
    [
        (b"x = 1\r\ny = '\xe9'\n", 12, 2),
        (b"\xff", 0, 1),
        (b"a\rb\rc\x80", 5, 3),
        (b"a\n\xed\xa0\x80", 2, 2),
        (b"a\n\xc0\xaf", 2, 2),
        (b"ok\n\xc3", 3, 2),
        (b"\xff\xfea\x00", 0, 1),
    ],
)
def test_what_is_not_utf8_is_rejected_with_offset_and_line(
    raw: bytes, offset: int, line: int
) -> None:
    """Latin-1, surrogates, overlong forms, a cut character and UTF-16 have their position."""
    with pytest.raises(NotUtf8, match=f"offset {offset} \\(line {line}\\)") as error:
        canonicalize(raw)
    assert (error.value.offset, error.value.line) == (offset, line)
    assert isinstance(error.value, Unreadable)


def test_many_blank_lines_are_read_in_linear_time() -> None:
    """A megabyte of newlines must not stall a judge (a backtracking pattern would)."""
    assert canonicalize(b"\n" * 1_000_000 + b"x" + b"\n " * 1_000_000) == b"\n" * 1_000_000 + b"x\n"
