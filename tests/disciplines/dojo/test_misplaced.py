"""What parses and cannot be compiled is reported before a run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.dojo.misplaced import misplaced
from disciplines.dojo.reading import read
from sizes import size

REJECTED = [
    "return 1",
    "yield 1",
    "x = yield",
    "class A:\n    return 1",
    "class A:\n    yield 1",
    "break",
    "for x in y: pass\nelse: break",
    "while 1:\n    def f(): continue",
    "while 1:\n    class A:\n        break",
    "if 1: continue",
    "await x",
    "def f(): await x",
    "def f():\n    async with x: pass",
    "async for x in y: pass",
    "def f(a, a): pass",
    "nonlocal x",
    "def f():\n    nonlocal y",
    "def f():\n    x = 1\n    global x",
    "def f():\n    from math import *",
    "[(yield x) for x in y]",
]
ACCEPTED = [
    "def f(): return 1",
    "def f():\n    while 1:\n        if 1: break\n        try: continue\n        finally: pass",
    "for x in y: break\nelse: pass",
    "f = lambda: (yield)",
    "async def f():\n    async for x in y: await x",
    "def f():\n    def g():\n        nonlocal x\n    x = 1",
    "class A:\n    def f(self): return [x for x in self if x]",
    "for x in y:\n    match x:\n        case 1: break\n        case _: continue",
]


def compiles(source: str) -> bool:
    """Return whether Python compiles a source: the oracle, on sources of this file only."""
    try:
        compile(source, "program", "exec")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("source", [*REJECTED, *ACCEPTED])
def test_what_the_compiler_rejects_is_reported_with_its_line(source: str) -> None:
    """Unseen before the run, it would cost an attempt; ``check`` and ``run`` agree."""
    violations = misplaced(read(f"x = y = []\n{source}\n"))
    assert bool(violations) == (source in REJECTED) == (not compiles(source))
    assert all(v.verdict == "syntax_error" and v.line > 1 for v in violations)


STATEMENTS = ("return 1", "yield 1", "break", "continue", "await x", "pass", "x = 1")
BLOCKS = ("def f():", "async def f():", "class A:", "while x:", "for x in y:", "if x:", "try:")


@settings(max_examples=size(150), deadline=None)
@given(st.lists(st.sampled_from(BLOCKS), max_size=4), st.sampled_from(STATEMENTS))
def test_each_statement_in_each_nest_is_judged_as_by_the_compiler(
    blocks: list[str], statement: str
) -> None:
    """The compiler itself is the second implementation."""
    lines = [f"{'    ' * depth}{block}" for depth, block in enumerate(blocks)]
    lines.append(f"{'    ' * len(blocks)}{statement}")
    lines += [
        f"{'    ' * depth}finally: pass"
        for depth in range(len(blocks) - 1, -1, -1)
        if blocks[depth] == "try:"
    ]
    source = "\n".join(lines)
    assert bool(misplaced(read(source))) == (not compiles(source))
