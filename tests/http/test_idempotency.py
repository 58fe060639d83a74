"""A request repeated with its idempotency key is executed once."""

import hashlib
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agon.errors import Unavailable
from agon.store.people.access import Access
from fakes.instance import Instance

KEY = {"idempotency-key": "k-1"}
USER = {"id": "eve"}


@pytest.mark.exhaustive
def test_a_repeated_request_returns_the_same_response_and_changes_nothing(
    instance: Instance,
) -> None:
    """A client that lost the response must be able to repeat the request."""
    first_response = instance.post("/users", "operator", json=USER, headers=KEY)
    repeated = instance.post("/users", "operator", json=USER, headers=KEY)
    assert (first_response.status_code, repeated.status_code) == (201, 201)
    assert repeated.content == first_response.content
    assert repeated.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first_response.headers
    assert instance.post("/users", "operator", json=USER).status_code == 409


def test_error_responses_are_replayed_too(instance: Instance) -> None:
    """The first response is replayed, whatever changed since."""
    first_response = instance.post("/users", "operator", json={"id": "root"}, headers=KEY)
    assert first_response.status_code == 409
    repeated = instance.post("/users", "operator", json={"id": "root"}, headers=KEY)
    assert repeated.content == first_response.content


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("path", "body"), [("/users", {"id": "mallory"}), ("/users?x=1", USER), ("/tokens", USER)]
)
def test_another_request_under_the_same_key_is_a_conflict(
    instance: Instance, path: str, body: dict[str, str]
) -> None:
    """A key reused by mistake must not hide the second request."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    response = instance.post(path, "operator", json=body, headers=KEY)
    assert (response.status_code, response.json()["code"]) == (409, "idempotency-key-reused")


def test_keys_are_separate_for_each_caller(instance: Instance) -> None:
    """Guessing a key must not return another caller's response."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    assert instance.post("/users", "organiser", json=USER, headers=KEY).status_code == 403
    assert instance.post("/users", None, json=USER, headers=KEY).status_code == 401


def test_a_response_with_a_secret_is_not_replayed(instance: Instance) -> None:
    """Stored responses are in the database, which must not contain secrets."""
    body = {"user": "ada", "role": "viewer"}
    first_response = instance.post("/tokens", "operator", json=body, headers=KEY)
    text = first_response.json()["token"]
    repeated = instance.post("/tokens", "operator", json=body, headers=KEY)
    assert (repeated.status_code, repeated.json()["code"]) == (409, "secret-shown-once")
    with instance.service.store.read() as session:
        stored = session.access.response(instance.tokens["operator"][5:27], "k-1")
    assert stored is not None
    assert text[28:].encode() not in stored.body


