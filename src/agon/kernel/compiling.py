"""Run a function by the interpreter for small inputs, compiled for large ones."""

from collections.abc import Callable
from functools import cache
from typing import Any

COMPILED_FROM = 200_000
"""Number of matches from which loading compiled code (0.3 s) saves time (0.5 to 1.3 µs a match)."""

ARRAYS_COMPILED_FROM = 2_000_000
"""Number of rows from which it saves time where arrays are the alternative (20 to 100 ns a row)."""


@cache
def compile_loop(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over numbers and arrays; cache the machine code on disk.

    The compiler neither reorders nor fuses floating-point operations (no ``fastmath``) and uses
    ``exp`` of the same C library as the interpreter, so that both return the same bits. numba is
    imported here, so that small inputs do not wait for it (about 0.3 s).
    """
    from numba import njit

    return njit(cache=True, nogil=True)(function)
