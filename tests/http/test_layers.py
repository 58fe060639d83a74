"""An API request passes the layers and routes of the API, a page those of the site."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from starlette.routing import Route

from agon.http.addresses import AddressMiddleware
from agon.http.bodies import BodyLimitMiddleware
from agon.http.middleware.auth import AuthMiddleware
from agon.http.middleware.error_pages import ErrorPagesMiddleware
from agon.http.middleware.forwarded import ForwardedMiddleware
from agon.http.middleware.head import HeadMiddleware
from agon.http.middleware.idempotency import IdempotencyMiddleware
from agon.http.middleware.logging import LoggingMiddleware
from agon.http.site import PageDataMiddleware, SiteMiddleware
from agon.web.site import site_routes
from fakes.instance import Instance, instance_at

API = [
    ("GET", "/api/v1/contests/spring", 200),
    ("GET", "/api/v1/contests/spring/boards/user-score", 200),
    ("GET", "/api/v1/contests/spring/boards/user-score/rows/u1?neighbors=1", 200),
    ("HEAD", "/api/v1/contests/spring", 200),
    ("HEAD", "/api/v1/contests/spring/freeze", 405),
    ("OPTIONS", "/api/v1/contests", 405),
    ("PUT", "/api/v1/contests/spring", 405),
    ("GET", "/api/v1/nothing", 404),
    ("GET", "/api", 404),
    ("GET", "/apis", 404),
    ("GET", "/api/v1/contests/a%2Fb/boards", 422),
    ("GET", "/api/openapi.json", 200),
    ("GET", "/healthz", 200),
    ("POST", "/api/v1/contests/spring/freeze", 401),
]
PAGES = [
    ("GET", "/c/spring", 200),
    ("GET", "/c/spring/boards/user-score.json", 200),
    ("HEAD", "/", 200),
    ("POST", "/c/spring", 405),
    ("GET", "/nothing", 404),
    ("GET", "/c/API", 404),
]
CLASSES = (
    ForwardedMiddleware, AddressMiddleware, SiteMiddleware, HeadMiddleware, ErrorPagesMiddleware,
    LoggingMiddleware, BodyLimitMiddleware, AuthMiddleware, PageDataMiddleware,
    IdempotencyMiddleware,
)  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open one instance with a contest for all requests, none of which changes anything."""
    with closing(instance_at(tmp_path_factory.mktemp("layers"))) as opened:
        opened.contest()
        yield opened


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the layers that a request passes, in order."""
    names: list[str] = []

    def note(kind: Any) -> None:
        plain = kind.__call__

        async def call(layer: Any, *arguments: Any) -> None:
            names.append(type(layer).__name__.removesuffix("Middleware"))
            await plain(layer, *arguments)

        monkeypatch.setattr(kind, "__call__", call)

    for kind in CLASSES:
        note(kind)
    return names


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("method", "path", "layers"),
    [
        ("GET", "/api/v1/contests", "Address Site Logging BodyLimit Auth Idempotency"),
        ("POST", "/api/v1/contests", "Address Site Logging BodyLimit Auth Idempotency"),
        ("HEAD", "/api/v1/contests", "Address Site Head Logging BodyLimit Auth Idempotency"),
        ("GET", "/", "Address Site ErrorPages Logging BodyLimit SiteAuth PageData"),
        ("HEAD", "/", "Address Site Head ErrorPages Logging BodyLimit SiteAuth PageData"),
    ],
)
def test_a_request_passes_only_the_layers_that_concern_it(
    instance: Instance, passed: list[str], method: str, path: str, layers: str
) -> None:
    """Five of eleven layers only passed requests of the API on."""
    instance.client.request(method, path)
    assert passed == layers.split()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the routes that requests are compared with, in order."""
    routes: list[Any] = []
    plain = Route.matches

    def matches(route: Route, scope: Any) -> Any:
        routes.append(route)
        return plain(route, scope)

    monkeypatch.setattr(Route, "matches", matches)
    return routes


@pytest.mark.sample(7)
@pytest.mark.parametrize(("method", "path", "status"), API)
def test_an_api_request_is_compared_with_no_route_of_a_page(
    instance: Instance, compared: list[Any], method: str, path: str, status: int
) -> None:
    """Two hundred patterns of pages took as long as many an operation."""
    pages = {route.path for route in site_routes(instance.service) if isinstance(route, Route)}
    response = instance.client.request(method, path)
    assert response.status_code == status
    assert compared
    assert not {route.path for route in compared} & pages
    if status >= 400 and method != "HEAD":
        assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(("method", "path", "status"), PAGES)
def test_a_page_is_compared_with_operations_only_for_its_data(
    instance: Instance, compared: list[Any], method: str, path: str, status: int
) -> None:
    """The data of a page are those of an operation, with the layers of the site."""
    operations = {route.path for route in instance.app.routes if hasattr(route, "operation_id")}
    response = instance.client.request(method, path, headers={"accept": "text/html"})
    assert response.status_code == status
    assert compared
    assert bool({route.path for route in compared} & operations) == path.endswith(".json")
    if status >= 400:
        assert response.headers["content-type"] == "text/html; charset=utf-8"