def test_a_repetition_of_a_running_request_is_a_conflict(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two concurrent requests with one key must not both be executed."""
    entered, leave = threading.Event(), threading.Event()
    users: Any = __import__("agon.app.access.users", fromlist=["create_user"])
    create = users.create_user

    def slow(*args: Any, **options: Any) -> Any:
        entered.set()
        assert leave.wait(30)
        return create(*args, **options)

    monkeypatch.setattr(users, "create_user", slow)
    responses: list[Any] = []
    first_response = threading.Thread(
        target=lambda: responses.append(instance.post("/users", "operator", json=USER, headers=KEY))
    )
    first_response.start()
    assert entered.wait(30)
    second = instance.post("/users", "operator", json=USER, headers=KEY)
    leave.set()
    first_response.join()
    assert (second.status_code, second.json()["code"]) == (409, "under-way")
    assert second.headers["retry-after"] == "1"
    assert responses[0].status_code == 201


def test_a_running_request_sends_heartbeats(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long request must not be mistaken for one whose process died."""
    monkeypatch.setattr("agon.http.middleware.idempotency._HEARTBEAT_S", 0.01)
    users: Any = __import__("agon.app.access.users", fromlist=["create_user"])
    create, access = users.create_user, "agon.store.people.access.Access"
    signs: list[str] = []
    living = threading.Event()
    still = Access.touch_response

    def noted(self: Access, who: str, key: str, *, at: datetime) -> None:
        if not signs:
            signs.append(key)
            raise Unavailable("busy")
        still(self, who, key, at=at)
        living.set()

    def slow(*args: Any, **options: Any) -> Any:
        assert living.wait(30)
        with instance.service.store.read() as session:
            known = session.access.response(instance.tokens["operator"][5:27], "k-1")
        assert known is not None
        assert (known.status, known.at > began) == (0, True)
        return create(*args, **options)

    monkeypatch.setattr(f"{access}.touch_response", noted)
    monkeypatch.setattr(users, "create_user", slow)
    began = instance.service.clock()
    assert instance.post("/users", "operator", json=USER, headers=KEY).status_code == 201
    assert signs == ["k-1"]


def test_an_interrupted_request_can_be_repeated(instance: Instance) -> None:
    """A process that died must not block the key longer than clients retry."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    who = instance.tokens["operator"][5:27]
    with instance.service.store.write() as session:
        stored = session.access.response(who, "k-1")
        assert stored is not None
        session.access.delete_responses(before=stored.at + timedelta(days=1), limit=9)
        early = stored.at - timedelta(seconds=16)
        session.access.add_response(replace(stored, status=0, body=b"", at=early))
    result = instance.post("/users", "operator", json=USER, headers=KEY)
    assert result.json().get("code") == "conflict", result.text


def test_an_internal_error_is_not_stored(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repeated request may succeed."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("agon.app.access.users.create_user", broken)
        assert instance.post("/users", "operator", json=USER, headers=KEY).status_code == 500
    assert instance.post("/users", "operator", json=USER, headers=KEY).status_code == 201


@pytest.mark.sample(2)
@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "\xe9"])
def test_keys_are_short_and_printable(instance: Instance, key: str) -> None:
    """Keys are stored in the database."""
    headers = {b"idempotency-key": key.encode("latin-1")}
    response = instance.client.post(
        "/api/v1/users",
        json=USER,
        headers={
            **{k.encode(): v.encode() for k, v in instance.as_("operator").items()},
            **headers,
        },
    )
    assert response.status_code == 422


@pytest.mark.exhaustive
def test_records_sent_twice_with_one_key_are_added_once(instance: Instance) -> None:
    """Spooled bodies of bulk requests are compared as well."""
    instance.contest(people=0)
    lines = b"".join(b'{"table":"users","row":{"id":"n%d"}}\n' % n for n in range(2000))
    headers = {**KEY, "content-type": "application/x-ndjson"}
    first_response = instance.post(
        "/contests/spring/records", "organiser", content=lines, headers=headers
    )
    repeated = instance.post(
        "/contests/spring/records", "organiser", content=lines, headers=headers
    )
    assert first_response.json()["added"] == 2000
    assert repeated.content == first_response.content
    other = instance.post(
        "/contests/spring/records", "organiser", content=lines + b"\n", headers=headers
    )
    assert other.status_code == 409


def test_a_password_cannot_be_tried_on_a_stolen_database(instance: Instance) -> None:
    """Request hashes are keyed; passwords in plain hashes could be found by brute force."""
    body = b'{"password":"correct horse battery"}'
    kind = {"content-type": "application/json"}
    for path in ("/users/ada", "/users/judy"):
        result = instance.client.patch(
            f"/api/v1{path}", headers={**instance.as_("operator"), **kind, "idempotency-key": path},
            content=body,
        )  # fmt: skip
        assert result.status_code == 200
    with instance.service.store.read() as session:
        who = instance.tokens["operator"][5:27]
        stored = session.access.response(who, "/users/ada")
    assert stored is not None
    guess = hashlib.sha256()
    for part in (b"PATCH", b"/api/v1/users/ada", b"", b"application/json"):
        guess.update(len(part).to_bytes(8, "big") + part)
    guess.update(body)
    assert stored.request_sha256 != guess.digest()


@pytest.mark.parametrize("body", [USER, {"id": "No!"}])
def test_a_response_that_cannot_be_stored_is_still_returned(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, body: dict[str, str]
) -> None:
    """With a full disk the client still gets the response and no internal error."""

    def full(*_: object) -> None:
        raise Unavailable("the database or disk is full; make room")

    monkeypatch.setattr("agon.store.people.access.Access.save_response", full)
    monkeypatch.setattr("agon.store.people.access.Access.delete_pending_response", full)
    strict = TestClient(instance.app)  # raises errors that would otherwise only be logged
    response = strict.post("/api/v1/users", json=body, headers={**instance.as_("operator"), **KEY})
    assert response.status_code in {201, 422}


@pytest.mark.exhaustive
def test_anonymous_responses_are_not_stored(instance: Instance) -> None:
    """Anonymous requests with new keys would otherwise fill the database."""
    for path in ("/nowhere", "/users"):
        responses = [
            instance.client.post(f"/api/v1{path}", content=b"{", headers={"idempotency-key": "k"})
            for _ in range(2)
        ]
        assert all("idempotency-replayed" not in item.headers for item in responses)
    with instance.service.store.read() as session:
        assert session.access.response("anonymous", "k") is None
