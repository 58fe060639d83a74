"""What rules of the repository ask of a module, read in one pass: parsing takes longer than all."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Class:
    """A class: its name and the names of its bases."""

    name: str
    bases: frozenset[str]


@dataclass(frozen=True)
class Function:
    """A function: its name, the lines of its body, whether it is a property or asynchronous."""

    name: str
    lines: int
    is_property: bool
    is_async: bool


@dataclass(frozen=True)
class Import:
    """What a line imports from a module."""

    line: int
    module: str
    names: frozenset[str]


@dataclass
class Module:
    """What is in a module.

    Attributes:
        docstring: of the module.
        names: of variables, parameters, attributes, functions and classes, without underscores.
        functions: all, methods included.
        classes: all.
        imports: all that are from a module.
        texts: the lines and values of constants, except in examples of the API.
        selectors: those of them by which something is selected: compared with, assigned as a name,
            or the table or board of a call.
    """

    docstring: str
    names: set[str] = field(default_factory=set)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    selectors: list[tuple[int, str]] = field(default_factory=list)


SELECTING = frozenset(
    ("board", "newest_row", "position_of", "record_once", "records_page", "row", "rows", "table")
)
"""Functions and parameters that take the name of a table or of a board."""


def read_modules(paths: Iterable[Path]) -> dict[Path, Module]:
    """Return the modules in files."""
    return {path: _read(path) for path in sorted(paths)}


def _read(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = Module(ast.get_docstring(tree) or "")
    names = set()
    examples: set[int] = set()
    for node in ast.walk(tree):  # parents before their parts
        module.selectors += _selectors(node)
        match node:
            case ast.Constant(value=str(value)) if id(node) not in examples:
                module.texts.append((node.lineno, value))
            case ast.keyword(arg="examples", value=value):
                examples.update(map(id, ast.walk(value)))
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name):
                names.add(name)
                module.functions.append(_function(node))
            case ast.AsyncFunctionDef():
                module.functions.append(_function(node))
            case ast.ClassDef(name=name):
                names.add(name)
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                module.classes.append(Class(name, frozenset(bases)))
            case ast.ImportFrom(module=origin):
                imported = frozenset(alias.name for alias in node.names)
                module.imports.append(Import(node.lineno, origin or "", imported))
    module.names = {name.strip("_") for name in names}
    return module


def _selectors(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines and values of the constants with which a node selects something."""
    for each in _selecting(node):
        listed = each.elts if isinstance(each, ast.Tuple | ast.List | ast.Set) else [each]
        for part in listed:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.lineno, part.value.removesuffix("/")


def _selecting(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.keyword(arg=str(name), value=value) if name in SELECTING:
            return [value]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
            return arguments if name in SELECTING else []
        case ast.JoinedStr(values=[ast.Constant(value=str(text)) as first, *_]):
            return [first] if text.endswith("/") else []  # a record's key
    if isinstance(node, ast.MatchValue | ast.Assign | ast.AnnAssign) and node.value is not None:
        return [node.value] if isinstance(node.value, ast.Constant) else []
    return []


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    body = node.body[ast.get_docstring(node) is not None :]
    return Function(
        node.name,
        lines=(body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0,
        is_property=any("property" in ast.unparse(each) for each in node.decorator_list),
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )
