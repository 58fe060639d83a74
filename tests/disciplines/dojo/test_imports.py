"""Courtesy scan: what a package may not contain, with the line (dojo.md, Programs)."""

import pytest

from agon.disciplines.dojo.imports import REFUSED_NAMES, Kind, interface, scan
from agon.disciplines.dojo.program import Violation
from disciplines.dojo.reading import read

ENTRY = "def solver(): return []\n"


def violations_of(source: str, *, kind: Kind = "solver") -> list[Violation]:
    """Scan a source as the given kind of package."""
    return scan(read(source), kind=kind)


@pytest.mark.parametrize(
    "line",
    [
        "import math, itertools as it, fractions",
        "import sympy.ntheory.primetest as primes",
        "from sympy import *",
        "from sympy.ntheory import isprime",
        "from math import comb as c",
        "if __name__ == '__main__': print(solver())",
        "class T:\n    def __init__(self): self.__hidden = 1",
        "getattr(x, 'name', None)",
        "x.open(); x.eval; x.compile = 1",
        "x.__hidden; x.hidden__; x.____; x._",
        "hasattr(x, y)",
        "'open eval __import__'",
        "class T(list):\n    def __init__(self): super().__init__(); self.n = len(self)",
        "print(type(x).__name__, x.__class__.__qualname__, x.__doc__)",
        "it = x.__iter__(); it.__next__(); x.__len__(); x.__getitem__(0); int.__add__(1, 2)",
        "object.__setattr__(x, 'n', 1); x.__dict__.get('n')",
        "match x:\n    case int(__class__=c): pass",
        "def f(input): pass",
    ],
)
def test_what_the_rules_allow_is_not_rejected(line: str) -> None:
    """A rejection costs all points; only what the page names is rejected."""
    assert violations_of(f"{ENTRY}{line}\n") == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import os", "import of os"),
        ("import sympyx", "import of sympyx"),
        ("import math, os.path", "import of os.path"),
        ("from os import path", "import of os"),
        ("from . import x", "import of ."),
        ("from .math import x", "import of .math"),
        ("from __future__ import annotations", "import of __future__"),
        ("def f():\n    import sys", "import of sys"),
        ("from math import __loader__ as x", "access to __loader__"),
        ("f = open", "use of open"),
        ("ｏｐｅｎ('x')", "use of open"),
        ("[e for e in [exec]]", "use of exec"),
        ("f'{eval(x)}'", "use of eval"),
        ("__builtins__['x']", "use of __builtins__"),
        ("().__class__.__bases__", "access to __bases__"),
        ("int.__subclasses__()", "access to __subclasses__"),
        ("x.__globals__ = 1", "access to __globals__"),
        ("f.__code__.co_consts", "access to __code__"),
        ("f'{x.__closure__}'", "access to __closure__"),
        ("x.__odd__", "access to __odd__"),
        ("match x:\n    case int(__mro__=c): pass", "access to __mro__"),
        (
            "import sympy.crypto",
            "import of sympy.crypto: the judge's sympy is without sympy.crypto",
        ),
        (
            "from sympy import crypto, prime",
            "import of sympy.crypto: the judge's sympy is without sympy.crypto",
        ),
        (
            "from sympy.physics.quantum import spin",
            "import of sympy.physics.quantum: the judge's sympy is without sympy.physics.quantum",
        ),
        ("getattr(x, y)", "getattr with a name that is not a literal"),
        ("getattr(x, 'a' + 'b')", "getattr with a name that is not a literal"),
        ("getattr(x, f'__class__')", "getattr with a name that is not a literal"),
        ("getattr(*x)", "getattr with a name that is not a literal"),
        ("getattr(*x, 'a')", "getattr with a name that is not a literal"),
        ("getattr(x, *'a')", "getattr with a name that is not a literal"),
        ("setattr(x, y, 1)", "setattr with a name that is not a literal"),
        ("delattr(x, y)", "delattr with a name that is not a literal"),
        ("getattr(x, '__bases__')", "access to __bases__"),
        ("g = getattr", "getattr used as a value"),
        ("map(setattr, x, y, z)", "setattr used as a value"),
        ("@getattr\ndef f(): pass", "getattr used as a value"),
    ],
)
def test_each_way_out_is_rejected(line: str, what: str) -> None:
    """Forbidden names of the page and their disguises are each reported once."""
    assert [v.what for v in violations_of(f"{ENTRY}{line}\n")] == [what]


