"""Answer what lies below a node of a syntax tree, without walking through it again.

Nodes are numbered parents first, so everything below a node has the numbers from its own to its
:meth:`Subtrees.end`. Nodes of one kind are kept as their sorted numbers, *marks*; whether a subtree
has one, or how many, is then a search in a sorted list.
"""

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

Marks = Sequence[int]
"""Sorted numbers of nodes."""


class Subtrees:
    """The subtrees of a program.

    Args:
        nodes: every node, parents before children, in source order.
        depths: the depth of each.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> program = parse(b"f(a + b)", max_bytes=100, max_depth=50)
        >>> subtrees = Subtrees(program.nodes, program.depths)
        >>> names = subtrees.marks(lambda node: isinstance(node, ast.Name))
        >>> subtrees.count(names, program.tree.body[0].value.args[0])
        2
    """

    def __init__(self, nodes: Sequence[ast.AST], depths: Sequence[int]) -> None:
        self.nodes = nodes
        self._numbers = {id(node): number for number, node in enumerate(nodes)}
        self._parents, self._ends = _shape(depths)

    def number(self, node: ast.AST) -> int:
        """Return the number of a node; operators and contexts, which are shared, have none."""
        return self._numbers[id(node)]

    def end(self, node: ast.AST) -> int:
        """Return the number that follows those of everything below a node."""
        return self._ends[self._numbers[id(node)]]

    def parent(self, number: int) -> int:
        """Return the number of a node's parent; -1 of the root."""
        return self._parents[number]

    def count(self, marks: Marks, node: ast.AST) -> int:
        """Return how many marks are a node or below it."""
        # Nodes are numbered in pre-order: a subtree is a run of numbers, marks are sorted.
        number = self._numbers[id(node)]
        return bisect_left(marks, self._ends[number]) - bisect_left(marks, number)

    def has(self, marks: Marks, node: ast.AST) -> bool:
        """Return whether a mark is a node or below it."""
        number = self._numbers[id(node)]
        index = bisect_left(marks, number)
        return index < len(marks) and marks[index] < self._ends[number]

    def marks(self, test: Callable[[ast.AST], bool]) -> Marks:
        """Return the marks of the nodes that pass a test."""
        return [number for number, node in enumerate(self.nodes) if test(node)]

    def marks_by(self, key: Callable[[ast.AST], str | None]) -> dict[str, list[int]]:
        """Return the marks of the nodes that have a key, by the key."""
        marks: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if (name := key(node)) is not None:
                marks[name].append(number)
        return marks

    def within(self, marks: Marks, node: ast.AST) -> Marks:
        """Return the marks that are a node or below it."""
        number = self._numbers[id(node)]
        return marks[bisect_left(marks, number) : bisect_left(marks, self._ends[number])]

    def above(self, marks: Marks, *, below: type[ast.AST]) -> set[int]:
        """Return the marks and everything between them and the next node of a type above them."""
        seen: set[int] = set()
        for mark in marks:
            number = mark
            # A node that was seen has led to its ancestors already: each is visited once.
            while number not in seen and not isinstance(self.nodes[number], below):
                seen.add(number)
                number = self._parents[number]
        return seen

    @cached_property
    def reads(self) -> dict[str, list[int]]:
        """Return the marks of subscripts by the only name in what they subscript."""
        only = self._only_names()

        def name(node: ast.AST) -> str | None:
            return only[self.number(node.value)] if isinstance(node, ast.Subscript) else None

        reads = self.marks_by(name)
        reads.pop("", None)  # several names: which one is read is not known
        return reads

    @cached_property
    def entries(self) -> dict[str, list[int]]:
        """Return the marks of list entries at an index not read from that list, by its name."""

        def name(node: ast.AST) -> str | None:
            match node:
                case ast.Subscript(value=ast.Name(id=read), slice=place):
                    return None if self.has(self.reads[read], place) else read
            return None

        return self.marks_by(name)

    def _only_names(self) -> list[str | None]:
        """Return the only name at or below each node: None where none is, "" where several."""
        only: list[str | None] = [
            node.id if isinstance(node, ast.Name) else None for node in self.nodes
        ]
        for number in range(len(only) - 1, 0, -1):
            name, parent = only[number], self._parents[number]
            if name is not None and name != only[parent]:
                only[parent] = name if only[parent] is None else ""
        return only


def _shape(depths: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return of each node its parent and the number after everything below it."""
    parents, ends = [-1] * len(depths), [len(depths)] * len(depths)
    path: list[int] = []
    for number, depth in enumerate(depths):
        while len(path) > depth:
            ends[path.pop()] = number
        if path:
            parents[number] = path[-1]
        path.append(number)
    return parents, ends
