"""Import PySpark's client."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importable() -> Iterator[None]:
    """Let PySpark be imported: without a warning, and from a program that is not a file.

    It takes such programs (``python -c``) for its own tests, and ends the process.
    """
    program = sys.modules["__main__"]
    is_file = hasattr(program, "__file__")
    if not is_file:
        program.__file__ = ""
    try:
        with warnings.catch_warnings():  # its functions for pandas are not used
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        if not is_file:
            del program.__file__
