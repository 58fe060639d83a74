"""Find the routes of a path by its segments, so that a request is compared with few patterns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from starlette.routing import BaseRoute, Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

T = TypeVar("T")


@dataclass(slots=True)
class _Node(Generic[T]):
    """The templates that begin alike: those that end here, and the next segments of the others."""

    ending: list[tuple[int, T]] = field(default_factory=list)
    literal: "dict[str, _Node[T]]" = field(default_factory=dict)
    placeholder: "_Node[T] | None" = None


class PathIndex(Generic[T]):
    """Values by templates of paths: a tree with a level for each segment.

    A segment with a placeholder, such as ``{id}`` or ``{id}.svg``, stands for any segment; whether
    a value really is the path's is for its pattern to say.

    Args:
        values: templates with their values, in order of precedence.

    Example:
        >>> index = PathIndex([("/c/new", 1), ("/c/{contest}", 2), ("/c/{contest}/rules", 3)])
        >>> index.candidates("/c/new"), index.candidates("/c/spring/rules"), index.candidates("/")
        ([1, 2], [3], [])
    """

    def __init__(self, values: Iterable[tuple[str, T]]) -> None:
        self._root: _Node[T] = _Node()
        for position, (template, value) in enumerate(values):
            node = self._root
            for segment in template.split("/"):
                if "{" in segment:
                    node.placeholder = node.placeholder or _Node()
                    node = node.placeholder
                else:
                    node = node.literal.setdefault(segment, _Node())
            node.ending.append((position, value))

    def candidates(self, path: str) -> list[T]:
        """Return the values whose templates a path may have, in order of precedence."""
        nodes = [self._root]
        for segment in path.split("/"):
            nodes = [
                following
                for node in nodes
                for following in (node.literal.get(segment), node.placeholder)
                if following is not None
            ]
        if len(nodes) == 1:
            return [value for _, value in nodes[0].ending]
        endings = (ending for node in nodes for ending in node.ending)
        return [value for _, value in sorted(endings, key=lambda ending: ending[0])]


class IndexedRoutes:
    """The middleware of a router that finds the route of a request by its path's segments.

    A router compares a request with each of its routes in order. A request without a route here
    goes on to it: one of another method, for a path that does not exist, or for a mount.

    Args:
        app: the router, which decides what is not found here.
        routes: its routes, without those for which order matters beyond their paths.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self.app = app
        self.index = PathIndex(
            (route.path, route)
            for route in routes
            if isinstance(route, Route) and ":path}" not in route.path
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request by its route, or pass it on."""
        if scope["type"] == "http":
            for route in self.index.candidates(scope["path"]):
                match, child_scope = route.matches(scope)
                if match is Match.FULL:
                    scope.update(child_scope)
                    await route.handle(scope, receive, send)
                    return
        await self.app(scope, receive, send)


def index_routes(router: Router) -> None:
    """Let a router find its routes by their segments; routes that are added later are unknown."""
    router.middleware_stack = IndexedRoutes(router.middleware_stack, router.routes)
