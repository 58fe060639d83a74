"""Require that the query parameters of a request exist."""

from collections.abc import Iterable
from typing import Any, Final

from fastapi.dependencies.models import Dependant
from pydantic import BaseModel
from starlette.requests import Request

from agon.errors import Unreadable, did_you_mean

_MAX_SHOWN: Final = 80


def require_known_query(request: Request) -> None:
    """Require that an operation has all query parameters of a request.

    Raises:
        Unreadable: with the closest known name.
    """
    route: Any = request.scope.get("route")
    name = getattr(route, "unique_id", "")
    if name not in _KNOWN:
        _KNOWN[name] = _query_parameters(getattr(route, "dependant", None))
    known = _KNOWN[name]
    if known is None:
        return
    require_known(request.query_params, known)


def require_known(names: Iterable[str], known: frozenset[str]) -> None:
    """Require that query parameters are known ones of an operation.

    Raises:
        Unreadable: with the closest known name.
    """
    for name in names:
        if name not in known:
            remedy = did_you_mean(name[:_MAX_SHOWN], known) if known else "remove it"
            raise Unreadable(f"there is no query parameter {name[:_MAX_SHOWN]!r}; {remedy}")


_KNOWN: Final[dict[str, frozenset[str] | None]] = {}
"""Query parameters of routes, by the route's name; filled on first use."""


def _query_parameters(dependant: Dependant | None) -> frozenset[str] | None:
    """Return a route's query parameters; None if a model validates them."""
    if dependant is None:
        return None
    names: set[str] = set()
    for dependency in _all(dependant):
        for field in dependency.query_params:
            kind: Any = field.field_info.annotation
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                return None
            names.add(field.alias)
    return frozenset(names)


def _all(dependant: Dependant) -> list[Dependant]:
    return [dependant, *(dependency for sub in dependant.dependencies for dependency in _all(sub))]
