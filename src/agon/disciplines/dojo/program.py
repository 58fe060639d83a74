"""Parse untrusted source into a tree for static checks, or report why it cannot be parsed.

No source is run here and no error escapes: hostile text (parser bombs, NUL bytes, integers too long
to convert) ends in a :class:`Violation`, never in a traceback. The text is the canonical source
decoded as UTF-8; an encoding cookie in it is a comment like any other.

Work and memory are bounded by the length of the source, whatever it holds: Python's parser is
linear, and each step after it visits a node a bounded number of times. A byte of source makes at
most two nodes, and they are nested at most ``max_depth`` deep. :mod:`tokenize` is not used: its
patterns take quadratic time on long blanks and on quotes without an end.
"""

import ast
import re
import sys
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Final, Literal

from agon.disciplines.dojo.canonical import NotUtf8, canonicalize

PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The judge's version of Python, which parses and runs programs."""
CORRECT_SYNTAX: Final = f"correct the syntax; this judge runs Python {PYTHON}"

Refusal = Literal["syntax_error", "rejected_policy", "rejected_import", "runtime_error"]


@dataclass(frozen=True, order=True)
class Violation:
    """One reason to reject a program, with its position and the remedy.

    Attributes:
        line: from 1; 0 for the entire program.
        column: in characters from 1; 0 for the entire line or program.
        what: the fact.
        remedy: what the author can do.
        verdict: the verdict a judge records for it (``dojo.md``, Records).
    """

    line: int
    column: int
    what: str
    remedy: str
    verdict: Refusal

    def __str__(self) -> str:
        """Write it the way compilers do."""
        return f"{self.line}:{self.column}: {self.what}; {self.remedy}"


