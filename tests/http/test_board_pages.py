"""Pages and rows of boards: equal to those read in a session, and never stale."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.store.connection.direct import DirectReads
from agon.store.session import Store
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from sizes import ALL, sample

if TYPE_CHECKING:
    from agon.ledger.contest_state import NameDisplay, Visibility

pytestmark = pytest.mark.one_database

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
    f"{BOARD}?q=zoe&limit=2",
    f"{BOARD}?sort=-score&limit=2",
    f"{BOARD}?sort=-components.quality_prompts&minimum=1",
    f"{BOARD}?sort=scores",
    f"{BOARD}?sort=score&q=u1",
    f"{BOARD}?sort=score&around=u1",
    f"{BOARD}?sort=id&maximum=1",
    f"{BOARD}?sort=id&values=u1,u2",
    f"{BOARD}?sort=-score&values=many",
    f"{BOARD}?sort=-score&values=1&minimum=1",
    f"{BOARD}?values=u1",
    f"{BOARD}?sort=score&minimum=many",
    f"{BOARD}?minimum=1",
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
        url = server.service()
    instance = instance_at(tmp_path, url=url, rate_limit_address="100000/second",
                     rate_limit_token="100000/second")  # noqa: S106 (a rate)  # fmt: skip
    yield instance
    instance.close()


def both(
    instance: Instance, path: str, monkeypatch: pytest.MonkeyPatch, role: str | None = None
) -> list[Any]:
    """Return the responses read without and with a session, without headers that vary by time."""
    store = instance.service.store
    with ExitStack() as sessions:
        responses = [_response(instance, path, role)]
        states = count()  # each another, so that nothing is cached
        monkeypatch.setattr(Store, "state", lambda _: next(states))
        monkeypatch.setattr(Store, "rows", lambda _: sessions.enter_context(store.read()))
        responses.append(_response(instance, path, role))
    monkeypatch.undo()
    return responses


def _response(instance: Instance, path: str, role: str | None) -> Any:
    response = instance.get(path, role)
    headers = {
        name: response.headers.get(name)
        for name in ("content-type", "etag", "cache-control", "vary", "content-length")
    }
    content = response.content
    if response.status_code != 200:
        content = {key: value for key, value in response.json().items() if key != "instance"}
        del headers["content-length"]
    return response.status_code, headers, content


@pytest.mark.sample(1)
@pytest.mark.parametrize("state", ["open", "frozen", "final", "private"])
def test_pages_equal_those_read_in_a_session(
    either: Instance, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP reads rows without a transaction, and views once for a state of the database."""
    names: NameDisplay = "hidden" if state == "final" else "shown"
    visibility: Visibility = "private" if state == "private" else "public"
    either.contest(people=5, visibility=visibility, names=names)
    if state in {"frozen", "final"}:
        transitions.freeze(either.service, "spring", by=ORGANISER)
        more = [("users", {"id": "late", "created_at": "2026-01-01T00:00:00Z"}, None)]
        record(either.service, "spring", more, by=ORGANISER)
        publish(either.service, "spring")
    if state == "final":
        transitions.finalize(either.service, "spring", by=ORGANISER)
    cursor = either.get(f"{BOARD}?limit=2", "organiser").json()["next"]
    assert cursor
    paths = (*ADDRESSES, f"{BOARD}?cursor={cursor}", f"{BOARD}?limit=1&cursor={cursor}")
    for role in (None, "viewer", "organiser", "worker") if ALL else (None, "organiser"):
        for path in paths if role is None else sample(paths, at_least=10):
            read, in_session = both(either, path, monkeypatch, role)
            assert read == in_session, (role, path)
            assert read[0] < 500, (role, path)