def test_a_rule_decides_which_modules_are_allowed() -> None:
    """A solver's list is its edition's; the message has that list."""
    source = read(f"{ENTRY}from functools import lru_cache\nfrom collections.abc import Iterator")
    assert [v.line for v in scan(source, kind="solver")] == [2, 3]
    assert scan(source, kind="solver", modules=("functools", "collections")) == []
    (violation,) = scan(source, kind="solver", modules=("functools", "heapq"))
    assert str(violation).endswith("import of collections.abc; use only functools, heapq")


def test_a_refused_input_says_that_there_is_none() -> None:
    """Leaving it out is advice that can be followed."""
    (violation,) = violations_of(f"{ENTRY}n = int(input())")
    assert violation.remedy.startswith("programs have no input")


@pytest.mark.parametrize("name", sorted(REFUSED_NAMES))
def test_each_rejected_builtin_is_rejected(name: str) -> None:
    """The list of the page, one by one, called or merely named."""
    assert [v.what for v in violations_of(f"{ENTRY}{name}()")] == [f"use of {name}"]


def test_all_violations_are_reported_sorted_with_positions() -> None:
    """Authors correct a file once; the places are lines and columns from 1."""
    violations = violations_of("import os\nx = 'é'; y = open\nz = x.__bases__\n")
    assert [(v.line, v.column, v.verdict) for v in violations] == [
        (0, 0, "runtime_error"),
        (1, 1, "rejected_import"),
        (2, 14, "rejected_import"),
        (3, 5, "rejected_import"),
    ]
    assert all(v.remedy for v in violations)


@pytest.mark.parametrize(
    "source",
    [
        "def solver(): return []",
        "solver = lambda: []",
        "if 1:\n    def solver(n=3, *rest, key=1): return []",
        "from math import factorial as solver",
        "(solver := list)",
        "[(solver := f) for f in [list]]",
        "class solver(list): pass",
        "def make():\n    global solver\n    def solver(): return []\nmake()",
        "solver, other = list, dict",
        "def solver(x): return x\ndef solver(): return []",
    ],
)
def test_any_top_level_binding_makes_a_solver(source: str) -> None:
    """Golfers write lambdas: what can be called as solver() is a solver."""
    assert violations_of(source) == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("", 0),
        ("def solve(): return []", 0),
        ("class A:\n    def solver(self): return []", 0),
        ("def f():\n    def solver(): return []", 0),
        ("def f():\n    solver = 1", 0),
        ("[1 for solver in x]", 0),
        ("x = lambda solver: 1", 0),
        ("\ndef solver(n): return []", 2),
        ("def solver(*, n): return []", 1),
        ("async def solver(): return []", 1),
        ("def solver(): return []\ndef solver(x): return x", 2),
    ],
)
def test_a_solver_that_cannot_be_called_is_reported(source: str, line: int) -> None:
    """Without solver() there is nothing to run; the verdict is what running would give."""
    assert [(v.line, v.verdict) for v in violations_of(source)] == [(line, "runtime_error")]


@pytest.mark.parametrize(
    ("source", "offered", "violation"),
    [
        ("def seq(n: int) -> int: return n", "seq", None),
        ("def gen(N): return []", "gen", None),
        ("seq = lambda n: n", "seq", None),
        ("def gen(*N): return []", "gen", None),
        ("def f(gen): return gen\ndef seq(n): return [gen for gen in f(n)]", "seq", None),
        ("def solver(): return []", None, "neither seq(n) nor gen(N)"),
        ("def seq(n): return n\ndef gen(N): return []", None, "both seq and gen"),
        ("def seq(): return 1", "seq", "seq cannot be called as seq(n)"),
        ("def gen(N, M): return 1", "gen", "gen cannot be called as gen(N)"),
    ],
)
def test_a_setter_offers_exactly_one_function(
    source: str, offered: str | None, violation: str | None
) -> None:
    """Two functions would be two sequences."""
    assert interface(read(source)) == offered
    assert [v.what for v in violations_of(source, kind="setter")] == (
        [violation] if violation else []
    )
