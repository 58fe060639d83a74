"""Recognize small shapes in a syntax tree: sums of earlier terms, products of table entries.

Nothing here recurses and nothing walks through a subtree for each of its nodes: how deep and how
long a program is depends on its author. What a subtree has is looked up in :class:`Subtrees`.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from agon.disciplines.dojo.subtrees import Marks, Subtrees

ENTRIES_OF_A_PRODUCT: Final = 3
"""Entries like ``a * e + b * g`` from which a display is a product written out."""


def is_linear(expression: ast.AST, states: Marks, subtrees: Subtrees) -> bool:
    """Return whether an expression is a linear combination that really contains the state.

    Remainders by something without state pass: a recurrence modulo m is one all the same.

    Args:
        expression: the expression.
        states: the marks of the state in the program.
        subtrees: the program's.
    """
    inside = set(subtrees.within(states, expression))
    if not inside or subtrees.number(expression) in inside:
        return False
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if subtrees.number(node) in inside or not subtrees.has(states, node):
            continue
        parts = _summands(node, states, subtrees)
        if parts is None:
            return False
        waiting += parts
    return True


def linear_nodes(states: Marks, subtrees: Subtrees) -> set[int]:
    """Return the numbers of all nodes for which :func:`is_linear` holds, each decided once."""
    holding = subtrees.above(states, below=ast.stmt)
    linear = set(states)
    for number in sorted(holding.difference(linear), reverse=True):
        parts = _summands(subtrees.nodes[number], states, subtrees)
        if parts is not None and all(
            subtrees.number(part) in linear or not subtrees.has(states, part) for part in parts
        ):
            linear.add(number)
    return linear.difference(states)


def _summands(node: ast.AST, states: Marks, subtrees: Subtrees) -> Sequence[ast.AST] | None:
    """Return the parts of a node that must be linear for it to be linear; None if it cannot be."""
    parts: Sequence[ast.AST] | None = None
    match node:
        case ast.BinOp():
            parts = _operands(node, states, subtrees)
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.Tuple(elts=elements):
            parts = elements
        case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp(elt=term) as terms]):
            if subtrees.has(states, term):
                parts = [term]
            elif subtrees.count(states, terms) == 1:
                parts = []
        case ast.Call(func=ast.Name(id="sum"), args=[argument]):
            parts = [argument]
    return parts


def _operands(node: ast.BinOp, states: Marks, subtrees: Subtrees) -> Sequence[ast.AST] | None:
    right = subtrees.has(states, node.right)
    match node.op:
        case ast.Add() | ast.Sub():
            return [node.left, node.right]
        case ast.Mult() if not (right and subtrees.has(states, node.left)):
            return [node.left, node.right]
        case ast.Mod() if not right:
            return [node.left]
    return None


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


def is_product(node: ast.AST, *, named: bool) -> bool:
    """Return whether a node multiplies an entry of a table, or two names where those are pairs."""
    match node:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Mult(), right=ast.Name(id=right)):
            return named and left != right
        case ast.BinOp(left=ast.Subscript() as left, op=ast.Mult(), right=ast.Subscript() as right):
            return _is_table_entry(left) or _is_table_entry(right)
    return False


def _is_table_entry(entry: ast.Subscript) -> bool:
    return isinstance(entry.value, ast.Subscript) or isinstance(entry.slice, ast.Tuple)


def is_sum_of_products(node: ast.AST) -> bool:
    """Return whether a node adds two products, as an entry of a matrix product does."""
    match node:
        case ast.BinOp(left=ast.BinOp(op=ast.Mult()), op=ast.Add(), right=ast.BinOp(op=ast.Mult())):
            return True
    return False


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
