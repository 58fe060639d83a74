"""Fingerprint programs independently of names (``dojo.md``, Integrity findings).

Two programs with one structure hash do the same steps in the same order; only names, annotations,
docstrings, comments and layout may differ. The hash is for comparing programs that were read
by the same Python version, not for storage.
"""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from agon.disciplines.dojo.facts import PROGRAMS_KEPT, read_source
from agon.disciplines.dojo.program import ParsedProgram, Violation

_SKIPPED_FIELDS: Final = frozenset({"ctx", "kind", "type_comment", "type_params", "type_ignores"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class _Scope:
    """Collect the names one scope binds and uses while the tree is walked."""

    parent: "_Scope | None"
    kind: str
    inner: list["_Scope"] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    module: "_Scope" = field(init=False)
    target: "_Scope" = field(init=False)
    """The scope that ``:=`` binds in: the nearest that is not a comprehension."""

    def __post_init__(self) -> None:
        self.module = self.target = self
        if self.parent is not None:
            self.parent.inner.append(self)
            self.module = self.parent.module
            self.target = self.parent.target if self.kind == "comprehension" else self

    def homes(self) -> dict[str, "_Scope"]:
        """Return the names this scope itself resolves, and the scopes whose variables they are."""
        own = dict.fromkeys(self.bound - self.nonlocal_names, self)
        return own | dict.fromkeys(self.global_names, self.module)


def _homes(module: _Scope) -> dict[tuple[_Scope, str], _Scope]:
    """Return for each name used in a scope the scope whose variable it is; builtins have none.

    One walk over the scopes, with a stack for each name of the scopes that bind it: the innermost
    binds it for the scopes inside, unless that is a class, which binds for itself alone.
    """
    homes: dict[tuple[_Scope, str], _Scope] = {}
    binding: dict[str, list[_Scope]] = defaultdict(list)
    waiting: list[tuple[_Scope, dict[str, _Scope] | None]] = [(module, None)]
    while waiting:
        scope, left = waiting.pop()
        # The scope was left after all scopes inside it: its names end here.
        if left is not None:
            for name in left:
                binding[name].pop()
            continue
        own = scope.homes()
        for name in scope.used:
            home = own.get(name) or next(reversed(binding[name]), None)
            if home is not None:
                homes[scope, name] = home
        # Functions in a class body do not see its variables, only what it declares global.
        if scope.kind == "class":
            own = dict.fromkeys(scope.global_names, module)
        for name, home in own.items():
            binding[name].append(home)
        # Last in, first out: this entry comes up again when everything inside is done.
        waiting.append((scope, own))
        waiting.extend((inner, None) for inner in scope.inner)
    return homes


@dataclass(frozen=True)
class _Variable:
    """A placeholder for the name of a variable."""

    name: str


@dataclass(frozen=True)
class _Keyword:
    """Mark the keyword of a call; when the program itself defines the function, a free name."""

    name: str | None
    function: str | None


_Item = tuple[object, _Scope]


@lru_cache(maxsize=PROGRAMS_KEPT)
def structure_of(source: str, *, max_bytes: int, max_depth: int) -> str | None:
    """Return the structure hash of a recorded source, None for one that cannot be read."""
    program = read_source(source, max_bytes=max_bytes, max_depth=max_depth)
    return None if isinstance(program, Violation) else structure_hash(program)


def structure_hash(program: ParsedProgram) -> str:
    r"""Hash the syntax tree after renaming every own name in order of appearance.

    Names are distinguished by scope, so that it does not matter how often a name is used again
    elsewhere. Names that a program does not define (builtins, attributes, modules) are unchanged.

    Returns:
        SHA-256 in hex.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> def of(source):
        ...     return structure_hash(parse(source, max_bytes=1000, max_depth=100))
        >>> of(b"def f(n): return n * 2") == of(b"def g(x):\n  'twice'\n  return x * 2  # !")
        True
        >>> of(b"def f(n): return n * 2") == of(b"def f(n): return n * 3")
        False
    """
    numbers: dict[tuple[_Scope, str], int] = {}
    digest = hashlib.sha256()
    module = _Scope(None, "module")
    items = list(_items(program.tree, module))  # the scopes are complete only after the walk
    homes = _homes(module)
    for value, scope in items:
        match value:
            case _Variable(name=name):
                home = homes.get((scope, name))
                number = numbers.setdefault((home, name), len(numbers)) if home else None
                word = f"name {name!r}" if number is None else f"variable {number}"
            case _Keyword(name=name, function=function):
                own = function is not None and (scope, function) in homes
                word = "keyword" if own and name is not None else f"keyword {name!r}"
            case _:
                word = str(value)
        digest.update(word.encode() + b"\n")
    return digest.hexdigest()


def _items(tree: ast.Module, module: _Scope) -> Iterator[_Item]:
    """Write the tree as a sequence that can be read back; a loop, since depth is the author's."""
    stack: list[_Item] = [(tree, module)]
    while stack:
        value, scope = stack.pop()
        match value:
            case ast.AST():
                parts = list(_parts(value, scope))
                yield f"{type(value).__name__} {len(parts)}", scope
                stack.extend(reversed(parts))
            case list():
                yield f"list {len(value)}", scope
                stack.extend((each, scope) for each in reversed(value))
            case _Variable(name=name) | _Keyword(function=str(name)):
                scope.used.add(name)
                yield value, scope
            case _Keyword():
                yield value, scope
            case int() if not isinstance(value, bool):
                yield f"int {value:x}", scope  # decimal digits are limited, hexadecimal are not
            case _:
                yield f"{type(value).__name__} {value!r}", scope


def _parts(node: ast.AST, scope: _Scope) -> Iterator[_Item]:
    """Yield what a node consists of, each with its scope, and note the names it binds."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _function(node, scope)
        case ast.ClassDef():
            yield from [(node.decorator_list, scope), (node.bases, scope), (node.keywords, scope)]
            yield _bind(node.name, scope), scope
            yield _without_docstring(node.body), _Scope(scope, "class")
        case ast.Module():
            yield _without_docstring(node.body), scope
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, scope)
        case ast.NamedExpr(target=target, value=value):
            yield value, scope
            yield _bind(target.id, scope.target), scope
        case ast.AnnAssign(target=target, value=value):
            yield from [(target, scope), (value, scope)]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            name = function.id if isinstance(function, ast.Name) else None
            yield from [(function, scope), (arguments, scope)]
            yield [_Keyword(each.arg, name) for each in keywords], scope
            yield [each.value for each in keywords], scope
        case _:
            yield from _simple_parts(node, scope)


def _simple_parts(node: ast.AST, scope: _Scope) -> Iterator[_Item]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield _Variable(name), scope
        case ast.Name(id=name):
            yield _bind(name, scope), scope
        case ast.alias(name=name, asname=asname):
            yield name, scope
            yield _bind(asname or name.partition(".")[0], scope), scope
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            if isinstance(node, ast.Global):
                scope.global_names.update(names)
                scope.module.bound.update(names)
            else:
                scope.nonlocal_names.update(names)
            yield [_Variable(name) for name in names], scope
        case _:
            for name, value in ast.iter_fields(node):
                if name in _SKIPPED_FIELDS:
                    continue
                # Handlers and patterns bind with a bare string.
                binds = name in {"name", "rest"} and isinstance(value, str)
                yield (_bind(value, scope) if binds else value), scope


def _function(node: _Function, scope: _Scope) -> Iterator[_Item]:
    """Yield a function: defaults and decorators belong outside, names and body inside."""
    if not isinstance(node, ast.Lambda):
        yield node.decorator_list, scope
        yield _bind(node.name, scope), scope
    inner = _Scope(scope, "function")
    arguments = node.args
    yield from [(arguments.defaults, scope), (arguments.kw_defaults, scope)]
    for group in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        yield [_bind(each.arg, inner) for each in group], inner
    for star in (arguments.vararg, arguments.kwarg):
        yield (_bind(star.arg, inner) if star else None), inner
    yield (node.body if isinstance(node, ast.Lambda) else _without_docstring(node.body)), inner


def _comprehension(node: _Comprehension, scope: _Scope) -> Iterator[_Item]:
    """Yield a comprehension: its first iterable belongs outside, the rest inside."""
    inner = _Scope(scope, "comprehension")
    for number, each in enumerate(node.generators):
        yield each.iter, inner if number else scope
        yield from [(each.target, inner), (each.ifs, inner), (each.is_async, inner)]
    if isinstance(node, ast.DictComp):
        yield from [(node.key, inner), (node.value, inner)]
    else:
        yield node.elt, inner


def _bind(name: str, scope: _Scope) -> _Variable:
    scope.bound.add(name)
    return _Variable(name)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body
