"""Guess from its shape which method a program uses (document 002, 6.1 and 6.3).

The guess is coarse and never a score by itself: findings quote it, and the rule ``tag_conflict``
may ignore a declared tag that it strongly contradicts. The tags are those of the source document's
``method_tag`` and ``loops`` for programs with a state that is not a linear recurrence; the seed
would call them ``other``.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from agon.disciplines.dojo.program import ParsedProgram
from agon.disciplines.dojo.shapes import (
    ENTRIES_OF_A_PRODUCT,
    called_name,
    growth,
    is_count,
    is_linear,
    is_product,
    is_read_before_written,
    is_scaling,
    is_sum_of_products,
    linear_nodes,
    names,
    own_nodes,
)
from agon.disciplines.dojo.subtrees import Marks, Subtrees

Tag = Literal[
    "symbolic_guess",
    "matrix_power",
    "linear_recurrence",
    "search_enum",
    "loops",
    "closed_form",
    "other",
]
Feature = Literal[
    "symbolic algebra",
    "matrix product",
    "linear recurrence",
    "search or filter",
    "recursion",
    "carried state",
    "term by index",
]

# The first tag whose feature occurs is the guess: rarer features come earlier.
_TELLING: Final[tuple[tuple[Feature, Tag], ...]] = (
    ("symbolic algebra", "symbolic_guess"),
    ("matrix product", "matrix_power"),
    ("linear recurrence", "linear_recurrence"),
    ("search or filter", "search_enum"),
    ("recursion", "loops"),
    ("carried state", "loops"),
    ("term by index", "closed_form"),
)

# A method cannot do without at least one of these. A symbolic guess made on paper leaves no trace.
_NEEDS: Final[dict[str, frozenset[Feature]]] = {
    "matrix_power": frozenset(
        {"matrix product", "linear recurrence", "recursion", "carried state", "symbolic algebra"}
    ),
    "linear_recurrence": frozenset(
        {"linear recurrence", "matrix product", "recursion", "carried state", "symbolic algebra"}
    ),
    "search_enum": frozenset({"search or filter", "recursion", "carried state"}),
    "closed_form": frozenset({"term by index", "symbolic algebra"}),
}

_SYMBOLIC: Final = frozenset({
    "Function", "Poly", "Symbol", "apart", "diff", "expand", "factor", "find_linear_recurrence",
    "fps", "interpolate", "interpolating_poly", "lambdify", "limit", "linsolve", "nsimplify",
    "nsolve", "rational_interpolate", "rsolve", "rsolve_poly", "sequence", "series", "simplify",
    "solve", "summation", "symbols", "sympify",
})  # fmt: skip
_MATRIX: Final = frozenset({"Matrix", "ImmutableMatrix", "SparseMatrix"})
_SEARCHING: Final = (
    "all", "any", "combinations", "combinations_with_replacement", "dropwhile", "filter",
    "isprime", "nextprime", "permutations", "prevprime", "prime", "primerange", "product",
    "sieve", "takewhile",
)  # fmt: skip
_CALLED: Final[dict[str, Feature]] = {
    **dict.fromkeys(_SEARCHING, "search or filter"),
    "accumulate": "carried state",
    "map": "term by index",
}
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_Seen = Iterator[tuple[Feature, ast.AST]]


@dataclass(frozen=True)
class Classification:
    """The guess and what it rests on.

    Attributes:
        tag: the method the program seems to use.
        evidence: each feature seen and the first line that shows it, in the order of the lines.
    """

    tag: Tag
    evidence: tuple[tuple[Feature, int], ...]


def classify(program: ParsedProgram) -> Classification:
    r"""Guess the method from the features of the syntax tree.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> source = b"def solver():\n  return [n * n for n in range(200)]\n"
        >>> classify(parse(source, max_bytes=1000, max_depth=100))
        Classification(tag='closed_form', evidence=(('term by index', 2),))
    """
    lines: dict[Feature, int] = {}
    for feature, node in _features(program):
        line, _ = program.place(node)
        lines[feature] = min(line, lines.get(feature, line))
    seen: list[Tag] = [tag for feature, tag in _TELLING if feature in lines]
    tag = seen[0] if seen else "other"
    return Classification(tag, tuple(sorted(lines.items(), key=lambda item: (item[1], item[0]))))


def contradicts(declared: str, classification: Classification) -> bool:
    """Return whether the program has none of the features the declared method requires.

    Only ``matrix_power``, ``linear_recurrence``, ``search_enum`` and ``closed_form`` can be
    contradicted, and never by a program in which no feature was recognized.

    Example:
        >>> contradicts("matrix_power", Classification("closed_form", (("term by index", 2),)))
        True
        >>> contradicts("linear_recurrence", Classification("loops", (("carried state", 3),)))
        False
    """
    if declared not in _NEEDS or not classification.evidence:
        return False
    return _NEEDS[declared].isdisjoint(feature for feature, _ in classification.evidence)


def _features(program: ParsedProgram) -> _Seen:
    outline = _Outline(program)
    sympy = any(_imports_sympy(node) for node in program.nodes)
    yield from _recursions(outline)
    for node in program.nodes:
        yield from _names_in(node, sympy=sympy)
        match node:
            case ast.Call(
                func=ast.Name(id="sum"), args=[ast.GeneratorExp() | ast.ListComp() as row]
            ) if outline.in_list_comprehension(node):
                yield from _row(node, row)
            case ast.For() | ast.While():
                yield from _loop(node, outline)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                yield from _comprehension(node)
            case ast.Tuple() | ast.List() if outline.is_unrolled_product(node):
                yield "matrix product", node


class _Outline:
    """What the features of single nodes depend on, collected once for a program."""

    def __init__(self, program: ParsedProgram) -> None:
        self.subtrees = Subtrees(program.nodes, program.depths)
        self._index = {name for node in program.nodes for name in _index_names(node)}

    def grows(self, statement: ast.If) -> bool:
        """Return whether anything below a condition makes a list longer or counts."""
        return self.subtrees.has(self._growths, statement)

    def has_index(self, expression: ast.AST) -> bool:
        """Return whether an expression has a name that numbers the rounds of a loop."""
        return self.subtrees.has(self._index_reads, expression)

    def is_unrolled_product(self, display: ast.Tuple | ast.List) -> bool:
        """Return whether a display spells out entries like ``a * e + b * g``."""
        return self.subtrees.count(self._sums_of_products, display) >= ENTRIES_OF_A_PRODUCT

    def in_list_comprehension(self, node: ast.AST) -> bool:
        """Return whether a node is below a list comprehension."""
        return self._in_list[self.subtrees.number(node)]

    @cached_property
    def _growths(self) -> Marks:
        return self.subtrees.marks(lambda node: growth(node) is not None or is_count(node))

    @cached_property
    def _index_reads(self) -> Marks:
        index = self._index
        return self.subtrees.marks(lambda node: isinstance(node, ast.Name) and node.id in index)

    @cached_property
    def _sums_of_products(self) -> Marks:
        return self.subtrees.marks(is_sum_of_products)

    @cached_property
    def _in_list(self) -> list[bool]:
        subtrees = self.subtrees
        inside = [False] * len(subtrees.nodes)
        for number in range(1, len(inside)):
            parent = subtrees.parent(number)
            inside[number] = inside[parent] or isinstance(subtrees.nodes[parent], ast.ListComp)
        return inside


def _imports_sympy(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=aliases):
            return any(alias.name.startswith("sympy") for alias in aliases)
        case ast.ImportFrom(module=str(module)):
            return module.startswith("sympy")
    return False


def _names_in(node: ast.AST, *, sympy: bool) -> _Seen:
    """Return the names a program uses, which distinguish the libraries' methods."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
            if sympy and name in _SYMBOLIC:
                yield "symbolic algebra", node
            elif sympy and name in _MATRIX:
                yield "matrix product", node
            elif name in _CALLED:
                yield _CALLED[name], node
        case ast.Call(func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="range"))]):
            yield "term by index", node


