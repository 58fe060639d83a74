"""Links between pages: relative to the request, whatever its host header or names contain."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from agon.app.contests.boards.history import history
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.store.contests import Contests
from fakes.instance import Instance
from fakes.service import ORGANISER

LISTED = "/api/v1/contests/spring/participants?limit=1"


def next_of(response: Any) -> str:
    """Return the URL of the Link header."""
    assert response.status_code == 200, response.text
    match = re.fullmatch(r'<([^>]*)>; rel="next"', response.headers["link"])
    assert match is not None
    return match[1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("host", ["evil.example", "testserver", "[::1", "a b"])
def test_a_link_is_relative_to_the_requested_server(instance: Instance, host: str) -> None:
    """Absolute links sent clients and their tokens from https to http, or to any host."""
    instance.contest("spring")
    link = next_of(instance.client.get(LISTED, headers={"host": host}))
    assert link.startswith(LISTED + "&cursor=")
    assert next_of(instance.client.get(link)).startswith(LISTED + "&cursor=")
    assert instance.client.get(link).json()["items"] != instance.client.get(LISTED).json()["items"]


@pytest.mark.exhaustive
def test_a_link_with_any_name_is_ascii(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers cannot contain other characters; the next page of such a name failed."""
    instance.contest("spring", people=0)
    name = "данные>; x"
    record(instance.service, "spring", [("users", {"id": name}, None)], by=ORGANISER)
    publish(instance.service, "spring")

    def twice(*args: Any, **options: Any) -> list[Any]:
        [step] = history(*args, **options)
        return [step, replace(step, seq=step.seq + 1)]

    monkeypatch.setattr("agon.api.operations.boards.history", twice)
    path = f"/api/v1/contests/spring/boards/user-score/history/{quote(name)}"
    assert next_of(instance.client.get(f"{path}?limit=1")).startswith(f"{path}?limit=1&cursor=")


def test_hidden_contests_are_skipped_in_batches(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a limit of one, every private contest took a query of its own."""
    for n in range(12):
        new = NewContest(id=f"c{n:02}", discipline="community", title="C", visibility="private")
        create(instance.service, new, by=ORGANISER)
    instance.contest("spring", people=0)
    instance.contest("summer", people=0)
    calls, really = [], Contests.page

    def noting(contests: Contests, **options: Any) -> Any:
        calls.append(options)
        return really(contests, **options)

    monkeypatch.setattr(Contests, "page", noting)
    response = instance.get("/contests?limit=1")
    assert [item["id"] for item in response.json()["items"]] == ["spring"]
    second = instance.client.get(next_of(response)).json()
    assert ([item["id"] for item in second["items"]], second["next"]) == (["summer"], None)
    assert len(calls) == 2
