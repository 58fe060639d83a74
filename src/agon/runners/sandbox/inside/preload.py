"""Load the modules that programs may import, including those that are loaded on first use.

Once the isolation is complete, no module can be read any more.
"""

import importlib
import pkgutil
import sys

MODULES = (
    *("math", "fractions", "itertools", "functools", "collections", "collections.abc", "heapq"),
    *("bisect", "operator", "typing", "dataclasses", "decimal", "string", "__future__"),
)
"""Those of each zygote; one with sympy has ``random`` as well, which sympy uses."""
_FOR_SYNTAX_AND_TEXT = ("unicodedata", "encodings.ascii", "encodings.latin_1", "encodings.utf_16")
_SYMPY_PACKAGES = (
    *("algebras", "assumptions", "calculus", "combinatorics", "concrete", "discrete", "functions"),
    *("geometry", "holonomic", "integrals", "logic", "matrices", "ntheory", "polys", "series"),
    *("sets", "simplify", "solvers", "stats", "tensor", "vector"),
)
_LAZY_SYMPY_MODULES = (
    # Imported inside functions of the packages above.
    *("sympy.categories", "sympy.codegen.ast", "sympy.codegen.pynodes", "sympy.physics.matrices"),
    *("sympy.physics.control", "sympy.physics.units.util", "sympy.printing.pycode"),
)
_EXCLUDED = frozenset({"tests", "benchmarks", "sampling"})


def load(*, sympy: bool, random_seed: int) -> str:
    """Import the modules, seed sympy's random generator and return sympy's version, if loaded."""
    for name in (*MODULES, *_FOR_SYNTAX_AND_TEXT):
        importlib.import_module(name)
    if not sympy:
        return ""
    module = importlib.import_module("sympy")
    for part in _SYMPY_PACKAGES:
        _load_all(f"sympy.{part}")
    for name in _LAZY_SYMPY_MODULES:
        importlib.import_module(name)
    importlib.import_module("sympy.core.random").seed(random_seed)
    return f"sympy={module.__version__}"


def _load_all(package: str) -> None:
    paths = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(paths, f"{package}."):
        skipped = module.name.endswith("_doc") or _EXCLUDED & set(module.name.split("."))
        if not skipped and module.name not in sys.modules:
            importlib.import_module(module.name)
