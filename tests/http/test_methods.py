"""HEAD requests and bodies without a content type."""

import pytest

from fakes.instance import Instance

BOARD = "/api/v1/contests/spring/boards/user-score"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "path",
    [
        "/healthz",
        "/api/v1/contests",
        "/api/v1/contests/spring",
        BOARD,
        f"{BOARD}?format=csv",
        "/api/v1/contests/none",
        "/api/v1/contests?limit=0",
    ],
)
def test_head_has_the_status_and_headers_of_get(instance: Instance, path: str) -> None:
    """Monitors and caches ask with HEAD."""
    instance.contest()
    responses = [
        instance.client.request(method, path, headers=instance.as_("operator"))
        for method in ("GET", "HEAD")
    ]
    for response in responses:
        for name in ("x-request-id", "ratelimit-remaining", "ratelimit-reset"):
            response.headers.pop(name, None)
    got, head = responses
    assert (head.status_code, head.content) == (got.status_code, b"")
    if got.status_code < 400:  # errors contain the id of the request
        assert dict(head.headers) == dict(got.headers)


def test_a_stream_of_events_ends_after_the_headers_of_head(instance: Instance) -> None:
    """A GET request for it ends only when the client leaves."""
    instance.contest()
    headers = {**instance.as_("operator"), "accept": "text/event-stream"}
    response = instance.client.head("/api/v1/contests/spring/events", headers=headers)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")


def test_head_is_rejected_where_get_is(instance: Instance) -> None:
    """It executes nothing."""
    response = instance.client.head("/api/v1/contests/spring/freeze")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "fact"),
    [
        (None, "the body has no content type"),
        ("text/plain", "the body has the content type 'text/plain'"),
        (
            "application/x-www-form-urlencoded",
            "the body has the content type 'application/x-www-form-urlencoded'",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/contests", "/contests/spring/records"])
def test_the_missing_content_type_is_named(
    instance: Instance, path: str, kind: str | None, fact: str
) -> None:
    """Otherwise every field of the body would be reported as wrong."""
    instance.contest()
    headers = {} if kind is None else {"content-type": kind}
    response = instance.post(path, "organiser", content=b'{"id":"x1"}', headers=headers)
    assert (response.status_code, response.json()["code"]) == (415, "unsupported-media-type")
    assert response.json()["detail"].startswith(f"{fact}; send the header Content-Type: appl")


def test_json_of_any_kind_is_read(instance: Instance) -> None:
    """A type that ends in +json, and parameters, are JSON as well."""
    body = b'{"id":"x1","discipline":"community","title":"X"}'
    headers = {"content-type": "application/vnd.agon+json; charset=utf-8"}
    response = instance.post("/contests", "organiser", content=body, headers=headers)
    assert response.status_code == 201
