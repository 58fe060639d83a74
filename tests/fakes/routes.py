"""Iterate over the routes of the API with the action each declares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agon.http.operations import Authorization

OPEN = frozenset({"/healthz", "/readyz", "/api/openapi.json"})
"""Paths that need no action: they reveal nothing about contests or participants."""


@dataclass(frozen=True)
class Route:
    """A route: method, template and the actions that its dependencies declare."""

    method: str
    template: str
    actions: tuple[str, ...]

    def path(self, **values: str) -> str:
        """Return a URL path of the route."""
        return re.sub(r"\{(\w+)\}", lambda routes_: values.get(routes_[1], "x1"), self.template)


def routes(app: Any) -> list[Route]:
    """List all routes of the API but those in :data:`OPEN`."""
    routes_ = [
        Route(method, route.path, tuple(_actions(route)))
        for route in _all(app.routes)
        for method in sorted(getattr(route, "methods", None) or ())
        if method != "HEAD" and route.path not in OPEN and route.include_in_schema
    ]
    return sorted(routes_, key=lambda dependency: (dependency.template, dependency.method))


def _all(routes_: Any) -> Iterator[Any]:
    for route in routes_:
        if hasattr(route, "path"):
            yield route
        elif hasattr(route, "original_router"):
            yield from _all(route.original_router.routes)


def _actions(route: Any) -> Iterator[str]:
    for dependency in _dependencies(route.dependant):
        if isinstance(dependency.call, Authorization):
            yield str(dependency.call.operation.permission)


def _dependencies(dependant: Any) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency
        yield from _dependencies(dependency)
