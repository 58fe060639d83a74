"""Inspection outside the sandbox takes work in proportion to the source, whatever its shape."""

import ast
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from agon.disciplines.dojo.classifier import classify
from agon.disciplines.dojo.fingerprints import structure_hash
from agon.disciplines.dojo.imports import scan
from agon.disciplines.dojo.payload import measure
from agon.disciplines.dojo.program import ParsedProgram, parse

SIZES = (400, 800, 1_600)
GROWTH = 1.25
"""Bound of the work for a byte, at twice the size: linear work has 1, quadratic has 2."""
SLACK = 400
"""Lines and comparisons that no source needs more of."""


class _CountedList(list[Any]):
    """A list of the syntax tree that counts the elements a membership test may compare."""

    compared = 0

    def __contains__(self, item: object) -> bool:
        _CountedList.compared += len(self)
        return super().__contains__(item)


def work(run: Callable[[], object]) -> int:
    """Return how many lines a call executes, with rounds of generators, and what it compares."""
    steps = 0

    def trace(_: FrameType, event: str, __: object) -> Any:
        nonlocal steps
        steps += event in {"line", "call"}
        return trace

    _CountedList.compared = 0
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return steps + _CountedList.compared


def counted(program: ParsedProgram) -> ParsedProgram:
    """Replace the lists of a syntax tree by lists that count comparisons."""
    for node in program.nodes:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, _CountedList(value))
    return program


def nested(piece: str, inner: str, closing: str = "") -> Callable[[int], str]:
    """Return a source with a nest, deeper the longer it is; eight of them, for a long line."""

    def source(length: int) -> str:
        levels = length // 16
        return "\n".join([piece * levels + inner + closing * levels] * 8)

    return source


def repeated(piece: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    """Return a source of a length: a piece over and over, with its number for ``#``."""

    def source(length: int) -> str:
        pieces: list[str] = []
        size = len(head) + len(tail)
        while size < length:
            pieces.append(piece.replace("#", str(len(pieces))))
            size += len(pieces[-1])
        return head + "".join(pieces) + tail

    return source


def in_blocks(line: str, body: str) -> Callable[[int], str]:
    """Return a source with blocks in blocks, deeper the longer it is, and as many lines inside."""

    def source(length: int) -> str:
        levels = length // 40
        head = "".join(" " * at + line.replace("#", str(at)) + "\n" for at in range(levels))
        return head + (" " * levels + body + "\n") * levels

    return source


SHAPES: dict[str, Callable[[int], str]] = {
    "short lines in a loop": repeated(" a\n", head="for i in x:\n"),
    "assignments in a loop": repeated(" a=a+b\n", head="while x:\n"),
    "growth in a loop": repeated(" a.append(a[-1]+a[-2])\n", head="while x:\n"),
    "names of their own": repeated("a#;"),
    "names bound and read": repeated("a#=a#\n"),
    "names in a scope of many": repeated("a#\n", head="def f():\n a=1\n"),
    "a long line": repeated("é;"),
    "a long line of numbers": repeated("1;"),
    "a long line of texts": repeated("'é',"),
    "forbidden names on a line": repeated("open;"),
    "elements": repeated("a,", head="x=[", tail="]"),
    "formatted values": repeated("{1}", head="f'", tail="'"),
    "global names": repeated(" global a#\n", head="def f():\n"),
    "functions": repeated("def f#(n):\n return f#(n-1)+1\n"),
    "arguments": repeated("a#,", head="def f(", tail="):pass"),
    "keywords": repeated("a#=1,", head="f(", tail=")"),
    "tuples of state": repeated("a#,", head="for i in x:\n a=1\n a,b=b,"),
}
DEEP: dict[str, Callable[[int], str]] = {
    "sums in functions": in_blocks("def f#(n):", "f0(n-1)" + "+f1(n-1)" * 12),
    "sums that are not linear": in_blocks("def f#(n):", "g(" + "f0(n-1)+" * 12 + "1)"),
    "conditions": in_blocks("if x:", "a"),
    "loops": in_blocks("for i in x:", "a=a"),
    "subscripts": nested("a[", "0", "]"),
    "subscripts in a row": nested("", "a", "[0]"),
    "growth in growth": nested("a.append(", "a[0]", ")"),
    "list comprehensions": nested("[", "sum(a*b for a,b in zip(c,d))", " for x in y]"),
    "functions in functions": nested("lambda:", "a"),
    "tuples in tuples": nested("(", "a*b+c*d", ",)"),
    "sums": nested("a[0]+", "a[0]"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", [*SHAPES, *DEEP])
def test_twice_the_source_takes_at_most_twice_the_work(shape: str) -> None:
    """64 KB of short lines in one loop took 18 s of processor time outside the sandbox."""
    sources = [{**SHAPES, **DEEP}[shape](size) for size in SIZES]
    efforts = [_effort(source) for source in sources]
    for name in efforts[0]:
        for at in (1, 2):
            bytes_more = len(sources[at].encode()) / len(sources[at - 1].encode())
            most = GROWTH * bytes_more * efforts[at - 1][name] + SLACK
            assert efforts[at][name] <= most, (name, [effort[name] for effort in efforts])


def _effort(source: str) -> dict[str, int]:
    """Return the work of each step of the inspection."""
    programs: list[ParsedProgram] = []

    def read() -> None:
        program = parse(source.encode(), max_bytes=1_000_000, max_depth=300)
        assert isinstance(program, ParsedProgram), program
        programs.append(program)

    effort = {"parse": work(read)}
    program = counted(programs[0])
    steps: dict[str, Callable[[], object]] = {
        "scan": lambda: scan(program, kind="solver"),
        "measure": lambda: measure(program),
        "classify": lambda: classify(program),
        "structure_hash": lambda: structure_hash(program),
    }
    return effort | {name: work(step) for name, step in steps.items()}
