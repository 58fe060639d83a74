"""Record ids with any characters work in all URLs."""

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from agon.api.addresses import fill, segment
from agon.api.models.boards import RowQuery
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.client import Api, Client
from agon.client.local import Local
from agon.errors import NotFound
from agon.http.addresses import AddressMiddleware, path_parameters
from agon.http.openapi import document
from agon.http.pages import link
from agon.http.process import server
from fakes.instance import Instance, instance_at
from fakes.service import OPERATOR, ORGANISER
from sizes import ALL, sample, size

BOARD = "user-score"
IDS = [
    "a/b", "a//b", "/", "/a/", "a%2Fb", "%", "%2", "100%25", "<b>", "a?b=c", "a#b", "..", ".",
    "...", "../../x", "a b", " a", "a ", "a\nb", "\r\n", "\x01", "\x7f", "\x85", "é", "e\u0301",
    "名前", "😀", "~", "a.b", "a\\b", "a:b@c", "a;b", "a&b", "a+b", '"', "'", "{id}", "rows",
    "unscored", "-x", "--help", "\u202e", "\ufeff", "x" * 500, "é" * 250, "a/rows/b",
    "u0/history/u1",
]  # fmt: skip


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance whose contest has a participant of each id."""
    new_instance = instance_at(tmp_path_factory.mktemp("addresses"))
    new_instance.contest("spring", people=1)
    rows = [("users", {"id": name, "affiliation": "org"}, None) for name in IDS]
    record(new_instance.service, "spring", rows, by=ORGANISER)
    publish(new_instance.service, "spring")
    yield new_instance
    new_instance.close()


@pytest.fixture(scope="module")
def server_url(instance: Instance) -> Iterator[str]:
    """Serve the instance as ``agon serve`` does, on a real port; return the URL."""
    serving = server(instance.service, instance.app.state.serving.settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serving.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        serving.should_exit = True
        thread.join()


CLIENTS = ("local", "in process", "real server")


@pytest.fixture(params=CLIENTS)
def api(request: pytest.FixtureRequest, instance: Instance) -> Iterator[Api]:
    """Return both clients, the remote one in process and connected to a real server."""
    if request.param == "local":
        yield Local(instance.service, by=OPERATOR)
        return
    real = request.param == "real server"
    url = request.getfixturevalue("server_url") if real else "http://testserver"
    transport: Any = None if real else instance.client._transport
    with Client(url, token=instance.tokens["operator"], transport=transport) as client:
        yield client


def paths_with(api: Api, name: str) -> list[Callable[[], bool]]:
    """Return calls for each path with a record's id; each returns whether it is about this id."""
    return [
        lambda: api.boards.row("spring", BOARD, name, RowQuery()).rows[0]["id"] == name,
        lambda: json.loads(api.boards.get_proof("spring", BOARD, name).line)["id"] == name,
        lambda: api.boards.get_explanation("spring", BOARD, name).id == name,
        lambda: bool(list(api.boards.get_history("spring", BOARD, name))),
        lambda: api.snapshots.participant("spring", name).id == name,
        lambda: name in {row["id"] for row in api.boards.page("spring", around=name).rows},
    ]


@pytest.mark.exhaustive
def test_an_id_with_any_characters_works_in_every_path(
    request: pytest.FixtureRequest, api: Api
) -> None:
    """Rows, proofs, explanations, histories and participants have ids in their paths.

    In `make test` each client tries a third of the paths with each id, so that the three together
    try every path with every id.
    """
    part = CLIENTS.index(request.node.callspec.params["api"])
    for number, name in enumerate(IDS):
        for path, call in enumerate(paths_with(api, name)):
            if ALL or (number + path) % len(CLIENTS) == part:
                assert call(), (name, path)


@pytest.mark.sample(2)
def test_a_similar_id_is_not_found(api: Api) -> None:
    """An id must not match another one after a second percent-decoding."""
    for name in ("a%252Fb", "a", "%25", "u%30", "u1", "a%2fb", "rows/a", "\u00e9/../u0"):
        with pytest.raises(NotFound):
            api.boards.row("spring", "user-score", name, RowQuery())


def test_the_link_of_the_next_page_has_the_path_of_the_request() -> None:
    """The link has the same percent-encoding as the request."""
    path = f"/api/v1/contests/spring/boards/user-score/history/{segment('a/b%')}"
    scope = {"type": "http", "raw_path": path.encode(), "path": "/elsewhere",
             "query_string": b"limit=1", "headers": []}  # fmt: skip
    assert link(Request(scope), next="x") == f'<{path}?limit=1&cursor=x>; rel="next"'


@settings(max_examples=size(100))
@given(st.text(min_size=1).filter(lambda text: text.isprintable() or "/" in text))
def test_encoding_and_decoding_a_path_segment_returns_the_same_text(name: str) -> None:
    """The encoded text is one segment, also after the server has decoded the path."""
    name = name.encode("utf-8", "replace").decode()
    path = fill("/boards/{board}/rows/{id}", {"board": "b", "id": name})
    assert path.count("/") == 4
    scope = {"type": "http", "raw_path": path.encode(), "path": unquote(path)}
    paths: list[Any] = []

    async def app(scope: Any, *_: Any) -> None:
        paths.append(scope["path"])

    asyncio.run(AddressMiddleware(app)(scope, None, None))  # type: ignore[arg-type]  # not used
    routed = paths[0].split("/")
    assert len(routed) == 5
    assert path_parameters({"path_params": {"id": routed[-1]}}) == {"id": name}


def _templates(path: str, described: dict[str, Any]) -> list[str]:
    """Return the other path templates that match a URL of this path."""
    address = re.sub(r"\{\w+\}", "x-1", path)
    patterns = {
        template: re.sub(r"\{\w+\}", "[^/]+", template)
        for template in described
        if template != path
    }
    return [template for template, pattern in patterns.items() if re.fullmatch(pattern, address)]


def test_a_405_response_lists_the_methods_of_the_openapi_document(instance: Instance) -> None:
    """``Allow`` covers all routes of a path, not only one."""
    described = json.loads(document())["paths"]
    for path in sample([*described]):
        methods = described[path]
        expected = {method.upper() for method in methods} - {"PARAMETERS"}
        expected |= {"HEAD"} if "GET" in expected else set()
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"} - expected:
            address = re.sub(r"\{\w+\}", "x-1", path)
            response = instance.client.request(method, address, headers=instance.as_("operator"))
            routed = "get" if method == "HEAD" else method.lower()
            if any(routed in described[template] for template in _templates(path, described)):
                continue  # a contest may be called import
            assert response.status_code == 405, (method, path)
            allowed = response.headers["allow"].split(", ")
            assert set(allowed) == expected, (method, path)
            assert len(allowed) == len(expected)
    assert response.headers.get_list("allow") == [", ".join(sorted(expected))]
