"""A request that is repeated under its key is carried out once."""

import hashlib
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agon.errors import Unavailable
from agon.store.access import Access
from fakes.instance import Instance

KEY = {"idempotency-key": "k-1"}
USER = {"id": "eve"}


def test_a_repetition_gets_the_same_answer_and_changes_nothing(instance: Instance) -> None:
    """A client that lost the answer must be able to ask again."""
    first = instance.post("/users", "operator", json=USER, headers=KEY)
    again = instance.post("/users", "operator", json=USER, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert instance.post("/users", "operator", json=USER).status_code == 409


def test_refusals_are_repeated_as_well(instance: Instance) -> None:
    """The first answer counts, whatever happened since."""
    first = instance.post("/users", "operator", json={"id": "root"}, headers=KEY)
    assert first.status_code == 409
    again = instance.post("/users", "operator", json={"id": "root"}, headers=KEY)
    assert again.content == first.content


@pytest.mark.parametrize(
    ("path", "body"), [("/users", {"id": "mallory"}), ("/users?x=1", USER), ("/tokens", USER)]
)
def test_another_request_under_the_same_key_is_a_conflict(
    instance: Instance, path: str, body: dict[str, str]
) -> None:
    """A key used twice by mistake must not hide the second request."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    answer = instance.post(path, "operator", json=body, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency-key-reused")


def test_everybody_has_keys_of_their_own(instance: Instance) -> None:
    """Nobody gets another's answer by guessing the key."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    assert instance.post("/users", "organiser", json=USER, headers=KEY).status_code == 403
    assert instance.post("/users", None, json=USER, headers=KEY).status_code == 401


def test_a_secret_that_was_shown_once_is_not_shown_again(instance: Instance) -> None:
    """Kept answers lie in the database; a secret among them would be stored."""
    body = {"user": "ada", "role": "viewer"}
    first = instance.post("/tokens", "operator", json=body, headers=KEY)
    text = first.json()["token"]
    again = instance.post("/tokens", "operator", json=body, headers=KEY)
    assert (again.status_code, again.json()["code"]) == (409, "secret-shown-once")
    with instance.service.store.read() as session:
        kept = session.access.response(instance.tokens["operator"][5:27], "k-1")
    assert kept is not None
    assert text[28:].encode() not in kept.body


def test_a_request_under_way_makes_its_repetition_wait(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at once must not both be carried out."""
    entered, leave = threading.Event(), threading.Event()
    users: Any = __import__("agon.app.access.users", fromlist=["create_user"])
    create = users.create_user

    def slow(*args: Any, **options: Any) -> Any:
        entered.set()
        assert leave.wait(30)
        return create(*args, **options)

    monkeypatch.setattr(users, "create_user", slow)
    answers: list[Any] = []
    first = threading.Thread(
        target=lambda: answers.append(instance.post("/users", "operator", json=USER, headers=KEY))
    )
    first.start()
    assert entered.wait(30)
    second = instance.post("/users", "operator", json=USER, headers=KEY)
    leave.set()
    first.join()
    assert (second.status_code, second.json()["code"]) == (409, "under-way")
    assert second.headers["retry-after"] == "1"
    assert answers[0].status_code == 201


def test_a_request_under_way_gives_signs_of_life(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes, nobody may take it for one whose process died."""
    monkeypatch.setattr("agon.http.middleware.idempotency._HEARTBEAT_S", 0.01)
    users: Any = __import__("agon.app.access.users", fromlist=["create_user"])
    create, access = users.create_user, "agon.store.access.Access"
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


def test_a_request_that_was_cut_off_can_be_sent_again(instance: Instance) -> None:
    """A process that died in the middle must not block its client longer than the client waits."""
    instance.post("/users", "operator", json=USER, headers=KEY)
    who = instance.tokens["operator"][5:27]
    with instance.service.store.write() as session:
        kept = session.access.response(who, "k-1")
        assert kept is not None
        session.access.delete_responses(before=kept.at + timedelta(days=1), limit=9)
        early = kept.at - timedelta(seconds=16)
        session.access.add_response(replace(kept, status=0, body=b"", at=early))
    answer = instance.post("/users", "operator", json=USER, headers=KEY)
    assert answer.json().get("code") == "conflict", answer.text


def test_a_fault_of_ours_is_not_kept(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repetition may well succeed."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("agon.app.access.users.create_user", broken)
        assert instance.post("/users", "operator", json=USER, headers=KEY).status_code == 500
    assert instance.post("/users", "operator", json=USER, headers=KEY).status_code == 201


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "\xe9"])
def test_keys_are_short_and_printable(instance: Instance, key: str) -> None:
    """They are stored."""
    headers = {b"idempotency-key": key.encode("latin-1")}
    answer = instance.client.post(
        "/api/v1/users",
        json=USER,
        headers={
            **{k.encode(): v.encode() for k, v in instance.as_("operator").items()},
            **headers,
        },
    )
    assert answer.status_code == 422


def test_records_sent_twice_under_a_key_are_entered_once(instance: Instance) -> None:
    """Bodies of bulk requests are spooled and compared as well."""
    instance.contest(people=0)
    lines = b"".join(b'{"table":"users","row":{"id":"n%d"}}\n' % n for n in range(2000))
    headers = {**KEY, "content-type": "application/x-ndjson"}
    first = instance.post("/contests/spring/records", "organiser", content=lines, headers=headers)
    again = instance.post("/contests/spring/records", "organiser", content=lines, headers=headers)
    assert first.json()["added"] == 2000
    assert again.content == first.content
    other = instance.post(
        "/contests/spring/records", "organiser", content=lines + b"\n", headers=headers
    )
    assert other.status_code == 409


def test_a_password_cannot_be_tried_on_a_stolen_database(instance: Instance) -> None:
    """What tells requests apart is keyed; a plain hash of a body would be tried by the billion."""
    body = b'{"password":"correct horse battery"}'
    kind = {"content-type": "application/json"}
    for path in ("/users/ada", "/users/judy"):
        answer = instance.client.patch(
            f"/api/v1{path}", headers={**instance.as_("operator"), **kind, "idempotency-key": path},
            content=body,
        )  # fmt: skip
        assert answer.status_code == 200
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
def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, body: dict[str, str]
) -> None:
    """On a full disk the last thing that was done is still told, and no fault of ours with it."""

    def full(*_: object) -> None:
        raise Unavailable("the database or disk is full; make room")

    monkeypatch.setattr("agon.store.access.Access.save_response", full)
    monkeypatch.setattr("agon.store.access.Access.delete_pending_response", full)
    strict = TestClient(instance.app)  # raises what would only be in the log
    answer = strict.post("/api/v1/users", json=body, headers={**instance.as_("operator"), **KEY})
    assert answer.status_code in {201, 422}


def test_of_strangers_nothing_is_kept(instance: Instance) -> None:
    """A new key with each request to no address at all would fill the database, token or none."""
    for path in ("/nowhere", "/users"):
        answers = [
            instance.client.post(f"/api/v1{path}", content=b"{", headers={"idempotency-key": "k"})
            for _ in range(2)
        ]
        assert all("idempotency-replayed" not in one.headers for one in answers)
    with instance.service.store.read() as session:
        assert session.access.response("anonymous", "k") is None
