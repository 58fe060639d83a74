"""Ids of records work in all addresses, whatever characters they have."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from agon.api.addresses import filled, segment
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
    opened = instance_at(tmp_path_factory.mktemp("addresses"))
    opened.contest("spring", people=1)
    rows = [("users", {"id": name, "affiliation": "org"}, None) for name in IDS]
    record(opened.service, "spring", rows, by=ORGANISER)
    publish(opened.service, "spring")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def served(instance: Instance) -> Iterator[str]:
    """Serve it as ``agon serve`` does, on a real port; return the address."""
    serving = server(instance.service, instance.app.state.serving.settings)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serving.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        serving.should_exit = True
        thread.join()


@pytest.fixture(params=["local", "in process", "real server"])
def api(request: pytest.FixtureRequest, instance: Instance) -> Iterator[Api]:
    """Return both clients, the remote one also at a real server."""
    if request.param == "local":
        yield Local(instance.service, by=OPERATOR)
        return
    real = request.param == "real server"
    url = request.getfixturevalue("served") if real else "http://testserver"
    transport: Any = None if real else instance.client._transport
    with Client(url, token=instance.tokens["operator"], transport=transport) as client:
        yield client


def test_an_id_is_found_under_every_address(api: Api) -> None:
    """Row, proof, explanation, history and participant; both clients."""
    for name in IDS:
        assert api.boards.row("spring", "user-score", name, RowQuery()).rows[0]["id"] == name
        proof = api.boards.get_proof("spring", "user-score", name)
        assert json.loads(proof.line)["id"] == name
        assert api.boards.get_explanation("spring", "user-score", name).id == name
        assert list(api.boards.get_history("spring", "user-score", name))
        assert api.snapshots.participant("spring", name).id == name
        assert name in {row["id"] for row in api.boards.page("spring", around=name).rows}


def test_another_id_is_not_found(api: Api) -> None:
    """No id is taken for another that looks like it once more decoded."""
    for name in ("a%252Fb", "a", "%25", "u%30", "u1", "a%2fb", "rows/a", "\u00e9/../u0"):
        with pytest.raises(NotFound):
            api.boards.row("spring", "user-score", name, RowQuery())


def test_the_next_page_has_the_address_that_was_requested() -> None:
    """The link is encoded as the request was."""
    path = f"/api/v1/contests/spring/boards/user-score/history/{segment('a/b%')}"
    scope = {"type": "http", "raw_path": path.encode(), "path": "/elsewhere",
             "query_string": b"limit=1", "headers": []}  # fmt: skip
    assert link(Request(scope), next="x") == f'<{path}?limit=1&cursor=x>; rel="next"'


@given(st.text(min_size=1).filter(lambda text: text.isprintable() or "/" in text))
def test_segments_are_read_as_they_were_written(name: str) -> None:
    """Encoding, a server's path and decoding give the text again; and one segment."""
    name = name.encode("utf-8", "replace").decode()
    sent = filled("/boards/{board}/rows/{id}", {"board": "b", "id": name})
    assert sent.count("/") == 4
    scope = {"type": "http", "raw_path": sent.encode(), "path": unquote(sent)}
    found: list[Any] = []

    async def app(scope: Any, *_: Any) -> None:
        found.append(scope["path"])

    asyncio.run(AddressMiddleware(app)(scope, None, None))  # type: ignore[arg-type]  # not used
    routed = found[0].split("/")
    assert len(routed) == 5
    assert path_parameters({"path_params": {"id": routed[-1]}}) == {"id": name}


def _templates(path: str, described: dict[str, Any]) -> list[str]:
    """Return the other paths that an address of a path could be one of."""
    address = re.sub(r"\{\w+\}", "x-1", path)
    patterns = {other: re.sub(r"\{\w+\}", "[^/]+", other) for other in described if other != path}
    return [other for other, pattern in patterns.items() if re.fullmatch(pattern, address)]


def test_405_lists_the_methods_that_the_description_lists(instance: Instance) -> None:
    """``Allow`` is about the address, not about one of its routes."""
    described = json.loads(document())["paths"]
    for path, methods in described.items():
        expected = {method.upper() for method in methods} - {"PARAMETERS"}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"} - expected:
            address = re.sub(r"\{\w+\}", "x-1", path)
            response = instance.client.request(method, address, headers=instance.as_("operator"))
            if any(method.lower() in described[other] for other in _templates(path, described)):
                continue  # a contest may be called import
            assert response.status_code == 405, (method, path)
            allowed = response.headers["allow"].split(", ")
            assert set(allowed) == expected, (method, path)
            assert len(allowed) == len(expected)
    assert response.headers.get_list("allow") == [", ".join(sorted(expected))]
