"""Report statically what the sandbox does not allow (``dojo.md``, Programs).

For convenience: it gives the line before a run. Isolation is enforced by the sandbox alone.
"""

import ast
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final, Literal

from agon.disciplines.dojo.modules import SEED_MODULES, missing_of_sympy
from agon.disciplines.dojo.program import ParsedProgram, Refusal, Violation

Kind = Literal["solver", "setter"]
Interface = Literal["seq", "gen"]

REFUSED_NAMES: Final = frozenset(
    {
        *("open", "eval", "exec", "compile", "__import__", "input"),
        *("globals", "locals", "vars", "breakpoint"),
        # The plain names of a module's own attributes; they refer to the same object.
        *("__builtins__", "__loader__", "__spec__"),
    }
)
ORDINARY_DUNDERS: Final = frozenset(
    f"__{name}__"
    for name in (
        # What every class and function has, and what a program defines or calls itself: the data
        # model. Not the ways to other classes, to code and to globals.
        *("init", "new", "name", "qualname", "doc", "module", "class", "dict", "annotations"),
        *("repr", "str", "format", "bytes", "hash", "bool", "eq", "ne", "lt", "le", "gt", "ge"),
        *("len", "iter", "next", "contains", "getitem", "setitem", "delitem", "missing"),
        *("reversed", "length_hint", "call", "enter", "exit", "index", "int", "float", "complex"),
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
        *("radd", "rsub", "rmul", "rmatmul", "rtruediv", "rfloordiv", "rmod", "rdivmod", "rpow"),
        *("iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow"),
        *("lshift", "rshift", "and", "or", "xor", "rlshift", "rrshift", "rand", "ror", "rxor"),
        *("ilshift", "irshift", "iand", "ior", "ixor", "neg", "pos", "abs", "invert"),
        *("round", "trunc", "floor", "ceil", "copy", "deepcopy", "wrapped", "slots"),
        *("post_init", "match_args", "getattr", "setattr", "delattr"),
    )
)
"""Double-underscore attributes that ordinary classes use."""
ATTRIBUTE_BUILTINS: Final = frozenset({"getattr", "setattr", "delattr"})
INTERFACES: Final[tuple[Interface, ...]] = ("seq", "gen")

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def scan(
    program: ParsedProgram, *, kind: Kind, modules: Collection[str] = SEED_MODULES
) -> list[Violation]:
    r"""Return everything a package of this kind may not contain, in source order.

    Refused are imports of other modules than these and their submodules, reading a name of
    :data:`REFUSED_NAMES`, dunder attributes but :data:`ORDINARY_DUNDERS`, and ``getattr``,
    ``setattr`` or ``delattr`` unless called with a plain literal name. A solver must define
    ``solver()``, a setter exactly one of ``seq(n)`` and ``gen(N)``.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> program = parse(b"import os\nsolver = lambda: []\n", max_bytes=100, max_depth=50)
        >>> print(scan(program, kind="solver")[0])
        1:1: import of os; use only sympy, math, fractions, itertools
    """
    called = {id(node.func) for node in program.nodes if isinstance(node, ast.Call)}
    violations = [
        _violation(program, node, what, remedy, "rejected_import")
        for node in program.nodes
        for what, remedy in chain(_import_refusals(node, modules), _access_refusals(node, called))
    ]
    violations += _solver_entry(program) if kind == "solver" else _setter_entry(program)
    return sorted(set(violations))


def interface(program: ParsedProgram) -> Interface | None:
    """Return the name of a setter's only function, or None when it defines none or both.

    Example:
        >>> from agon.disciplines.dojo.program import parse
        >>> interface(parse(b"def gen(N): return [0] * N", max_bytes=100, max_depth=50))
        'gen'
    """
    bound = _module_bindings(program)
    offered = [name for name in INTERFACES if name in bound]
    return offered[0] if len(offered) == 1 else None


