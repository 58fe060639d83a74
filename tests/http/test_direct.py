"""The short way to pages and rows says what the long way says, and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.boards.publication import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from fakes.house import ORGANISER
from fakes.http_house import House, house_at

BOARD = "/contests/spring/boards/user-score"
LONG = {"accept": "application/json;q=1"}
"""Means the same, and is not one of the plain requests."""

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
    f"{BOARD}/rows/u1?neighbours=2",
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
    "/contests/spring/boards/nothing",
    "/contests/spring/boards/user-score/",
    "/contests/Spring/boards/user-score",
    "/contests/autumn/boards/user-score",
]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """Give a house on each database: one is asked at once, the other for many requests together."""
    url = None
    if request.param == "PostgreSQL":
        server = request.getfixturevalue("postgresql")
        url = server.address(server.emptied())
    house = house_at(tmp_path, url=url, rate_limit_address="100000/second",
                     rate_limit_token="100000/second")  # noqa: S106 (a rate)  # fmt: skip
    yield house
    house.close()


def both(house: House, path: str, role: str | None = None) -> list[Any]:
    """Ask on the short way and on the long one; return what of the answers is not of the moment."""
    answers = []
    for headers in ({}, LONG):
        answer = house.get(path, role, headers=headers)
        kept = {
            name: answer.headers.get(name)
            for name in ("content-type", "etag", "cache-control", "vary", "content-length")
        }
        told = answer.content
        if answer.status_code != 200:
            told = {key: value for key, value in answer.json().items() if key != "instance"}
            del kept["content-length"]
        answers.append((answer.status_code, kept, told))
    return answers


@pytest.mark.parametrize("state", ["open", "frozen", "final", "private"])
def test_both_ways_say_the_same_to_everybody(either: House, state: str) -> None:
    """One address has one answer, in every state of a contest and for every role."""
    either.contest(people=5, visibility="private" if state == "private" else "public")
    if state in {"frozen", "final"}:
        transitions.freeze(either.service, "spring", by=ORGANISER)
        more = [("users", {"id": "late", "created_at": "2026-01-01T00:00:00Z"}, None)]
        record(either.service, "spring", more, by=ORGANISER)
        publish(either.service, "spring")
    if state == "final":
        transitions.finalise(either.service, "spring", by=ORGANISER)
    cursor = either.get(f"{BOARD}?limit=2", "organiser").json()["next"]
    assert cursor
    for role in (None, "viewer", "organiser", "worker"):
        for path in (*ADDRESSES, f"{BOARD}?cursor={cursor}", f"{BOARD}?limit=1&cursor={cursor}"):
            short, long = both(either, path, role)
            assert short == long, (role, path)


def test_a_page_that_is_there_is_not_sent_again(either: House) -> None:
    """An ETag of one way is good on the other."""
    either.contest(people=3)
    for path in (BOARD, f"{BOARD}/rows/u1"):
        tag = either.get(path, headers=LONG).headers["etag"]
        again = either.get(path, headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert either.get(path, headers={"if-none-match": '"other"'}).content


def test_a_freeze_and_a_new_board_show_at_once(either: House) -> None:
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


def test_requests_are_counted_under_their_route(either: House) -> None:
    """The metrics of a route do not depend on the way its answers took."""
    either.contest(people=3)
    either.get(BOARD)
    either.get(f"{BOARD}/rows/u1")
    told = either.client.get("/metrics", headers=either.as_("operator")).text
    for route in ("boards/{board}", "boards/{board}/rows/{id}"):
        assert f'route="/api/v1/contests/{{contest}}/{route}",status="200"}} 1.0' in told


def test_plain_requests_do_not_take_the_long_way(
    either: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else this file would compare the long way with itself."""
    either.contest(people=3)
    monkeypatch.setattr("agon.http.routes.boards._answer", None)
    for path in (BOARD, f"{BOARD}?limit=2", f"{BOARD}/rows/u1"):
        assert either.get(path).status_code == 200
        assert either.get(path, headers=LONG).status_code == 500
