"""CORS: pages of the origins that a setting names may call the API."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.instance import Instance, instance_at

SITE = "https://site.example"
PREFLIGHT = {
    "origin": SITE,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,idempotency-key",
}
PATH = "/api/v1/contests"


@pytest.fixture
def open_to_site(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance that pages of one other origin may call."""
    instance = instance_at(tmp_path, cors_origins=(SITE,))
    yield instance
    instance.close()


def test_no_origin_is_allowed_by_default(instance: Instance) -> None:
    """A browser then keeps every response from pages of other origins."""
    response = instance.client.get(PATH, headers={"origin": SITE})
    assert not [name for name in response.headers if name.startswith("access-control")]
    assert instance.client.options(PATH, headers=PREFLIGHT).status_code == 405


def test_pages_of_the_origin_may_send_tokens_and_read_headers(open_to_site: Instance) -> None:
    """A preflight request has no token; the request after it has."""
    preflight = open_to_site.client.options(PATH, headers=PREFLIGHT)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == SITE
    headers = {"origin": SITE, **open_to_site.as_("organiser")}
    response = open_to_site.client.get(PATH, headers=headers)
    assert response.headers["access-control-allow-origin"] == SITE
    assert "ETag" in response.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in response.headers


def test_pages_can_read_errors(open_to_site: Instance) -> None:
    """A page shows the remedy; without the header, its browser reports a network error."""
    headers = {"origin": SITE, "authorization": "Bearer wrong"}
    response = open_to_site.client.get(PATH, headers=headers)
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (401, SITE)


def test_other_origins_are_not_allowed(open_to_site: Instance) -> None:
    """This includes origins that begin with an allowed one."""
    other = {"origin": f"{SITE}.attacker.example"}
    assert "access-control-allow-origin" not in open_to_site.client.get(PATH, headers=other).headers
    assert open_to_site.client.options(PATH, headers=PREFLIGHT | other).status_code == 400
