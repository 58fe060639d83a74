"""Request bodies: anonymous ones cost next to nothing, and single JSON values are bounded."""

import gzip
import tracemalloc
from typing import Any

import pytest

from agon.http.bodies import BULK_PATHS, MAX_ANONYMOUS_BYTES, MAX_VALUE_BYTES, MAX_VALUES
from fakes.instance import Instance
from fakes.routes import routes

JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
FORMS = "/api/v1/users"


def pieces(content: bytes) -> Any:
    """Yield a body in chunks, so that the request has no content length."""
    for start in range(0, len(content), 1 << 16):
        yield content[start : start + (1 << 16)]


@pytest.mark.parametrize("sized", [True, False], ids=["with its length", "in pieces"])
def test_a_long_anonymous_body_is_not_read(instance: Instance, sized: bool) -> None:  # noqa: FBT001 (a case)
    """Sixty megabytes of brackets used 1.6 gigabytes as lists before authentication failed."""
    content = b"[" + b"[]," * (2 << 20) + b"[]]"
    tracemalloc.start()
    try:
        body = content if sized else pieces(content)
        response = instance.client.post(FORMS, content=body, headers=JSON)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert peak < 4 * len(content)


def test_a_short_anonymous_body_is_rejected_like_an_empty_one(instance: Instance) -> None:
    """Only the length changes how a body is read, and the error is the same."""
    body = b'{"id":"' + b"a" * (MAX_ANONYMOUS_BYTES - 100) + b'"}'
    response = instance.client.post(FORMS, content=body, headers=JSON)
    assert response.status_code == 401
    assert "user.manage needs a token" in response.json()["detail"]


def test_a_json_body_is_bounded_in_bytes_and_values(instance: Instance) -> None:
    """A parsed JSON value takes many times the memory of its text."""
    headers = {**instance.as_("viewer"), **JSON}
    for content in (b'"' + b"x" * MAX_VALUE_BYTES + b'"', b"[" + b"[]," * MAX_VALUES + b"[]]"):
        response = instance.client.post(FORMS, content=content, headers=headers)
        assert (response.status_code, response.json()["code"]) == (413, "body-too-large")
        response = instance.client.post(FORMS, content=pieces(content), headers=headers)
        assert (response.status_code, response.json()["code"]) == (413, "body-too-large")


@pytest.mark.exhaustive
def test_a_bulk_body_may_be_large_but_each_record_is_bounded(instance: Instance) -> None:
    """NDJSON is spooled and read line by line; a single JSON value is not."""
    instance.contest("spring", people=0)
    path, staff = "/api/v1/contests/spring/records", instance.as_("organiser")
    line = b'{"table":"users","row":{"id":"u%d","affiliation":"' + b"x" * 900 + b'"}}\n'
    content = b"".join(line % n for n in range(MAX_VALUE_BYTES // 900))
    assert len(content) > MAX_VALUE_BYTES
    response = instance.client.post(path, content=content, headers={**staff, **NDJSON})
    assert response.status_code == 201, response.text
    large = b'{"table":"users","row":{"id":"' + b"x" * MAX_VALUE_BYTES + b'"}}'
    response = instance.client.post(path, content=large, headers={**staff, **JSON})
    assert response.status_code == 413


def test_the_number_of_empty_lines_is_bounded(instance: Instance) -> None:
    """Sixty megabytes of empty lines blocked all writers for a minute."""
    instance.contest("spring", people=0)
    path, headers = "/api/v1/contests/spring/records", {**instance.as_("organiser"), **NDJSON}
    few = b'{"table":"users","row":{"id":"ada"}}\n' + b"\n" * 1000
    assert instance.client.post(path, content=few, headers=headers).status_code == 201
    response = instance.client.post(path, content=b"\n" * (3 << 20), headers=headers)
    assert (response.status_code, response.json()["code"]) == (413, "body-too-large")


def test_every_bulk_path_belongs_to_exactly_one_post_route(instance: Instance) -> None:
    """A renamed route must keep its limit, and an old path must not raise the limit of another."""
    posted = [path.template for path in routes(instance.app) if path.method == "POST"]
    ends = {end: [path for path in posted if path.endswith(end)] for end in BULK_PATHS}
    assert {end: len(paths) for end, paths in ends.items()} == dict.fromkeys(BULK_PATHS, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip"])
@pytest.mark.parametrize("path", ["/api/v1/contests/spring/records", "/sign-in"])
def test_a_compressed_body_is_rejected_and_not_expanded(
    instance: Instance, path: str, encoding: str
) -> None:
    """Ten megabytes can hold ten gigabytes of zeros; a page says so like the API."""
    body = gzip.compress(bytes(16 << 20))
    headers = {**instance.as_("organiser"), "content-encoding": encoding, "accept": "text/html"}
    tracemalloc.start()
    try:
        response = instance.client.post(path, content=body, headers=headers)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert response.status_code == 415
    assert "is not supported; send it plain" in response.text
    assert peak < 8 << 20


def test_a_body_with_two_lengths_is_rejected(instance: Instance) -> None:
    """A proxy that uses the other length would read the rest as another client's request."""
    headers = {**JSON, "content-length": "5", "transfer-encoding": "chunked"}
    response = instance.client.post(
        FORMS, content=b"{}", headers={**instance.as_("operator"), **headers}
    )
    assert (response.status_code, response.json()["code"]) == (400, "bad-request")
    assert response.headers["connection"] == "close"
