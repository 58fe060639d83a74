"""Walk the routes of the API with the action each declares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agon.http.operations import Authorization

OPEN = frozenset({"/healthz", "/readyz", "/api/openapi.json"})
"""Addresses that need no action: they tell nothing of contests or people."""


@dataclass(frozen=True)
class Route:
    """Hold one route: method, template, and the actions its dependencies declare."""

    method: str
    template: str
    actions: tuple[str, ...]

    def path(self, **values: str) -> str:
        """Return an address of the route."""
        return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "x1"), self.template)


def routes(app: Any) -> list[Route]:
    """List all routes of an application but those in :data:`OPEN`.

    A route that FastAPI does not document comes before the documented one of its path and names
    the same action.
    """
    found = [
        Route(method, route.path, tuple(_actions(route)))
        for route in _all(app.routes)
        for method in sorted(getattr(route, "methods", None) or ())
        if method != "HEAD" and route.path not in OPEN and route.include_in_schema
    ]
    documented = {route.template: route.actions for route in found if route.method == "GET"}
    for route in _all(app.routes):
        if not route.include_in_schema and route.path not in OPEN:
            assert documented[route.path] == (route.endpoint.action,)
    return sorted(found, key=lambda one: (one.template, one.method))


def _all(listed: Any) -> Iterator[Any]:
    for route in listed:
        if hasattr(route, "path"):
            yield route
        elif hasattr(route, "original_router"):
            yield from _all(route.original_router.routes)


def _actions(route: Any) -> Iterator[str]:
    for dependency in _dependencies(route.dependant):
        if isinstance(dependency.call, Authorization):
            yield str(dependency.call.operation.permission)


def _dependencies(dependant: Any) -> Iterator[Any]:
    for one in dependant.dependencies:
        yield one
        yield from _dependencies(one)
