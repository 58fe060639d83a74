"""Every refusal has one form, a stable code and no secret or traceback in it."""

import pytest

from agon.errors import AgonError, Conflict, NotFound, TooMany, Unavailable
from agon.http.problems import MEDIA_TYPE, SHOWN, FieldError, pointer, problem, problem_of
from fakes.instance import Instance


def every(kind: type[AgonError]) -> list[type[AgonError]]:
    """List a class and all that derive from it."""
    return [kind, *(one for sub in kind.__subclasses__() for one in every(sub))]


PLAIN = [one for one in every(AgonError) if "__init__" not in vars(one)]


@pytest.mark.parametrize("kind", PLAIN)
def test_every_error_of_agon_has_a_status_of_its_kind(kind: type[AgonError]) -> None:
    """A new error must not become a 500."""
    answer = problem_of(kind("something; do this"))
    assert 400 <= answer.status_code < 504
    assert answer.status_code != 500


def test_retry_after_is_told_in_whole_seconds() -> None:
    """The header takes no fractions; rounding down would be too early."""
    answer = problem_of(TooMany("slow down", retry_after=1.2))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
    assert problem_of(Unavailable("gone; wait")).headers["retry-after"] == "1"


def test_pointers_escape_what_json_pointers_use() -> None:
    """A rule named a/b is one step, not two."""
    assert pointer(("body", "overrides", "a/b~c")) == "/overrides/a~1b~0c"
    assert pointer(("query", "limit")) == "/query/limit"


def test_more_faults_than_are_shown_are_counted() -> None:
    """A million faults do not make an answer of a gigabyte."""
    faults = [FieldError(pointer=f"/{n}", detail="wrong") for n in range(SHOWN + 5)]
    body = problem(422, "many", errors=faults).body
    assert bytes(body).count(b'"pointer"') == SHOWN
    assert b'"total":1005' in bytes(body)


def test_lone_surrogates_do_not_break_the_refusal() -> None:
    """Hostile text comes back in the refusal's words; it must not become a 500."""
    assert problem_of(NotFound("there is no \ud800; look")).status_code == 404
    assert problem_of(Conflict("\udfff")).status_code == 409


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not-found"),
        ("GET", "/", 404, "not-found"),
        ("DELETE", "/api/v1/contests", 405, "method-not-allowed"),
        ("GET", "/api/v1/contests/unknown-one", 404, "not-found"),
        ("GET", "/api/v1/contests?limit=0", 422, "invalid-request"),
        ("GET", "/api/v1/contests?cursor=%21", 422, "invalid-request"),
        ("GET", "/api/v1/contests?cursor=bm9uZQ", 422, "unreadable"),
        ("POST", "/api/v1/contests", 401, "unauthenticated"),
        ("GET", "/api/v1/contests/spring%00", 422, "invalid-request"),
    ],
)
def test_refusals_of_http_itself_have_the_same_form(
    instance: Instance, method: str, path: str, status: int, code: str
) -> None:
    """Programs read one form, whoever refuses."""
    answer = instance.client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == MEDIA_TYPE
    told = answer.json()
    assert (told["status"], told["code"]) == (status, code)
    assert told["type"] == f"urn:agon:problem:{code}"
    assert told["instance"] == f"urn:agon:request:{answer.headers['x-request-id']}"
    assert told["detail"]


def test_every_fault_of_a_body_is_told_at_its_place(instance: Instance) -> None:
    """People mend all of it at once; the values, which may be secrets, are not repeated."""
    sent = {"id": "A B", "discipline": "community", "tilte": "hunter2-secret"}
    answer = instance.post("/contests", "organiser", json=sent)
    assert answer.status_code == 422
    places = {fault["pointer"] for fault in answer.json()["errors"]}
    assert places == {"/id", "/title", "/tilte"}
    assert "hunter2-secret" not in answer.text


def test_broken_json_is_a_bad_request(instance: Instance) -> None:
    """It is not a fault of a field."""
    headers = {"content-type": "application/json"}
    answer = instance.post("/contests", "organiser", content=b'{"id":', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


def test_a_fault_of_ours_tells_its_id_and_nothing_else(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback, SQL or secret ever leaves the instance."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("SELECT secret FROM tokens -- hunter2")

    monkeypatch.setattr("agon.api.operations.access.users.users", broken)
    answer = instance.get("/users", "operator")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal-error")
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text


def test_every_answer_carries_the_security_headers(instance: Instance) -> None:
    """Refusals and successes alike; nothing is kept by caches unless a route says so."""
    for path in ("/healthz", "/api/v1/contests", "/api/v1/nothing", "/api/v1/me"):
        headers = instance.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_a_given_request_id_is_kept_when_it_is_harmless(instance: Instance) -> None:
    """Who traces a request through several services finds it; what breaks logs is not kept."""
    kept = instance.get("/contests", headers={"x-request-id": "trace-7"})
    assert kept.headers["x-request-id"] == "trace-7"
    other = instance.get("/contests", headers={"x-request-id": "a b\tc"})
    assert other.headers["x-request-id"] != "a b\tc"