def _import_refusals(node: ast.AST, modules: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield fact and remedy of everything wrong with an import statement."""
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _module(alias.name, modules)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            name = "." * level + (module or "")
            yield from _module(name, modules)
            for alias in aliases:
                yield from _dunder(alias.name)
                yield from _missing_part(f"{name}.{alias.name}", unless=name)


def _access_refusals(node: ast.AST, called: set[int]) -> Iterator[tuple[str, str]]:
    """Yield fact and remedy of everything wrong with a name, an attribute or a call.

    ``called`` identifies the nodes that are the function of a call: ``getattr`` there is
    judged with its arguments, anywhere else on its own.
    """
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in REFUSED_NAMES:
            remedy = "programs have no input; leave it out" if name == "input" else "leave it out"
            yield f"use of {name}", f"{remedy}, or rename your own variable"
        case ast.Name(id=name, ctx=ast.Load()) if name in ATTRIBUTE_BUILTINS:
            if id(node) not in called:
                yield f"{name} used as a value", "write object.name instead"
        case ast.Attribute(attr=name):
            yield from _dunder(name)
        case ast.MatchClass(kwd_attrs=names):
            for name in names:
                yield from _dunder(name)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in ATTRIBUTE_BUILTINS:
            yield from _attribute_call(name, arguments)


def _attribute_call(name: str, arguments: list[ast.expr]) -> Iterator[tuple[str, str]]:
    match arguments:
        case [ast.Starred(), *_]:
            pass
        case [_, ast.Constant(value=str(attribute)), *_]:
            yield from _dunder(attribute)
            return
    yield f"{name} with a name that is not a literal", "write object.name instead"


def _module(name: str, modules: Collection[str]) -> Iterator[tuple[str, str]]:
    package, *submodules = name.split(".")
    if package not in modules:
        yield f"import of {name}", f"use only {', '.join(modules)}"
    else:
        yield from _missing_part(name)
    for submodule in submodules:
        yield from _dunder(submodule)


def _missing_part(name: str, *, unless: str = "") -> Iterator[tuple[str, str]]:
    """Yield that a part of sympy is missing, unless the module that contains it is as well."""
    part = missing_of_sympy(name)
    if part is not None and missing_of_sympy(unless) is None:
        remedy = "agon dojo rules lists what of sympy is missing; use another part"
        yield f"import of {name}: the judge's sympy is without {part}", remedy


def _dunder(name: str) -> Iterator[tuple[str, str]]:
    is_dunder = len(name) > len("____") and name.startswith("__") and name.endswith("__")
    if is_dunder and name not in ORDINARY_DUNDERS:
        yield f"access to {name}", "do without double-underscore attributes"


def _solver_entry(program: ParsedProgram) -> list[Violation]:
    bound = _module_bindings(program)
    if "solver" not in bound:
        return [_missing("no solver()", "define solver() -> list[int] at the top level")]
    return _signature(program, bound["solver"], count=0, wanted="solver()")


def _setter_entry(program: ParsedProgram) -> list[Violation]:
    bound = _module_bindings(program)
    offered = [name for name in INTERFACES if name in bound]
    if not offered:
        return [_missing("neither seq(n) nor gen(N)", "define exactly one of them")]
    if len(offered) > 1:
        later = max((bound[name] for name in offered), key=program.place)
        remedy = "keep one of them and rename the other"
        return [_violation(program, later, "both seq and gen", remedy, "runtime_error")]
    wanted = "seq(n)" if offered == ["seq"] else "gen(N)"
    return _signature(program, bound[offered[0]], count=1, wanted=wanted)


def _signature(
    program: ParsedProgram, binding: ast.AST, *, count: int, wanted: str
) -> list[Violation]:
    """Check that a definition can be called with ``count`` positional arguments."""
    match binding:
        case ast.AsyncFunctionDef():
            what = f"{wanted} is async"
        case ast.FunctionDef(args=arguments) if not _accepts(arguments, count):
            what = f"{binding.name} cannot be called as {wanted}"
        case _:
            return []
    return [_violation(program, binding, what, f"define it as def {wanted}:", "runtime_error")]


def _accepts(arguments: ast.arguments, count: int) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    no_required_keyword = all(default is not None for default in arguments.kw_defaults)
    room = arguments.vararg is not None or positional >= count
    return required <= count and room and no_required_keyword


def _module_bindings(program: ParsedProgram) -> dict[str, ast.AST]:
    """Return the names bound in the module's scope, each with its last binding."""
    bound: dict[str, ast.AST] = {}
    for node in program.nodes:
        if isinstance(node, ast.Global):
            bound |= dict.fromkeys(node.names, node)
    stack: list[tuple[ast.AST, bool]] = [(program.tree, False)]
    while stack:
        node, in_comprehension = stack.pop()
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                bound[name] = node
                continue
            case ast.Lambda():
                continue
            case ast.NamedExpr(target=ast.Name(id=name)):
                bound[name] = node
            case ast.Name(id=name, ctx=ast.Store()) if not in_comprehension:
                bound[name] = node
            case ast.alias(name=name, asname=asname):
                bound[asname or name.partition(".")[0]] = node
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound[name] = node
        inside = in_comprehension or isinstance(node, _COMPREHENSIONS)
        children = list(ast.iter_child_nodes(node))
        stack.extend((child, inside) for child in reversed(children))
    return bound


def _missing(what: str, remedy: str) -> Violation:
    return Violation(0, 0, what, remedy, "runtime_error")


def _violation(
    program: ParsedProgram, node: ast.AST, what: str, remedy: str, verdict: Refusal
) -> Violation:
    line, column = program.place(node)
    return Violation(line, column, what, remedy, verdict)
