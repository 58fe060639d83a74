"""Operations as HTTP routes: each is declared once, and its permission is decided once."""

import sys
from collections import Counter
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.app.access import permissions
from agon.app.access.permissions import ACTIONS
from agon.http.handlers import HANDLERS
from agon.http.handlers.boards import DIRECT_HANDLERS
from agon.store.contests import Contests
from agon.store.session import Store
from fakes.instance import API, Instance
from fakes.service import ORGANISER


def test_every_operation_has_a_permission_from_the_table() -> None:
    """An operation without a permission would be public; only monitoring is."""
    for operation in all_operations():
        if operation.id in {"getHealth", "getReadiness"}:
            assert operation.permission is None
        else:
            assert operation.permission in ACTIONS, operation.id


def test_exactly_the_raw_operations_have_handlers() -> None:
    """A raw operation without a handler would be an internal error."""
    assert {operation.id for operation in all_operations() if operation.raw} == {
        *HANDLERS,
        *DIRECT_HANDLERS,
    }


def count(monkeypatch: pytest.MonkeyPatch, counts: Counter[str], kind: Any, name: str) -> None:
    """Count the calls of a method."""
    method = getattr(kind, name)

    def counted(*arguments: Any, **keywords: Any) -> Any:
        counts[name] += 1
        return method(*arguments, **keywords)

    monkeypatch.setattr(kind, name, counted)


@pytest.mark.parametrize("noun", ["records", "votes"])
def test_a_post_opens_one_write_session_and_checks_its_permission_once(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, noun: str
) -> None:
    """Every further session or check slows down each record that arrives."""
    from agon.app.contests.lifecycle import creation, transitions

    name = "arena" if noun == "votes" else "community"
    new = creation.NewContest(id="spring", discipline=name, title="Spring")
    creation.create(instance.service, new, by=ORGANISER)
    transitions.open_contest(instance.service, "spring", by=ORGANISER)
    row: dict[str, Any] = {"table": "users", "row": {"id": "ada", "affiliation": "org"}}
    if noun == "votes":
        row = {"match_id": "none", "judge_id": "judy", "vote": "A"}
    instance.get("/me", "organiser")  # the first use of a token within a minute is stored
    counts: Counter[str] = Counter()
    for kind, name in ((Store, "read"), (Store, "write"), (Contests, "get"), (Contests, "lock")):
        count(monkeypatch, counts, kind, name)
    decided = decisions(monkeypatch)
    status = instance.post(f"/contests/spring/{noun}", "organiser", json=row).status_code
    assert status == (201 if noun == "records" else 422)  # there is no such match
    assert decided == ["records.add" if noun == "records" else "vote.add"]
    assert counts["get"] + counts["lock"] == 2
    # One session reads the token, one the contest, one writes.
    assert (counts["read"], counts["write"]) == (2, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("method", "path", "body", "permission", "loads", "reads"),
    [
        ("POST", "/contests/spring/freeze", {}, "contest.manage", 4, 5),
        ("POST", "/contests/spring/cases", {"title": "t", "text": "x"}, "case.manage", 2, 2),
        ("GET", "/contests/spring/webhooks", None, "webhook.manage", 1, 3),
        ("GET", "/contests/spring/cases", None, "case.read", 1, 3),
        ("GET", "/contests/spring/submissions", None, "submission.read-own", 1, 3),
        ("GET", "/contests/spring/export", None, "export", 2, 3),
    ],
)
def test_a_contest_operation_checks_its_permission_once(
    instance: Instance,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    permission: str,
    loads: int,
    reads: int,
) -> None:
    """The contest is loaded for the check and once more to lock it."""
    instance.contest("spring")
    instance.get("/me", "organiser")  # the first use of a token within a minute is stored
    counts: Counter[str] = Counter()
    for kind, name in ((Store, "read"), (Store, "write"), (Contests, "get"), (Contests, "lock")):
        count(monkeypatch, counts, kind, name)
    decided = decisions(monkeypatch)
    response = instance.client.request(
        method, "/api/v1" + path, headers=instance.as_("organiser"), json=body
    )
    assert response.is_success, response.text
    assert decided == [permission]
    assert (counts["get"] + counts["lock"], counts["read"]) == (loads, reads)
    assert counts["write"] == (method == "POST")


def decisions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every permission check is appended."""
    decided: list[str] = []
    allow = permissions.allow

    def allowed(caller: Any, action: str, **keywords: Any) -> None:
        decided.append(action)
        allow(caller, action, **keywords)

    for name, module in list(sys.modules.items()):
        # Within its own module the function filters what a caller sees; that is no check.
        if name != permissions.__name__ and getattr(module, "allow", None) is allow:
            monkeypatch.setattr(module, "allow", allowed)
    return decided


def test_an_edit_with_an_older_version_is_rejected(instance: Instance) -> None:
    """Programs of two organizers do not undo each other's changes."""
    instance.contest("spring")
    path = "/contests/spring"
    read = instance.get(path, "organiser")
    tag = read.headers["etag"]
    assert tag == f'"{read.json()["version"]}"'

    def edit(title: str, *tags: str) -> Any:
        headers = {"if-match": ", ".join(tags)} if tags else {}
        headers |= instance.as_("organiser")
        return instance.client.patch(f"{API}{path}", json={"title": title}, headers=headers)

    first = edit("Spring Cup", tag)
    assert first.status_code == 200
    assert first.headers["etag"] == instance.get(path).headers["etag"] != tag
    second = edit("Cup of Spring", tag)
    assert (second.status_code, second.json()["code"]) == (412, "changed")
    assert "by user:olga" in second.json()["detail"]
    assert edit("Cup of Spring", tag, f"W/{first.headers['etag']}").status_code == 412
    assert edit("Cup of Spring", tag, first.headers["etag"]).status_code == 200
    assert edit("Spring", "*").status_code == 200
    assert edit("Spring Cup").status_code == 200
    assert edit("Spring", "3f0c8a").status_code == 422