def _comprehension(node: _Comprehension) -> _Seen:
    filtered = any(each.ifs for each in node.generators)
    enumerates = isinstance(node, ast.SetComp) or len(node.generators) > 1
    yield ("search or filter" if filtered or enumerates else "term by index"), node


def _row(node: ast.Call, row: ast.GeneratorExp | ast.ListComp) -> _Seen:
    """Detect a row of sums of products: matrix times matrix, or matrix times vector."""
    pairs = any(called_name(each.iter) == "zip" for each in row.generators)
    if is_product(row.elt, named=pairs):
        yield "matrix product", node


def _recursions(outline: _Outline) -> _Seen:
    """Detect recursive calls, and sums of calls some steps back."""
    subtrees = outline.subtrees
    functions = subtrees.marks_by(
        lambda node: node.name if isinstance(node, ast.FunctionDef) else None
    )
    calls = subtrees.marks_by(called_name)
    for name in functions.keys() & calls.keys():
        recursive = _below(calls[name], functions[name], subtrees)
        yield from (("recursion", subtrees.nodes[call]) for call in recursive)
        states = [call for call in recursive if _steps_back(subtrees.nodes[call])]
        for number in linear_nodes(states, subtrees):
            if isinstance(node := subtrees.nodes[number], ast.BinOp):
                yield "linear recurrence", node


