"""Bodies: what strangers send costs next to nothing, what is read as one value has its bounds."""

import tracemalloc
from typing import Any

import pytest

from agon.http.middleware.bodies import BULK_PATHS, MAX_ANONYMOUS_BYTES, MAX_VALUE_BYTES, MAX_VALUES
from fakes.instance import Instance
from fakes.routes import routes

JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
FORMS = "/api/v1/users"


def pieces(content: bytes) -> Any:
    """Yield a body in pieces, so that nothing tells its length beforehand."""
    for start in range(0, len(content), 1 << 16):
        yield content[start : start + (1 << 16)]


@pytest.mark.parametrize("told", [True, False], ids=["with its length", "in pieces"])
def test_a_strangers_long_body_is_not_read(instance: Instance, told: bool) -> None:  # noqa: FBT001 (a case)
    """Sixty megabytes of brackets became 1.6 gigabytes of lists before a token was asked for."""
    content = b"[" + b"[]," * (2 << 20) + b"[]]"
    tracemalloc.start()
    try:
        given = content if told else pieces(content)
        answer = instance.client.post(FORMS, content=given, headers=JSON)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert peak < 4 * len(content)


def test_a_strangers_short_body_is_refused_like_none_at_all(instance: Instance) -> None:
    """Only the length makes a difference, and not to what is said."""
    body = b'{"id":"' + b"a" * (MAX_ANONYMOUS_BYTES - 100) + b'"}'
    answer = instance.client.post(FORMS, content=body, headers=JSON)
    assert answer.status_code == 401
    assert "user.manage needs a token" in answer.json()["detail"]


def test_a_form_is_bounded_in_bytes_and_in_values(instance: Instance) -> None:
    """What is read as one value is in memory all at once, many times as large as it came."""
    headers = {**instance.as_("viewer"), **JSON}
    for content in (b'"' + b"x" * MAX_VALUE_BYTES + b'"', b"[" + b"[]," * MAX_VALUES + b"[]]"):
        answer = instance.client.post(FORMS, content=content, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
        answer = instance.client.post(FORMS, content=pieces(content), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")


def test_records_may_be_many_while_one_of_them_may_not_be_large(instance: Instance) -> None:
    """They are spooled and read line by line; a single value is not."""
    instance.contest("spring", people=0)
    path, staff = "/api/v1/contests/spring/records", instance.as_("organiser")
    line = b'{"table":"users","row":{"id":"u%d","affiliation":"' + b"x" * 900 + b'"}}\n'
    content = b"".join(line % n for n in range(MAX_VALUE_BYTES // 900))
    assert len(content) > MAX_VALUE_BYTES
    done = instance.client.post(path, content=content, headers={**staff, **NDJSON})
    assert done.status_code == 201, done.text
    large = b'{"table":"users","row":{"id":"' + b"x" * MAX_VALUE_BYTES + b'"}}'
    refused = instance.client.post(path, content=large, headers={**staff, **JSON})
    assert refused.status_code == 413


def test_lines_that_hold_nothing_are_not_read_one_by_one(instance: Instance) -> None:
    """Sixty megabytes of them kept all writers waiting for a minute."""
    instance.contest("spring", people=0)
    path, headers = "/api/v1/contests/spring/records", {**instance.as_("organiser"), **NDJSON}
    few = b'{"table":"users","row":{"id":"ada"}}\n' + b"\n" * 1000
    assert instance.client.post(path, content=few, headers=headers).status_code == 201
    refused = instance.client.post(path, content=b"\n" * (3 << 20), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (413, "body-too-large")


def test_the_addresses_of_long_bodies_are_routes_that_take_them(instance: Instance) -> None:
    """A route that is renamed must not lose its bound, nor an old name open another one."""
    posted = [one.template for one in routes(instance.app) if one.method == "POST"]
    ends = {end: [one for one in posted if one.endswith(end)] for end in BULK_PATHS}
    assert {end: len(found) for end, found in ends.items()} == dict.fromkeys(BULK_PATHS, 1)


def test_a_body_of_two_lengths_is_refused(instance: Instance) -> None:
    """A proxy that believes the other one would take the rest for somebody else's request."""
    headers = {**JSON, "content-length": "5", "transfer-encoding": "chunked"}
    answer = instance.client.post(
        FORMS, content=b"{}", headers={**instance.as_("operator"), **headers}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")
    assert answer.headers["connection"] == "close"
