"""Pages and rows of boards: equal to what a session reads, and never old."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.http.board_pages import BoardPages
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER

BOARD = "/contests/spring/boards/user-score"
ADDRESSES = [
    BOARD,
    f"{BOARD}?limit=2",
    f"{BOARD}?limit=500",
    f"{BOARD}/rows/u1",
    f"{BOARD}/rows/u7",
    f"{BOARD}/rows/nobody",
    f"{BOARD}/rows/%C3%A4",
    f"{BOARD}/rows/u1%2Fx",
    f"{BOARD}/rows/%00",
    f"{BOARD}/rows/u1?neighbors=2",
    f"{BOARD}/rows/u1?neighbors=2",
    f"{BOARD}?limit=0",
    f"{BOARD}?limit=501",
    f"{BOARD}?limit=02",
    f"{BOARD}?limit=%32",
    f"{BOARD}?limit=2&limit=3",
    f"{BOARD}?limit=",
    f"{BOARD}?cursor=",
    f"{BOARD}?cursor=nonsense",
    f"{BOARD}?cursor=%00",
    f"{BOARD}?limt=2",
    f"{BOARD}?as_of=1",
    f"{BOARD}?around=u1&limit=1",
    f"{BOARD}?q=u1",
    f"{BOARD}/unscored",
    f"{BOARD}/unscored?limit=1",
    f"{BOARD}?as_of=nonsense",
    f"{BOARD}?as_of=2026-11-22T09:00:20Z",
    "/contests/spring/boards/nothing",
    "/contests/spring/boards/user-score/",
    "/contests/Spring/boards/user-score",
    "/contests/autumn/boards/user-score",
]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Instance]:
    """Return an instance on SQLite, or on PostgreSQL for concurrent requests."""
    url = None
    if request.param == "PostgreSQL":
        server = request.getfixturevalue("postgresql")
        url = server.address(server.emptied())
    instance = instance_at(tmp_path, url=url, rate_limit_address="100000/second",
                     rate_limit_token="100000/second")  # noqa: S106 (a rate)  # fmt: skip
    yield instance
    instance.close()


def both(
    instance: Instance, path: str, monkeypatch: pytest.MonkeyPatch, role: str | None = None
) -> list[Any]:
    """Return the responses read without a session and in one, without what differs by time."""
    answers = []
    for fetch in (BoardPages._fetch, _nothing):
        monkeypatch.setattr(BoardPages, "_fetch", fetch)
        answer = instance.get(path, role)
        headers = {
            name: answer.headers.get(name)
            for name in ("content-type", "etag", "cache-control", "vary", "content-length")
        }
        content = answer.content
        if answer.status_code != 200:
            content = {key: value for key, value in answer.json().items() if key != "instance"}
            del headers["content-length"]
        answers.append((answer.status_code, headers, content))
    monkeypatch.undo()
    return answers


async def _nothing(pages: BoardPages, *_: Any) -> tuple[object, None]:
    """Find no rows, as where they were deleted between two reads."""
    return await pages._rows.state(), None


@pytest.mark.parametrize("state", ["open", "frozen", "final", "private"])
def test_pages_equal_those_read_in_a_session(
    either: Instance, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are read without sessions; the local client reads them in one."""
    either.contest(people=5, visibility="private" if state == "private" else "public")
    if state in {"frozen", "final"}:
        transitions.freeze(either.service, "spring", by=ORGANISER)
        more = [("users", {"id": "late", "created_at": "2026-01-01T00:00:00Z"}, None)]
        record(either.service, "spring", more, by=ORGANISER)
        publish(either.service, "spring")
    if state == "final":
        transitions.finalize(either.service, "spring", by=ORGANISER)
    cursor = either.get(f"{BOARD}?limit=2", "organiser").json()["next"]
    assert cursor
    for role in (None, "viewer", "organiser", "worker"):
        for path in (*ADDRESSES, f"{BOARD}?cursor={cursor}", f"{BOARD}?limit=1&cursor={cursor}"):
            read, in_session = both(either, path, monkeypatch, role)
            assert read == in_session, (role, path)
            assert read[0] < 500, (role, path)


def test_a_page_that_the_client_has_is_not_sent_again(either: Instance) -> None:
    """Boards are polled; a page that did not change costs a few bytes."""
    either.contest(people=3)
    for path in (BOARD, f"{BOARD}/rows/u1", f"{BOARD}/unscored", f"{BOARD}?q=u"):
        tag = either.get(path).headers["etag"]
        again = either.get(path, headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert either.get(path, headers={"if-none-match": '"other"'}).content


def test_a_freeze_and_a_new_board_show_at_once(either: Instance) -> None:
    """Nothing is remembered between two requests."""
    either.contest(people=3)
    assert either.get(BOARD).json()["state"] == "open"
    transitions.freeze(either.service, "spring", by=ORGANISER)
    assert either.get(BOARD).json()["state"] == "frozen"
    transitions.unfreeze(either.service, "spring", reason="it was a test", by=ORGANISER)
    more = [("users", {"id": "late", "created_at": "2026-01-01T00:00:00Z"}, None)]
    record(either.service, "spring", more, by=ORGANISER)
    before = either.get(BOARD).json()["seq"]
    publish(either.service, "spring")
    assert either.get(BOARD).json()["seq"] > before


def test_requests_are_counted_under_their_route(either: Instance) -> None:
    """The metrics of a route do not depend on the way its answers took."""
    either.contest(people=3)
    either.get(BOARD)
    either.get(f"{BOARD}/rows/u1")
    told = either.client.get("/metrics", headers=either.as_("operator")).text
    for route in ("boards/{board}", "boards/{board}/rows/{id}"):
        assert f'route="/api/v1/contests/{{contest}}/{route}",status="200"}} 1.0' in told


def test_every_page_is_read_without_a_session(
    either: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise this file would compare sessions with sessions."""
    either.contest(people=3)
    monkeypatch.setattr("agon.http.board_pages.read_page", None)
    for query in ("", "?limit=2", "/rows/u1", "/rows/u1?neighbors=1", "?around=u1", "/unscored",
                  "?as_of=2099-01-01T00:00:00Z"):  # fmt: skip
        assert either.get(BOARD + query).status_code == 200


def test_a_page_of_staff_is_not_given_to_others(either: Instance) -> None:
    """Staff see what comes after a freeze; a cache must not show it to the public."""
    either.contest(people=3)
    transitions.freeze(either.service, "spring", by=ORGANISER)
    either.people("spring", 1, begin=50)
    own = either.get(BOARD, "organiser")
    assert own.headers["cache-control"] == "private, no-cache"
    public = either.get(BOARD)
    assert public.headers["cache-control"] == "no-cache"
    assert public.json()["rows_total"] < own.json()["rows_total"]


def test_all_faults_of_a_request_are_listed_together(either: Instance) -> None:
    """A client that is told of one fault at a time asks again for each."""
    either.contest(people=3)
    answer = either.get("/contests/Spring/boards/user-score/rows/%00?neighbors=-1")
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [
        "/path/contest", "/path/id", "/query/neighbors",
    ]  # fmt: skip
    answer = either.get(f"{BOARD}?limt=2")
    assert answer.json()["detail"].endswith("did you mean limit?")


def test_other_methods_are_refused(either: Instance) -> None:
    """The routes of boards answer GET alone, like all that read."""
    for method in ("HEAD", "POST", "DELETE", "OPTIONS"):
        answer = either.client.request(method, f"/api/v1{BOARD}", headers=either.as_("operator"))
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
