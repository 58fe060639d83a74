"""Create invalid programs: random bytes, and correct programs with a change."""

import ast
import copy
import random
from collections.abc import Iterator

CORRECT = (
    """
def solver():
    a, b, terms = 1, 1, []
    for _ in range(20):
        terms.append(a)
        a, b = b, a + b
    return terms
""",
    """
from math import comb
def solver():
    return [comb(2 * n, n) // (n + 1) for n in range(20)]
""",
    """
from itertools import accumulate, count, islice
from operator import mul
def solver():
    return list(islice(accumulate(count(1), mul), 20))
""",
    """
from fractions import Fraction
def solver():
    x, terms = Fraction(1, 2), []
    while len(terms) < 20:
        x = 1 / (1 + x)
        terms.append(x.denominator)
    return terms
""",
    """
class Sieve:
    def __init__(self, n):
        self.flags = bytearray(b"1") * n
    def primes(self):
        for p, flag in enumerate(self.flags):
            if p > 1 and flag:
                yield p
                self.flags[p * p::p] = bytes(len(range(p * p, len(self.flags), p)))
def solver():
    return [*Sieve(100).primes()][:20]
""",
    """
def solver(memo={}):
    def f(n):
        if n not in memo:
            try:
                memo[n] = n if n < 2 else f(n - f(n - 2)) % 7 + 1
            except (RecursionError, ValueError) as error:
                memo[n] = len(str(error))
        return memo[n]
    return [f(n) for n in range(20)]
""",
)
_TOKENS = (
    *("def", "solver", "(", ")", ":", "return", "[", "]", "{", "}", "lambda", "for", "in", "if"),
    *("else", "while", "1", "0", "999999999", "1e9", "'x'", "\n", "\n    ", "\n        ", ",", "="),
    *(
        "+",
        "*",
        "**",
        "//",
        "%",
        "-",
        "not",
        "None",
        "True",
        "self",
        "yield",
        "await",
        "async",
        "class",
    ),
    *(
        "class",
        "import",
        "from",
        "sys",
        "os",
        "gc",
        "__builtins__",
        "print",
        "range",
        "sum",
        "@",
        ".",
    ),
    *(
        "del",
        "global",
        "raise",
        "try",
        "except",
        "finally",
        "with",
        "as",
        "match",
        "case",
        "_",
        ".",
    ),
)


def random_bytes(dice: random.Random) -> bytes:
    """Throw bytes, or tokens of Python."""
    if dice.random() < 0.5:
        return dice.randbytes(dice.randrange(200))
    return " ".join(dice.choices(_TOKENS, k=dice.randrange(60))).encode()


def mutants(dice: random.Random) -> Iterator[bytes]:
    """Change one to three places of a correct program, for ever, never twice to the same."""
    seen = set()
    while True:
        tree = ast.parse(dice.choice(CORRECT))
        for _ in range(dice.randint(1, 3)):
            _mutate(tree, dice)
        try:
            source = ast.unparse(ast.fix_missing_locations(tree)).encode()
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue  # a tree that no text has
        if source not in seen:
            seen.add(source)
            yield source


def _mutate(tree: ast.AST, dice: random.Random) -> None:
    """Put another node of the tree, another constant or nothing in place of one node."""
    places = [
        (node, name, at)
        for node in ast.walk(tree)
        for name, value in ast.iter_fields(node)
        for at in (range(len(value)) if isinstance(value, list) else (None,))
        if isinstance(value, ast.AST | list)
    ]
    if not places:
        return
    node, name, at = dice.choice(places)
    value = getattr(node, name)
    old = value if at is None else value[at]
    others = [one for one in ast.walk(tree) if type(one).__mro__[1] is type(old).__mro__[1]] or [
        old
    ]
    constant = ast.Constant(dice.choice([0, -1, 2, 10**30, 0.5, "", b"", True, None, ...]))
    copied = copy.deepcopy(dice.choice(others))  # a node in two places would make a ring
    new = constant if isinstance(old, ast.expr) and dice.random() < 0.3 else copied
    if at is None:
        setattr(node, name, new)
    elif dice.random() < 0.2:
        del value[at]
    else:
        value[at] = new
