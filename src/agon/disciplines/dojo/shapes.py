"""Recognise small shapes in a syntax tree: sums of earlier terms, products of table entries.

Nothing here recurses: how deep a program is nested is its author's choice.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

_ENTRIES_OF_A_PRODUCT: Final = 3

Test = Callable[[ast.AST], bool]


def is_linear(expression: ast.AST, is_state: Test) -> bool:
    """Return whether an expression is a linear combination that really contains the state.

    Remainders by something without state pass: a recurrence modulo m is one all the same.
    """
    holding = _holders(expression, is_state)

    def contains(node: ast.AST) -> bool:
        return id(node) in holding

    if not contains(expression) or is_state(expression):
        return False
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if is_state(node) or not contains(node):
            continue
        parts = _summands(node, contains, is_state)
        if parts is None:
            return False
        waiting += parts
    return True


def _holders(expression: ast.AST, is_state: Test) -> set[int]:
    """Return the ids of an expression's nodes that contain state; each is visited once."""
    parents: dict[int, ast.AST] = {}
    holding: set[int] = set()
    for node in ast.walk(expression):
        parents |= {id(child): node for child in ast.iter_child_nodes(node)}
        holder: ast.AST | None = node if is_state(node) else None
        while holder is not None and id(holder) not in holding:
            holding.add(id(holder))
            holder = parents.get(id(holder))
    return holding


def _summands(node: ast.AST, contains: Test, is_state: Test) -> Sequence[ast.AST] | None:
    """Return the parts of a node that must be linear for it to be linear; None if it cannot be."""
    parts: Sequence[ast.AST] | None = None
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            parts = [left, right]
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            parts = None if contains(left) and contains(right) else [left, right]
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            parts = None if contains(right) else [left]
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.Tuple(elts=elements):
            parts = elements
        case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp(elt=term) as terms]):
            if contains(term):
                parts = [term]
            elif sum(map(is_state, ast.walk(terms))) == 1:
                parts = []
        case ast.Call(func=ast.Name(id="sum"), args=[argument]):
            parts = [argument]
    return parts


def growth(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Return name and value where a list gets a new entry: append, ``+= [value]`` or ``[i] =``."""
    match node:
        case (
            ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value])
            | ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.List(elts=[value]))
        ):
            return name, value
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
            return name, value
    return None


def is_entry(node: ast.AST, name: str) -> bool:
    """Return whether a node reads list entries at an index that is not read from the list."""
    match node:
        case ast.Subscript(value=ast.Name(id=read), slice=place):
            return read == name and not reads_list(name, place)
    return False


def reads_list(name: str, expression: ast.AST) -> bool:
    """Return whether an expression reads an entry of the named list."""
    return any(
        isinstance(each, ast.Subscript) and names(each.value) == {name}
        for each in ast.walk(expression)
    )


def is_product(node: ast.AST, *, named: bool) -> bool:
    """Return whether a node multiplies an entry of a table, or two names where those are pairs."""
    match node:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Mult(), right=ast.Name(id=right)):
            return named and left != right
        case ast.BinOp(left=ast.Subscript() as one, op=ast.Mult(), right=ast.Subscript() as other):
            return _is_table_entry(one) or _is_table_entry(other)
    return False


def _is_table_entry(entry: ast.Subscript) -> bool:
    return isinstance(entry.value, ast.Subscript) or isinstance(entry.slice, ast.Tuple)


def is_unrolled_product(display: ast.Tuple | ast.List) -> bool:
    """Return whether a display spells out entries like ``a * e + b * g``."""
    sums = 0
    for node in inside(display):
        match node:
            case ast.BinOp(
                left=ast.BinOp(op=ast.Mult()), op=ast.Add(), right=ast.BinOp(op=ast.Mult())
            ):
                sums += 1
    return sums >= _ENTRIES_OF_A_PRODUCT


def is_scaling(node: ast.AST) -> bool:
    """Return whether a node multiplies by a number written out."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
    return False


def is_count(node: ast.AST) -> bool:
    """Return whether a node counts: ``n += 1`` or by another number written out."""
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.value, ast.Constant)
    )


def called_name(node: ast.AST) -> str | None:
    """Return the bare name a node calls, or None."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
    return None


def names(node: ast.AST) -> set[str]:
    """Collect the names in an expression."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through everything below a node."""
    return (each for each in ast.walk(node) if each is not node)


def own_nodes(loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """Walk through a loop's body up to the loops in it, which are yielded but not entered."""
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.For | ast.While):
            waiting.extend(ast.iter_child_nodes(node))


def is_read_before_written(loop: ast.For | ast.While) -> bool:
    """Return whether a loop reads a name on an earlier line than the one that assigns it.

    Then the name brings its value from the last round: ``out.append(a)`` … ``a = b``.
    """
    first_read: dict[str, int] = {}
    first_write: dict[str, int] = {}
    for node in own_nodes(loop):
        if isinstance(node, ast.Name):
            seen = first_write if isinstance(node.ctx, ast.Store) else first_read
            seen[node.id] = min(node.lineno, seen.get(node.id, node.lineno))
    return any(line < first_write.get(name, 0) for name, line in first_read.items())
