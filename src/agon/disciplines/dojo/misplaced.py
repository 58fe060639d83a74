"""Report statements that parse and that the compiler rejects: ``return`` outside a function.

The sandbox compiles; the compiler is not used here, because hostile source can make its work grow
exponentially (``finally`` is compiled twice, at each depth). Names are checked by :mod:`symtable`,
which is linear.
"""

import ast
import symtable
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from agon.disciplines.dojo.program import CORRECT_SYNTAX, ParsedProgram, Violation

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class _Place(NamedTuple):
    """What surrounds a node."""

    function: bool = False
    is_async: bool = False
    loop: bool = False


def find_misplaced(program: ParsedProgram) -> list[Violation]:
    r"""Return what the compiler rejects in a program that parses; names only where nothing else is.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> find_misplaced(parse(b"x = 1\nreturn x", max_bytes=100, max_depth=50))[0].what
        "not Python: 'return' outside function"
    """
    violations = [
        Violation(*program.place(node), f"not Python: {what}", CORRECT_SYNTAX, "syntax_error")
        for node, what in _outside(program.tree)
    ]
    return violations or _names(program)


def _outside(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield statements that are outside what they belong to, without recursion."""
    stack: list[tuple[ast.AST, _Place]] = [(tree, _Place())]
    while stack:
        node, place = stack.pop()
        what = _fault(node, place)
        if what is not None:
            yield node, what
        for name, value in ast.iter_fields(node):
            inside = _inside(node, name, place)
            children = value if isinstance(value, list) else [value]
            stack.extend((child, inside) for child in children if isinstance(child, ast.AST))


def _fault(node: ast.AST, place: _Place) -> str | None:
    match node:
        case ast.Return() | ast.Yield() | ast.YieldFrom() if not place.function:
            return f"'{'return' if isinstance(node, ast.Return) else 'yield'}' outside function"
        case ast.Await() | ast.AsyncFor() | ast.AsyncWith() if not place.is_async:
            return "'await' or 'async' outside async function"
        case ast.Break() | ast.Continue() if not place.loop:
            return f"'{'break' if isinstance(node, ast.Break) else 'continue'}' outside loop"
    return None


def _inside(node: ast.AST, field: str, place: _Place) -> _Place:
    """Return what surrounds the children of a node in one of its fields."""
    if isinstance(node, _FUNCTIONS) and field == "body":
        return _Place(function=True, is_async=isinstance(node, ast.AsyncFunctionDef))
    if isinstance(node, ast.ClassDef) and field == "body":
        return _Place()
    if isinstance(node, _LOOPS) and field == "body":
        return place._replace(loop=True)
    return place


def _names(program: ParsedProgram) -> list[Violation]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(program.source.decode(), "program", "exec")
    except SyntaxError as wrong:
        line, column = max(wrong.lineno or 0, 0), max(wrong.offset or 0, 0)
        return [Violation(line, column, f"not Python: {wrong.msg}", CORRECT_SYNTAX, "syntax_error")]
    except (RecursionError, MemoryError):
        return []  # left to the compiler in the sandbox
    return []
