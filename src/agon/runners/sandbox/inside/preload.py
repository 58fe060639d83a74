"""Load what programs may import, including what would be loaded only when it is used.

Once the isolation is complete, no module can be read any more.
"""

import importlib
import pkgutil
import sys

MODULES = ("math", "fractions", "itertools")
_FOR_SYNTAX_AND_TEXT = ("unicodedata", "encodings.ascii", "encodings.latin_1", "encodings.utf_16")
_PARTS_OF_SYMPY = (
    *("algebras", "assumptions", "calculus", "combinatorics", "concrete", "discrete", "functions"),
    *("geometry", "holonomic", "integrals", "logic", "matrices", "ntheory", "polys", "series"),
    *("sets", "simplify", "solvers", "stats", "tensor", "vector"),
)
_USED_BY_THOSE = (
    # Imported inside functions of the parts above.
    *("sympy.categories", "sympy.codegen.ast", "sympy.codegen.pynodes", "sympy.physics.matrices"),
    *("sympy.physics.control", "sympy.physics.units.util", "sympy.printing.pycode"),
)
_LEFT_OUT = frozenset({"tests", "benchmarks", "sampling"})


def load(*, sympy: bool, random_seed: int) -> str:
    """Import it and say the versions; random generators start from the given seed."""
    for name in (*MODULES, *_FOR_SYNTAX_AND_TEXT):
        importlib.import_module(name)
    if not sympy:
        return ""
    module = importlib.import_module("sympy")
    for part in _PARTS_OF_SYMPY:
        _load_all(f"sympy.{part}")
    for name in _USED_BY_THOSE:
        importlib.import_module(name)
    importlib.import_module("sympy.core.random").seed(random_seed)
    return f"sympy={module.__version__}"


def _load_all(package: str) -> None:
    paths = importlib.import_module(package).__path__
    for found in pkgutil.walk_packages(paths, f"{package}."):
        skipped = found.name.endswith("_doc") or _LEFT_OUT & set(found.name.split("."))
        if not skipped and found.name not in sys.modules:
            importlib.import_module(found.name)
