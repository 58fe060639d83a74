"""The modules that programs can import: those the sandbox has loaded before it closes all files."""

from typing import Final, Literal, get_args

Module = Literal[
    "sympy",
    "math",
    "fractions",
    "itertools",
    "functools",
    "collections",
    "heapq",
    "bisect",
    "operator",
    "typing",
    "dataclasses",
    "decimal",
    "string",
    "random",
    "__future__",
]
"""A module that the rule ``allowed_modules`` can name. ``random`` has one seed in all runs."""

MODULES: Final[tuple[Module, ...]] = get_args(Module)
SEED_MODULES: Final[tuple[Module, ...]] = ("sympy", "math", "fractions", "itertools")

SYMPY_MISSING: Final = (
    *("benchmarks", "conftest", "crypto", "diffgeom", "galgebra", "liealgebras", "sandbox"),
    *("testing", "this", "unify"),
    *("physics.biomechanics", "physics.continuum_mechanics", "physics.hep", "physics.hydrogen"),
    *("physics.mechanics", "physics.optics", "physics.paulialgebra", "physics.pring"),
    *("physics.qho_1d", "physics.quantum", "physics.secondquant", "physics.sho"),
    *("physics.vector", "physics.wigner"),
    *("parsing.ast_parser", "parsing.autolev", "parsing.c", "parsing.fortran", "parsing.latex"),
    *("parsing.mathematica", "parsing.maxima", "parsing.sym_expr"),
    *("printing.aesaracode", "printing.c", "printing.cxx", "printing.fortran"),
    *("printing.llvmjitcode", "printing.pytorch", "printing.rust", "printing.tensorflow"),
    *("printing.theanocode", "codegen.algorithms", "codegen.approximations", "codegen.cfunctions"),
    *("codegen.cnodes", "codegen.cutils", "codegen.cxxnodes", "codegen.fnodes", "codegen.futils"),
    *("codegen.matrix_nodes", "codegen.numpy_nodes", "codegen.pyutils", "codegen.rewriting"),
    *("codegen.scipy_nodes", "utilities.autowrap", "utilities.codegen"),
    *("utilities.matchpy_connector", "utilities.pytest", "utilities.randtest"),
    *("utilities.runtests", "utilities.tmpfiles"),
)
"""Parts of sympy that the sandbox does not load, with all they contain: nothing in them computes
terms. A test compares them with what it loads."""


def missing_of_sympy(module: str) -> str | None:
    """Return the missing part of sympy that a module is or belongs to; None: it is there.

    Example:
        >>> missing_of_sympy("sympy.crypto.crypto"), missing_of_sympy("sympy.ntheory")
        ('sympy.crypto', None)
    """
    package, _, rest = module.partition(".")
    if package != "sympy":
        return None
    parts = rest.split(".")
    leading = {".".join(parts[:count]) for count in (1, 2)}
    return next((f"sympy.{name}" for name in SYMPY_MISSING if name in leading), None)
