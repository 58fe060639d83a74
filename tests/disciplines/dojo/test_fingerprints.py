"""Structure hash: the same program with other names (dojo.md, Integrity findings)."""

import re
from pathlib import Path

import pytest

from agon.disciplines.dojo.fingerprints import structure_hash
from disciplines.dojo.reading import read

SOLVERS = sorted(Path(__file__).with_name("solvers").rglob("*.py.txt"))


def same(one: str, other: str) -> bool:
    """Compare the structure of two sources."""
    return structure_hash(read(one)) == structure_hash(read(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(n): return n", "def g(x): return x"),
        ("x = 1\ny = x", "a = 1\nb = a"),
        ("def f():\n 'doc'\n return 1", "def f():\n    # why\n\n    return (1)"),
        ("def f(n: int) -> int: return n", "def f(n): return n"),
        ("x: int = 1", "y: 'long' = 1"),
        ("x = 0x10", "x = 1_6"),
        ("import math\nmath.pi", "import math as m\nm.pi"),
        ("from math import comb\ncomb(2, 1)", "from math import comb as c\nc(2, 1)"),
        ("[i for i in y]", "[j for j in y]"),
        ("[i for i in y]\n[i for i in z]", "[i for i in y]\n[j for j in z]"),
        ("def f(i): return i\ndef g(i): return i", "def f(i): return i\ndef g(k): return k"),
        ("x = 1\n[x for x in x]", "x = 1\n[y for y in x]"),
        ("x = 1\ndef f():\n x = 2\n return x", "x = 1\ndef f():\n y = 2\n return y"),
        ("def f(a, b=1): return a\nf(a=2)", "def g(x, y=1): return x\ng(x=2)"),
        ("f = lambda *a, k=1, **d: (a, k, d)", "g = lambda *x, y=1, **z: (x, y, z)"),
        ("def f():\n global s\n s = 1\nprint(s)", "def g():\n global t\n t = 1\nprint(t)"),
        (
            "def f():\n a = 1\n def g():\n  nonlocal a\n  a = 2\n return a",
            "def f():\n b = 1\n def h():\n  nonlocal b\n  b = 2\n return b",
        ),
        ("[(y := i) for i in z]\ny", "[(w := k) for k in z]\nw"),
        ("try: f()\nexcept Exception as e: e", "try: f()\nexcept Exception as x: x"),
        ("match z:\n case [a, *b]: a, b", "match z:\n case [c, *d]: c, d"),
        ("match z:\n case {'k': a, **r}: a, r", "match z:\n case {'k': c, **s}: c, s"),
        ("class A:\n x = 1\n def f(self): return 1", "class B:\n y = 1\n def g(this): return 1"),
        ("f'{(lambda x: x)(1)}'", "f'{(lambda y: y)(1)}'"),
    ],
)
def test_renamed_copies_collide(one: str, other: str) -> None:
    """Anyone who renames a variable, even in one function only, has not written another program."""
    assert same(one, other)


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b): return a - b", "def f(a, b): return b - a"),
        ("x = 1", "x = 1.0"),
        ("x = True", "x = 1"),
        ("x = 'a'", "x = b'a'"),
        ("x = [y, z]", "x = (y, z)"),
        ("x = [[y], z]", "x = [[y, z]]"),
        ("len(x)", "sum(x)"),
        ("x.a", "x.b"),
        ("import math", "import sympy"),
        ("print(a=1)", "print(b=1)"),
        ("x = 1\ndef f(): return x", "x = 1\ndef f(x): return x"),
        ("def f():\n x = 1\n return x", "def f():\n global x\n x = 1\n return x"),
        ("class A:\n x = 1\n def f(s): return x", "class A:\n x = 1\n def f(x): return x"),
        ("if a:\n b()\nc()", "if a:\n b()\n c()"),
        ("f(*a)", "f(**a)"),
        ("lambda a, *, b: 1", "lambda a, b: 1"),
        ("x = 'name 1'", "x = name"),
    ],
)
def test_different_programs_differ(one: str, other: str) -> None:
    """An accusation needs the same steps, not only the same shape."""
    assert not same(one, other)


def test_the_example_solvers_all_differ() -> None:
    """Programs written independently must not look like copies."""
    assert len({structure_hash(read(path.read_bytes())) for path in SOLVERS}) == len(SOLVERS)


@pytest.mark.sample(30)
@pytest.mark.parametrize("path", SOLVERS, ids=lambda path: path.name.removesuffix(".py.txt"))
def test_a_solver_with_renamed_variables_keeps_its_hash(path: Path) -> None:
    """Copies of real programs are detected, not only of small ones."""
    source = path.read_text()
    own = sorted(set(re.findall(r"\b([a-z]) (?:=|in)\b", source)) - {"t"})
    renamed = source
    for name in own:
        renamed = re.sub(rf"(?<!['\w.]){name}(?!['\w])", f"{name}_renamed", renamed)
    assert same(source, f'"""Mine."""\n\n# entirely\n{renamed}')


def test_huge_integers_and_odd_texts_have_a_hash() -> None:
    """Hostile literals must not end in a traceback."""
    assert not same("x = 0x1" + "0" * 9_000, "x = 0x1" + "0" * 9_001)
    assert not same("x = '\\ud800'", "x = '\\ud801'")
    assert same("x = '\\n'", "x = '''\n'''")


def test_deep_programs_have_a_hash() -> None:
    """Depth is the attacker's choice and must not end in a traceback."""
    assert same("x = " + "-" * 290 + "1", "y = " + "-" * 290 + "1")