class _Unparsable(Exception):
    """Carry the violation out of the steps of :func:`parse`."""

    def __init__(self, what: str, remedy: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(what)
        self.violation = Violation(line, column, what, remedy, "syntax_error")


@dataclass(frozen=True)
class ParsedProgram:
    """A source that parses.

    Attributes:
        source: the canonical bytes.
        tree: its syntax tree (a value to read, never to change).
        nodes: every node of the tree, parents before children, in source order.
        depths: how deep each node is, from 0.
    """

    source: bytes
    tree: ast.Module = field(repr=False, compare=False)
    nodes: tuple[ast.AST, ...] = field(repr=False, compare=False)
    depths: tuple[int, ...] = field(repr=False, compare=False)

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Return line and column of a node, both from 1, the column in characters.

        Python 3.11 misplaces some nodes inside f-strings; those are moved to the nearest position
        that exists.
        """
        line = min(max(getattr(node, "lineno", 1), 1), len(self._lines))
        text = self._lines[line - 1]
        offset = min(max(getattr(node, "col_offset", 0), 0), len(text))
        return line, (offset if text.isascii() else self._characters_before(line)[offset]) + 1

    @cached_property
    def _lines(self) -> list[bytes]:
        return self.source.split(b"\n")

    @cached_property
    def _counted_lines(self) -> dict[int, list[int]]:
        return {}

    def _characters_before(self, line: int) -> list[int]:
        """Return the number of complete characters before each byte of a line, counted once."""
        if line not in self._counted_lines:
            text = self._lines[line - 1]
            is_last = (byte & 0xC0 != 0x80 for byte in (*text[1:], 0))  # noqa: PLR2004  # UTF-8
            self._counted_lines[line] = list(accumulate(is_last, initial=0))
        return self._counted_lines[line]

    def text_of(self, node: ast.expr) -> str:
        """Return the text of a node that is written on one line, outside f-strings."""
        line = self._lines[node.lineno - 1]
        return line[node.col_offset : node.end_col_offset].decode()


def parse(source: bytes, *, max_bytes: int, max_depth: int) -> ParsedProgram | Violation:
    r"""Parse a source, or return why Python cannot.

    Args:
        source: the bytes of the file; they are made canonical first.
        max_bytes: maximum length of a canonical source to parse.
        max_depth: deepest nesting of brackets and of the syntax tree. The answer depends on the
            program alone as long as this stays below what the interpreter bears: in Python 3.11
            nearly 3,000 levels, less three for each call that is under way.

    Returns:
        The program, or a violation with the verdict ``syntax_error``.

    Example:
        >>> parse(b"def solver(:\n", max_bytes=1000, max_depth=100).line
        1
        >>> parse(b"(" * 150, max_bytes=1000, max_depth=100).what
        'brackets are nested more than 100 deep'
    """
    try:
        canonical = _require_size(source, max_bytes=max_bytes)
        text = canonical.decode("utf-8")
        _require_flat_brackets(text, max_depth=max_depth)
        tree = _tree(text, max_depth=max_depth)
        return ParsedProgram(canonical, tree, *_nodes(tree, max_depth=max_depth))
    except _Unparsable as error:
        return error.violation


def _require_size(source: bytes, *, max_bytes: int) -> bytes:
    try:
        canonical = canonicalize(source)
    except NotUtf8 as wrong:
        what = str(wrong).partition(";")[0]
        raise _Unparsable(what, "save the file as UTF-8", line=wrong.line) from None
    if len(canonical) > max_bytes:
        raise _Unparsable(f"the source has more than {max_bytes} bytes", "shorten it")
    if b"\0" in canonical:
        line = canonical[: canonical.index(b"\0")].count(b"\n") + 1
        raise _Unparsable("the source contains a NUL byte", "remove it", line=line)
    return canonical


# Possessive (``*+``), and ended by the end of the line or of the text too: no byte is read twice.
_LEXEMES: Final = re.compile(
    r"""
    \#[^\n]*+
    | '''(?:[^\\']++|\\(?:.|\Z)|'(?!''))*+(?:'''|\Z)
    | """
    r'''"""(?:[^\\"]++|\\(?:.|\Z)|"(?!""))*+(?:"""|\Z)'''
    r"""
    | '(?:[^\\'\n]++|\\(?:.|\Z))*+(?:'|\n|\Z)
    | "(?:[^\\"\n]++|\\(?:.|\Z))*+(?:"|\n|\Z)
    | (?P<opening>[(\[{])
    | (?P<closing>[)\]}])
    """,
    re.DOTALL | re.VERBOSE,
)


def _require_flat_brackets(text: str, *, max_depth: int) -> None:
    """Raise where brackets outside strings and comments are nested too deep."""
    depth = 0
    for lexeme in _LEXEMES.finditer(text):
        depth += (lexeme.lastgroup == "opening") - (lexeme.lastgroup == "closing")
        if depth > max_depth:
            begin = lexeme.start()
            line, column = text.count("\n", 0, begin) + 1, begin - text.rfind("\n", 0, begin)
            what = f"brackets are nested more than {max_depth} deep"
            raise _Unparsable(what, "flatten it", line=line, column=column)


def _tree(text: str, *, max_depth: int) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # A dubious escape is the author's business, even where warnings are errors.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (RecursionError, MemoryError):
        raise _too_deep(max_depth) from None
    except SyntaxError as wrong:
        line, column = max(wrong.lineno or 0, 0), max(wrong.offset or 0, 0)
        what, remedy = f"not Python: {wrong.msg}", CORRECT_SYNTAX
        if "limit" in wrong.msg and "integer string conversion" in wrong.msg:
            what = f"an integer literal has more than {sys.get_int_max_str_digits()} digits"
            remedy = "write it in hexadecimal, or compute it"
        raise _Unparsable(what, remedy, line=line, column=column) from None
    except (ValueError, OverflowError) as wrong:
        raise _Unparsable(f"not Python: {wrong}", CORRECT_SYNTAX) from None


def _nodes(tree: ast.Module, *, max_depth: int) -> tuple[tuple[ast.AST, ...], tuple[int, ...]]:
    """Return the nodes, parents first, and their depths, without recursion."""
    nodes: list[ast.AST] = []
    depths: list[int] = []
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > max_depth:
            raise _too_deep(max_depth)
        nodes.append(node)
        depths.append(depth)
        children = list(ast.iter_child_nodes(node))
        stack.extend((child, depth + 1) for child in reversed(children))
    return tuple(nodes), tuple(depths)


def _too_deep(max_depth: int) -> _Unparsable:
    return _Unparsable(f"the program is nested more than {max_depth} deep", "flatten it")
