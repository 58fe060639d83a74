"""Links between pages: to the same place, whatever a client says of itself or of a name."""

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


def next_of(answer: Any) -> str:
    """Return where the Link header leads."""
    assert answer.status_code == 200, answer.text
    found = re.fullmatch(r'<([^>]*)>; rel="next"', answer.headers["link"])
    assert found is not None
    return found[1]


@pytest.mark.parametrize("host", ["evil.example", "testserver", "[::1", "a b"])
def test_a_link_leads_to_the_server_that_was_asked(instance: Instance, host: str) -> None:
    """Behind a proxy for https it led to http, and the client's token with it; or to any host."""
    instance.contest("spring")
    link = next_of(instance.client.get(LISTED, headers={"host": host}))
    assert link.startswith(LISTED + "&cursor=")
    assert next_of(instance.client.get(link)).startswith(LISTED + "&cursor=")
    assert instance.client.get(link).json()["items"] != instance.client.get(LISTED).json()["items"]


def test_a_link_of_any_name_is_written_in_ascii(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header cannot hold other signs: a second page of such a name was an internal error."""
    instance.contest("spring", people=0)
    name = "данные>; x"
    record(instance.service, "spring", [("users", {"id": name}, None)], by=ORGANISER)
    publish(instance.service, "spring")

    def twice(*given: Any, **options: Any) -> list[Any]:
        [step] = history(*given, **options)
        return [step, replace(step, seq=step.seq + 1)]

    monkeypatch.setattr("agon.api.operations.boards.history", twice)
    path = f"/api/v1/contests/spring/boards/user-score/history/{quote(name)}"
    assert next_of(instance.client.get(f"{path}?limit=1")).startswith(f"{path}?limit=1&cursor=")


def test_what_nobody_may_see_is_passed_over_many_at_a_time(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for one contest at a time, a stranger had each private one looked up by itself."""
    for n in range(12):
        new = NewContest(id=f"c{n:02}", discipline="community", title="C", visibility="private")
        create(instance.service, new, by=ORGANISER)
    instance.contest("spring", people=0)
    instance.contest("summer", people=0)
    asked, really = [], Contests.page

    def noting(contests: Contests, **options: Any) -> Any:
        asked.append(options)
        return really(contests, **options)

    monkeypatch.setattr(Contests, "page", noting)
    first = instance.get("/contests?limit=1")
    assert [one["id"] for one in first.json()["items"]] == ["spring"]
    second = instance.client.get(next_of(first)).json()
    assert ([one["id"] for one in second["items"]], second["next"]) == (["summer"], None)
    assert len(asked) == 2
