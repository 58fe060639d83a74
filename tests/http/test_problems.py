"""All error responses have one format and a stable code, without secrets or tracebacks."""

from typing import Any

import pytest

from agon.errors import AgonError, Conflict, NotFound, TooMany, Unavailable
from agon.http.problems import MEDIA_TYPE, SHOWN, FieldError, pointer, problem, problem_of
from fakes.instance import Instance


def every(kind: type[AgonError]) -> list[type[AgonError]]:
    """Return a class and all its subclasses."""
    return [kind, *(cls for sub in kind.__subclasses__() for cls in every(sub))]


PLAIN = [cls for cls in every(AgonError) if "__init__" not in vars(cls)]


@pytest.mark.parametrize("kind", PLAIN)
def test_every_agon_error_maps_to_a_client_or_server_status(kind: type[AgonError]) -> None:
    """A new error must not become a 500."""
    response = problem_of(kind("something; do this"))
    assert 400 <= response.status_code < 504
    assert response.status_code != 500


def test_retry_after_is_rounded_up_to_full_seconds() -> None:
    """The header allows no fractions, and rounding down would be too early."""
    response = problem_of(TooMany("slow down", retry_after=1.2))
    assert (response.status_code, response.headers["retry-after"]) == (429, "2")
    assert problem_of(Unavailable("gone; wait")).headers["retry-after"] == "1"


def test_pointers_escape_slashes_and_tildes() -> None:
    """A rule named a/b is one path segment, not two."""
    assert pointer(("body", "overrides", "a/b~c")) == "/overrides/a~1b~0c"
    assert pointer(("query", "limit")) == "/query/limit"


def test_errors_beyond_the_maximum_are_counted() -> None:
    """A million errors must not produce a response of a gigabyte."""
    field_errors = [FieldError(pointer=f"/{n}", detail="wrong") for n in range(SHOWN + 5)]
    body = problem(422, "many", errors=field_errors).body
    assert bytes(body).count(b'"pointer"') == SHOWN
    assert b'"total":1005' in bytes(body)


def test_lone_surrogates_do_not_break_error_responses() -> None:
    """Error messages quote untrusted text, which must not cause a 500."""
    assert problem_of(NotFound("there is no \ud800; look")).status_code == 404
    assert problem_of(Conflict("\udfff")).status_code == 409


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not-found"),
        ("GET", "/nothing", 404, "not-found"),
        ("DELETE", "/api/v1/contests", 405, "method-not-allowed"),
        ("GET", "/api/v1/contests/unknown-one", 404, "not-found"),
        ("GET", "/api/v1/contests?limit=0", 422, "invalid-request"),
        ("GET", "/api/v1/contests?cursor=%21", 422, "invalid-request"),
        ("GET", "/api/v1/contests?cursor=bm9uZQ", 422, "unreadable"),
        ("POST", "/api/v1/contests", 401, "unauthenticated"),
        ("GET", "/api/v1/contests/spring%00", 422, "invalid-request"),
    ],
)
def test_framework_errors_have_the_same_format(
    instance: Instance, method: str, path: str, status: int, code: str
) -> None:
    """Clients parse one format, whichever layer rejects the request."""
    response = instance.client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["type"] == f"urn:agon:problem:{code}"
    assert body["instance"] == f"urn:agon:request:{response.headers['x-request-id']}"
    assert body["detail"]


def test_every_error_of_a_body_has_a_pointer(instance: Instance) -> None:
    """Users can fix all errors at once; values, which may be secrets, are not repeated."""
    body = {"id": "A B", "discipline": "community", "tilte": "hunter2-secret"}
    response = instance.post("/contests", "organiser", json=body)
    assert response.status_code == 422
    faults = {error["pointer"]: error["detail"] for error in response.json()["errors"]}
    assert faults.keys() == {"/id", "/title", "/tilte"}
    assert "hunter2-secret" not in response.text
    assert faults["/id"].endswith("write one such as spring-2027")
    assert faults["/title"] == "is missing; give it"
    assert faults["/tilte"] == "is not a field of this request; leave it out"


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("ends_at", "2030-12-24T18:00", "has no zone; write 2030-12-24T18:00Z"),
        ("ends_at", "soon", "is not a time; write one such as 2026-12-24T18:00Z"),
        ("visibility", "secret", "is none of 'public' or 'private'; give one of them"),
        ("title", "", "is empty; give something"),
        ("title", 7, "is not text; give text"),
    ],
)
def test_an_invalid_field_has_a_remedy(
    instance: Instance, field: str, value: Any, fault: str
) -> None:
    """Messages of the framework say what is expected in its own words, and not what to do."""
    body = {"id": "fields", "discipline": "community", "title": "F", field: value}
    [error] = instance.post("/contests", "organiser", json=body).json()["errors"]
    assert error["pointer"] == f"/{field}"
    assert fault in error["detail"]


def test_broken_json_is_a_bad_request(instance: Instance) -> None:
    """The error concerns no single field."""
    headers = {"content-type": "application/json"}
    response = instance.post("/contests", "organiser", content=b'{"id":', headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "bad-request")


def test_an_internal_error_returns_only_the_request_id(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tracebacks, SQL and secrets must not reach the client."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("SELECT secret FROM tokens -- hunter2")

    monkeypatch.setattr("agon.api.operations.access.users.users", broken)
    response = instance.get("/users", "operator")
    assert (response.status_code, response.json()["code"]) == (500, "internal-error")
    assert "hunter2" not in response.text
    assert "Traceback" not in response.text


def test_every_response_has_the_security_headers(instance: Instance) -> None:
    """This includes errors; responses are not cached unless a route says so."""
    for path in ("/healthz", "/api/v1/contests", "/api/v1/nothing", "/api/v1/me"):
        headers = instance.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_a_valid_request_id_of_the_client_is_used(instance: Instance) -> None:
    """It traces requests through several services; ids that break logs are replaced."""
    response = instance.get("/contests", headers={"x-request-id": "trace-7"})
    assert response.headers["x-request-id"] == "trace-7"
    response = instance.get("/contests", headers={"x-request-id": "a b\tc"})
    assert response.headers["x-request-id"] != "a b\tc"