@pytest.mark.exhaustive
def test_an_unchanged_page_returns_304(either: Instance) -> None:
    """Boards are polled; an unchanged page must cost only a few bytes."""
    either.contest(people=3)
    for path in (BOARD, f"{BOARD}/rows/u1", f"{BOARD}/unscored", f"{BOARD}?q=u"):
        tag = either.get(path).headers["etag"]
        again = either.get(path, headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert either.get(path, headers={"if-none-match": '"other"'}).content


def test_hidden_names_are_on_no_page_from_then_on(either: Instance) -> None:
    """A cache asks with the ETag of a page that has them; rows stay the bytes that were hashed."""
    either.contest(people=3, names="shown")
    paths = (BOARD, f"{BOARD}/rows/u1", f"{BOARD}?sort=id", f"{BOARD}?q=zo", f"{BOARD}?q=u",
             "/contests/spring/participants", "/contests/spring/participants/u1")  # fmt: skip
    before = [either.get(path) for path in paths]
    assert before[0].json()["names"] == {f"u{n}": f"Zoë {n}" for n in range(3)}
    assert before[6].json()["name"] == "Zoë 1"
    hidden = either.client.patch(
        "/api/v1/contests/spring", json={"names": "hidden"}, headers=either.as_("organiser")
    )
    assert hidden.json()["names"] == "hidden"
    for path, page in zip(paths, before, strict=True):
        tag = page.headers.get("etag")
        after = either.get(path, headers={} if tag is None else {"if-none-match": tag})
        assert (after.status_code, "Zo" in after.text) == (200, False)
        assert "names" not in after.json()
    assert either.get(paths[0]).content.partition(b'"rows":')[2] in before[0].content
    assert [len(either.get(path).json()["rows"]) for path in paths[3:5]] == [0, 3]


@pytest.mark.exhaustive
def test_names_cost_nothing_until_there_are_any(
    either: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first name is on the pages of the publication that has it."""
    read = DirectReads.query
    asked: list[str] = []

    def note(rows: DirectReads, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if "participant_names" in sql:
            asked.append(sql)
        return read(rows, sql, values)

    monkeypatch.setattr(DirectReads, "query", note)
    either.contest(people=0, names="shown")
    record(either.service, "spring", [("users", {"id": "u9"}, None)], by=ORGANISER)
    publish(either.service, "spring")
    assert either.get(BOARD).json()["names"] == {}
    assert asked == []
    either.people("spring", 1)
    assert either.get(BOARD).json()["names"] == {"u0": "Zoë 0"}
    assert len(asked) == 1


@pytest.mark.exhaustive
def test_a_freeze_and_a_new_snapshot_are_visible_immediately(either: Instance) -> None:
    """No board state is cached between two requests."""
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


@pytest.mark.exhaustive
def test_metrics_count_board_requests_under_their_route(either: Instance) -> None:
    """Metrics do not depend on whether a response was read in a session."""
    either.contest(people=3)
    either.get(BOARD)
    either.get(f"{BOARD}/rows/u1")
    metrics = either.client.get("/metrics", headers=either.as_("operator")).text
    for route in ("boards/{board}", "boards/{board}/rows/{id}"):
        assert f'route="/api/v1/contests/{{contest}}/{route}",status="200"}} 1.0' in metrics


@pytest.mark.exhaustive
def test_every_page_is_read_without_a_session(
    either: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the tests above would compare two session reads with each other."""
    either.contest(people=3)
    queries = ("", "?limit=2", "/rows/u1", "/rows/u1?neighbors=1", "?around=u1", "/unscored",
               "?as_of=2099-01-01T00:00:00Z")  # fmt: skip
    for query in queries:
        assert either.get(BOARD + query).status_code == 200
    monkeypatch.setattr(Store, "read", None)
    for query in queries:
        assert either.get(BOARD + query).status_code == 200


@pytest.mark.exhaustive
def test_a_page_for_staff_is_not_cached_for_the_public(either: Instance) -> None:
    """Staff see results after a freeze; a shared cache must not serve them to the public."""
    either.contest(people=3)
    transitions.freeze(either.service, "spring", by=ORGANISER)
    either.people("spring", 1, begin=50)
    own = either.get(BOARD, "organiser")
    assert own.headers["cache-control"] == "private, no-cache"
    public = either.get(BOARD)
    assert public.headers["cache-control"] == "no-cache"
    assert public.json()["rows_total"] < own.json()["rows_total"]


def test_all_errors_of_a_request_are_listed_together(either: Instance) -> None:
    """A client can then fix all errors before the next request."""
    either.contest(people=3)
    response = either.get("/contests/Spring/boards/user-score/rows/%00?neighbors=-1")
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [
        "/path/contest", "/path/id", "/query/neighbors",
    ]  # fmt: skip
    response = either.get(f"{BOARD}?limt=2")
    assert response.json()["detail"].endswith("did you mean limit?")


def test_other_methods_return_405(either: Instance) -> None:
    """The board routes accept only GET, like all other read routes."""
    for method in ("POST", "DELETE", "OPTIONS"):
        response = either.client.request(method, f"/api/v1{BOARD}", headers=either.as_("operator"))
        assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")
