"""All operations of the API."""

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from agon.api import operations
from agon.api.operation import Operation


@lru_cache
def all_operations() -> tuple[Operation[Any, Any], ...]:
    """Return all operations, in the order of their nouns and of their declarations."""
    collected = []
    for info in iter_modules(operations.__path__):
        module = import_module(f"{operations.__name__}.{info.name}")
        collected += operations_of(module)
    return tuple(collected)


def operations_of(module: object) -> list[Operation[Any, Any]]:
    """Return the operations that a module declares."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, Operation) and value.function.__module__ == vars(module)["__name__"]
    ]