def _below(marks: Marks, roots: Marks, subtrees: Subtrees) -> list[int]:
    """Return the marks below any of some roots."""
    below: list[int] = []
    end = 0
    for root in roots:
        if root >= end:  # else it is below the root before it
            below += subtrees.within(marks, subtrees.nodes[root])
            end = subtrees.end(subtrees.nodes[root])
    return below


def _steps_back(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[ast.BinOp(op=ast.Sub()), *_]):
            return True
    return False


def _index_names(node: ast.AST) -> set[str]:
    """Return the names that number the rounds of a loop: its target, or what it counts up."""
    if isinstance(node, ast.For):
        return names(node.target)
    return names(node) if is_count(node) else set()


def _loop(loop: ast.For | ast.While, outline: _Outline) -> _Seen:
    if isinstance(loop, ast.While):
        yield "carried state", loop
        if [type(statement) for statement in loop.body] == [ast.AugAssign]:
            yield "search or filter", loop  # steps on until the condition is met
    if is_read_before_written(loop):
        yield "carried state", loop
    always = set(map(id, loop.body))
    for node in own_nodes(loop):
        if (grown := growth(node)) is not None:
            yield from _appended_terms(node, *grown, outline)
        else:
            yield from _statement(node, outline, always=id(node) in always)


def _appended_terms(node: ast.AST, name: str, value: ast.expr, outline: _Outline) -> _Seen:
    """Detect what is appended to a list: the loop's index, its own entries, a sum of those."""
    subtrees = outline.subtrees
    if outline.has_index(value):
        yield "term by index", node
    if subtrees.has(subtrees.reads.get(name, ()), value):
        yield "carried state", node
    if is_linear(value, subtrees.entries.get(name, ()), subtrees):
        yield "linear recurrence", node


def _statement(node: ast.AST, outline: _Outline, *, always: bool) -> _Seen:
    match node:
        case ast.If() if outline.grows(node):
            yield "search or filter", node
        case ast.AugAssign(target=ast.Subscript(), op=ast.Add(), value=value) if is_product(
            value, named=False
        ):
            yield "matrix product", node
        case ast.AugAssign():
            yield "carried state", node
        case ast.Assign(targets=[target], value=value):
            yield from _assignment(node, target, value, outline.subtrees, always=always)


def _assignment(
    node: ast.AST, target: ast.expr, value: ast.expr, subtrees: Subtrees, *, always: bool
) -> _Seen:
    """Detect a state computed from itself: ``a, b = b, a + b`` or ``x = 3 * x + 1``."""
    state = names(target)
    numbers = range(subtrees.number(value), subtrees.end(value))

    def is_state(each: ast.AST) -> bool:
        return isinstance(each, ast.Name) and each.id in state

    states = [number for number in numbers if is_state(subtrees.nodes[number])]
    if not states:
        return
    yield "carried state", node
    if isinstance(value, ast.Tuple):
        shifted = any(is_state(element) for element in value.elts)
        if (
            shifted
            and any(isinstance(element, ast.BinOp) for element in value.elts)
            and is_linear(value, states, subtrees)
        ):
            yield "linear recurrence", node
    elif (
        always
        and any(is_scaling(subtrees.nodes[number]) for number in numbers)
        and is_linear(value, states, subtrees)
    ):
        yield "linear recurrence", node
