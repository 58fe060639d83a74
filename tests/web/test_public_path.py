"""Test the service below a path of a host: behind a proxy that removes the path, and without."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock
from urllib.parse import urljoin, urlsplit

import pytest
from pydantic import ValidationError

from agon.api.models.invitations import InvitationWithCode
from agon.http.middleware.public_path import PublicLinksMiddleware, PublicPathMiddleware
from agon.settings import Settings
from agon.settings.public_url import OWN_SEGMENTS
from agon.web.site import site_routes
from fakes.instance import Instance, instance_at
from fakes.spring import spring
from sizes import ALL
from web.browser import Browser
from web.test_site import fill

PATH = "/contests/agon"
PUBLIC = f"https://site.example{PATH}"
_ADDRESS = re.compile(r'\b(?:href|src|action|formaction|data-stream)="([^"]*)"')
_STREAM = "/events"


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance below a path, with contests of two disciplines."""
    instance = instance_at(tmp_path_factory.mktemp("mounted"), public_url=PUBLIC)
    fill(instance)
    spring(instance.service)
    instance.contest("people")
    yield instance
    instance.close()


def links(body: str) -> set[str]:
    """Return the addresses in the attributes of a page."""
    return {link.replace("&amp;", "&") for link in _ADDRESS.findall(body)}


def kind(address: str) -> str:
    """Return an address without what differs among pages of a kind."""
    return re.sub(r"[0-9a-f%]{3,}|\d+|=[^&]*|people/[^/?]*|matches/[^/?]*", "", address)


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", [None, "organiser"] if ALL else [None])
def test_every_link_stays_below_the_path(mounted: Instance, role: str | None) -> None:
    """One link to the root of the host leads out of the service, to another site."""
    headers = mounted.as_(role)
    visited: set[str] = set()
    coming = [f"{PATH}/", f"{PATH}/join", f"{PATH}/sign-in"]
    while coming:
        address = coming.pop()
        if kind(address) in visited:
            continue
        visited.add(kind(address))
        response = mounted.client.get(address, headers=headers, follow_redirects=False)
        assert response.status_code in {200, 303}, (address, response.text[:200])
        stripped = mounted.client.get(
            address.removeprefix(PATH), headers=headers, follow_redirects=False
        )
        assert stripped.status_code == response.status_code, address
        if not response.headers.get("content-type", "").startswith(("text/html", "image/svg")):
            continue
        found = links(response.text)
        assert links(stripped.text) == found, address
        for link in found:
            target = urlsplit(urljoin(f"https://site.example{address}", link))
            if target.netloc == "site.example":
                assert target.path.startswith(f"{PATH}/"), (address, link)
                following = target.path + (f"?{target.query}" if target.query else "")
                is_form = f'action="{link}"' in response.text
                if not target.path.endswith(_STREAM) and not is_form:
                    coming.append(following)
    assert len(visited) > 15


def test_forms_cookies_and_redirects_stay_below_the_path(mounted: Instance) -> None:
    """Other applications of the host must not receive a session, and this one has to."""
    browser = Browser(mounted)
    response = browser.send(
        f"{PATH}/sign-in",
        {"token": mounted.tokens["organiser"], "next": "/c/league"},
        origin="https://site.example",
    )
    assert response.status_code == 303
    assert response.headers["location"] == f"{PATH}/c/league"
    assert f"; Path={PATH};" in response.headers["set-cookie"]
    assert "olga" in browser.get(f"{PATH}/account").text
    page = browser.get(f"{PATH}/c/league")
    assert f"; Path={PATH}/c/league;" in page.headers.get("set-cookie", f"; Path={PATH}/c/league;")


def test_the_api_names_its_public_addresses(mounted: Instance) -> None:
    """A client must be able to follow Location, and a generated one the description."""
    created = mounted.client.post(
        f"{PATH}/api/v1/contests",
        headers=mounted.as_("organiser"),
        json={"id": "other", "discipline": "arena", "title": "Other"},
    )
    assert created.status_code in {201, 202}, created.text
    assert created.headers["location"].startswith(f"{PATH}/api/v1/contests/other")
    description = mounted.client.get(f"{PATH}/api/openapi.json").json()
    assert description["servers"] == [{"url": PUBLIC}]
    feed = mounted.client.get(f"{PATH}/c/league/feed.xml").text
    assert f"{PUBLIC}/c/league/feed.xml" in feed
    data = mounted.client.get(f"{PATH}/c/league.json")
    assert data.json()["board"] == "bots"


def test_an_invitation_has_the_link_that_visitors_can_open(mounted: Instance) -> None:
    """The organizer may sit at the server's machine; who is invited does not."""
    response = mounted.post("/contests/league/invitations", "organiser", json={})
    invitation = InvitationWithCode.model_validate(response.json())
    assert invitation.url == f"{PUBLIC}/join#{invitation.code}"


def test_ids_with_slashes_and_percent_signs_survive_both_proxies() -> None:
    """The path is removed from the bytes that were sent, and nothing else of them changes."""
    seen: list[dict[str, Any]] = []

    async def read() -> dict[str, Any]:
        return {}

    async def ignore(_: Any) -> None:
        pass

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope)

    def at_root(raw: bytes, path: str) -> tuple[str, bytes]:
        middleware = PublicPathMiddleware(app, path="/a.b")
        run = middleware({"type": "http", "path": path, "raw_path": raw}, read, ignore)
        asyncio.run(run)
        return seen[-1]["path"], seen[-1]["raw_path"]

    for raw, path in (
        (b"/a.b/c/x%2Fy%25", "/a.b/c/x/y%"),
        (b"/%61.b/c/x%2Fy%25", "/a.b/c/x/y%"),
        (b"/c/x%2Fy%25", "/c/x/y%"),
    ):
        assert at_root(raw, path) == ("/c/x/y%", b"/c/x%2Fy%25")
    assert at_root(b"/a.b", "/a.b") == at_root(b"/a.b/", "/a.b/") == ("/", b"/")
    assert at_root(b"/a.bc", "/a.bc") == ("/a.bc", b"/a.bc")


def test_texts_that_look_like_links_are_left_alone() -> None:
    """A title or an id with a quote must not become an address."""
    middleware = PublicLinksMiddleware(None, path="/agon")  # type: ignore[arg-type]  # not called
    text = b'<p title="x href=&#34;/c">a href=&#34;/c <a href="//other" href="#x" href="/c/y">'
    assert middleware._prefix_links(text) == text.replace(b'href="/c/y"', b'href="/agon/c/y"')


def test_a_path_of_the_service_itself_is_rejected() -> None:
    """/c/… behind a proxy that removes /c could not be told from a contest's page."""
    paths = [str(vars(route)["path"]) for route in site_routes(Mock(), development=True)]
    routes = {path.split("/")[1].partition(".")[0] for path in paths} - {""}
    assert routes | {"api", "healthz", "readyz", "metrics"} == OWN_SEGMENTS
    for path in ("/c", "/api/x", "/a b", "/a/../b", "/ä", '/"'):
        with pytest.raises(ValidationError, match="write"):
            Settings(public_url=f"https://site.example{path}")
