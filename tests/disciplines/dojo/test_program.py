"""Reading untrusted source: a tree or a reason, never a traceback."""

import ast
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.classifier import Tag, classify
from agon.disciplines.dojo.fingerprints import structure_hash
from agon.disciplines.dojo.imports import scan
from agon.disciplines.dojo.payload import measure
from agon.disciplines.dojo.program import ParsedProgram, Violation, parse
from disciplines.dojo.reading import read, violation_in
from sizes import size

ALPHABET = st.sampled_from(
    ["(", "[", "{", ")", "]", "}", "'", '"', '"""', "f'", "{x}", "#", "\\", "\n", "\r", "\t",
     "    ", "\f", "\0", "x", "１", "def f():", "lambda:", "if x:", "1", "0x_ff", "1_0", ":", ",",
     "=", "\ufeff", "\u2028", "é", "for x in y", "global x", "import os", "yield", "await ",
     "match x:", "case y:"]
)  # fmt: skip


@pytest.mark.parametrize(
    "bomb",
    [
        "(" * 5_000,
        "[" * 150 + "]" * 150 + "[" * 900 + "]" * 900,
        "x = " + "-" * 50_000 + "1",
        "x = " + "not " * 20_000 + "1",
        "x = " + "+".join(["a"] * 20_000),
        "x = a" + ".b" * 20_000,
        "x = " + "lambda a, b:" * 10_000 + "1",
        "if x: pass\n" + "elif x: pass\n" * 5_000,
        "x = " + "a if b else " * 10_000 + "c",
        "x = " + "2**" * 10_000 + "2",
        "".join(" " * depth + "if x:\n" for depth in range(400)) + " " * 400 + "x",
        "x = " + "f'{" * 200,
        "x = a" + "[0]" * 20_000,
        "x = a" + "()" * 20_000,
        "async def f():\n x = " + "await " * 20_000 + "y",
    ],
)
def test_parser_bombs_are_rejected_as_syntax_errors(bomb: str) -> None:
    """Depth is the attacker's choice; the judge answers with a verdict in every case."""
    violation = violation_in(bomb)
    assert violation.verdict == "syntax_error"
    assert violation.remedy


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("x = 1\n)", 2, "unmatched"),
        ("x = '\n", 1, "unterminated"),
        ("x = 1\ny = '\0'\n", 2, "NUL"),
        (b"x\n\xff", 2, "UTF-8"),
        ("x = '\ud800'", 1, "UTF-8"),
        ("x = １", 1, "invalid"),
        ("x\ufeff = 1", 1, "invalid"),
        ("if x:\n\ty\n        z", 3, "ta"),
        ("x = " + "9" * 5_000, 1, "4300"),
        ("x = 0x_ff_", 1, "invalid"),
        ("x = 012", 1, "leading zeros"),
        ("x = 1 \\ \n", 1, "unexpected character"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    source: str | bytes, line: int, what: str
) -> None:
    """An author corrects a line, not a file."""
    violation = violation_in(source)
    assert (violation.line, violation.verdict) == (line, "syntax_error")
    assert what in violation.what


@pytest.mark.parametrize("source", ["x =" + " " * 50_000 + "℘", "x = '" + "\\'" * 25_000 + "'"])
def test_a_long_line_is_read_once(source: str) -> None:
    """The patterns of tokenize went back over blanks and quotes: minutes for one line."""
    assert read(source).source == f"{source}\n".encode()


@pytest.mark.parametrize("source", ["x =" + " " * 50_000 + "$", "x = " + "'\\" * 25_000])
def test_a_long_line_that_is_not_python_is_read_once(source: str) -> None:
    """The same, where the parser rejects the line."""
    assert violation_in(source).what.startswith("not Python")


def test_an_encoding_cookie_is_only_a_comment() -> None:
    """The platform reads UTF-8; a cookie must not make a judge see another program."""
    program = read("# -*- coding: latin-1 -*-\nx = 'é'\n")
    assert [n.value for n in program.nodes if isinstance(n, ast.Constant)] == ["é"]


def test_the_bounds_hold_to_the_byte_and_to_the_level() -> None:
    """A limit allows itself and rejects one more."""
    assert isinstance(parse(b"x = 1\n", max_bytes=6, max_depth=9), ParsedProgram)
    assert isinstance(parse(b"x = 12\n", max_bytes=6, max_depth=9), Violation)
    assert isinstance(parse(b"((((x))))", max_bytes=99, max_depth=4), ParsedProgram)
    assert isinstance(parse(b"(((((x)))))", max_bytes=99, max_depth=4), Violation)


def test_brackets_in_strings_and_comments_are_not_nesting() -> None:
    """Only what nests is counted."""
    source = "x = '" + "(" * 900 + "'  # " + "[" * 900 + "\n"
    assert read(source).source == source.encode()


def test_dubious_escapes_do_not_disturb_the_reader() -> None:
    """Python warns about them; where warnings are errors this must still be a program."""
    source = "x = '\\d'\ny = 1if x else 2\n"
    assert read(source).source == source.encode()


def test_columns_count_characters() -> None:
    """Editors show characters, the syntax tree counts bytes."""
    program = read("é = 'ü'; open('x')\n")
    call = next(node for node in program.nodes if isinstance(node, ast.Call))
    assert program.place(call) == (1, 10)


@given(st.lists(ALPHABET, max_size=30).map("".join))
@settings(max_examples=size(300), deadline=None)
def test_any_text_gets_a_program_or_a_verdict(text: str) -> None:
    """No text may escape as an exception, and what Python parses must not be rejected."""
    result = parse(text.encode(), max_bytes=10_000, max_depth=100)
    if isinstance(result, Violation):
        assert result.verdict == "syntax_error"
        return
    assert measure(result).numeric_literals >= 0
    assert scan(result, kind="setter") == sorted(set(scan(result, kind="setter")))
    assert classify(result).tag in get_args(Tag)
    assert len(structure_hash(result)) == 64


@given(st.binary(max_size=60))
@settings(max_examples=size(100), deadline=None)
def test_any_bytes_get_a_program_or_a_verdict(raw: bytes) -> None:
    """The file may be anything at all."""
    assert isinstance(parse(raw, max_bytes=10_000, max_depth=100), ParsedProgram | Violation)
