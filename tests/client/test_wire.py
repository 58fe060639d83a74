"""Requests over a bad line: repeated without harm, refused in the server's own words."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest

from agon.app.queue.source import Assignment
from agon.client import Client
from agon.client.errors import error_of
from agon.client.uploads import line_chunks
from agon.errors import (
    AgonError,
    CheckFailed,
    Conflict,
    Forbidden,
    InvalidRule,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unreadable,
)

CONTEST: dict[str, Any] = {
    "id": "spring", "discipline": "arena", "title": "Spring", "description": "",
    "visibility": "public", "state": "open", "series": None, "season": None,
    "edition": "arena/sentience-1", "overrides": {}, "boards": ["bots"],
    "created_at": "2026-11-22T09:00:00Z", "seq": 2, "frozen_at": None, "finalized_at": None,
    "a field of tomorrow": 1,
}  # fmt: skip


class Line:
    """Answer requests by a script, and remember them."""

    def __init__(self, *responses: httpx2.Response | Exception) -> None:
        self.answers = list(responses)
        self.requests: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Give the next answer of the script; the last one for ever."""
        self.requests.append(request)
        response = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(response, Exception):
            raise response
        return response

    def client(self, **options: Any) -> Client:
        """Make a client at this line."""
        transport = httpx2.MockTransport(self)
        return Client("http://far", transport=transport, sleep=self.slept.append, **options)


def problem(status: int, code: str, detail: str, **headers: str) -> httpx2.Response:
    """Make a server's refusal."""
    body = {"code": code, "detail": detail, "errors": []}
    return httpx2.Response(status, headers=headers, content=orjson.dumps(body))


def contest_response(**more: Any) -> httpx2.Response:
    """Answer with a contest."""
    return httpx2.Response(200, json={**CONTEST, **more})


@pytest.mark.parametrize(
    "trouble",
    [
        httpx2.ConnectError("refused"),
        httpx2.ReadError("reset"),
        httpx2.ReadTimeout("silence"),
        problem(503, "unavailable", "later"),
        problem(429, "too-many", "slowly"),
        problem(422, "under-way", "the first is under way"),
        httpx2.Response(502, text="<html>Bad Gateway</html>"),
    ],
)
def test_what_changes_something_is_sent_again_under_the_same_key(
    trouble: httpx2.Response | Exception,
) -> None:
    """A connection can be lost after the server did what was asked."""
    line = Line(trouble, contest_response())
    with line.client() as client:
        assert client.contests.freeze("spring").id == "spring"
    first, second = line.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert len(line.slept) == 1


def test_each_request_has_a_key_of_its_own() -> None:
    """Else the second freeze would be answered as the first was."""
    line = Line(contest_response())
    with line.client() as client:
        client.contests.freeze("spring")
        client.contests.freeze("spring")
    assert len({request.headers["idempotency-key"] for request in line.requests}) == 2


def test_a_server_says_how_long_to_wait() -> None:
    """Retry-After is obeyed, and patience has an end."""
    busy = problem(429, "too-many", "slowly", **{"retry-after": "7"})
    line = Line(busy, contest_response())
    with line.client() as client:
        client.contests.get("spring")
    assert line.slept == [7.0]
    line = Line(busy)
    with line.client(patience=20) as client, pytest.raises(TooMany, match="slowly") as refused:
        client.contests.get("spring")
    assert (line.slept, refused.value.retry_after) == ([7.0, 7.0], 7.0)


def test_a_server_out_of_reach_is_unavailable() -> None:
    """With the address, and what to look at."""
    line = Line(httpx2.ConnectError("Connection refused"))
    with line.client() as client, pytest.raises(Unavailable, match=r"http://far .*agon serve"):
        client.contests.get("spring")
    assert 25 < sum(line.slept) <= 30


def test_what_is_being_made_is_asked_for_again() -> None:
    """Rows of the past are rebuilt by a worker; 202 to a change is a yes."""
    head = {"contest": "s", "seq": 1, "head_sha256": "", "at": "", "signature": "",
            "public_key": ""}  # fmt: skip
    line = Line(httpx2.Response(202, headers={"retry-after": "2"}, json={}),
                httpx2.Response(200, json=head))  # fmt: skip
    with line.client() as client:
        assert client.ledgers.head("s").seq == 1
    assert line.slept == [2.0]
    line = Line(httpx2.Response(202, json=CONTEST))
    with line.client() as client:
        assert client.contests.open("spring").id == "spring"
    assert line.slept == []


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", Unauthenticated),
        (403, "forbidden", Forbidden),
        (404, "not-found", NotFound),
        (409, "conflict", Conflict),
        (422, "invalid-records", Unreadable),
        (422, "invalid-rule", InvalidRule),
        (422, "check-failed", CheckFailed),
        (422, "idempotency-key-reused", Unreadable),
        (413, "body-too-large", Unreadable),
        (409, "a-code-of-tomorrow", Conflict),
        (500, "internal-error", Unavailable),
        (503, "unavailable", Unavailable),
    ],
)
def test_a_refusal_is_the_error_it_was(status: int, code: str, kind: type[AgonError]) -> None:
    """So that exit codes are the same wherever a command works."""
    error = error_of(status, orjson.dumps({"code": code, "detail": "so and so"}))
    assert type(error) is kind
    assert str(error) == "so and so"


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"detail":7}', b'{"errors":5}', b"<html>"])
def test_an_answer_that_is_no_problem_is_still_told(body: bytes) -> None:
    """Proxies write what they like."""
    assert str(error_of(404, body)).startswith("the server answered 404: ")


def test_faults_that_the_message_does_not_hold_are_listed() -> None:
    """Forms are refused with a place for each fault."""
    body = {"code": "invalid-request", "detail": "1 fault",
            "errors": [{"pointer": "/title", "detail": "too long"}]}  # fmt: skip
    assert str(error_of(422, orjson.dumps(body))) == "1 fault\n/title: too long"


@pytest.mark.parametrize("url", ["", "far", "ftp://far", "http://", "http://ada:secret@far"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """Nothing is sent to a place that was not meant."""
    with pytest.raises(Unreadable, match="is not a server"):
        Client(url)


def test_names_are_escaped_in_addresses() -> None:
    """An id may hold a slash, a question mark, a space."""
    line = Line(httpx2.Response(200, json={"manifest": {}}))
    with line.client() as client, pytest.raises(Unavailable, match="not one of this version"):
        client.boards.proof("spring", "a/b ?c", board="problem:x")
    path = line.requests[0].url.raw_path.decode()
    assert path == "/api/v1/contests/spring/boards/problem%3Ax/proofs/a%2Fb%20%3Fc"


def test_something_else_than_an_agon_server_is_told() -> None:
    """A typing error in the port finds another service."""
    for response in (httpx2.Response(200, text="hello"),
                   httpx2.Response(301, headers={"location": "http://other"})):  # fmt: skip
        line = Line(response)
        with line.client() as client, pytest.raises(Unavailable, match=r"JSON|give that URL"):
            client.contests.get("spring")


def test_a_long_stream_goes_in_portions_of_whole_lines() -> None:
    """Whatever its length, memory holds one portion; the sums are told."""
    response = {"added": 2, "repeated": 1, "replaced": 0, "first_seq": 3, "last_seq": 4}
    line = Line(httpx2.Response(201, json=response))
    sent: list[int] = []
    with line.client(chunk=10, progress=sent.append) as client:
        summary = client.records.add("s", [b"12345\n1234", b"5\n12345\n1", b""])
    assert [request.content for request in line.requests] == [b"12345\n", b"12345\n", b"12345\n1"]
    assert (summary.added, summary.repeated, summary.first_seq, summary.last_seq) == (6, 3, 3, 4)
    assert sent == [6, 12, 19]


def test_a_refused_portion_tells_what_is_entered_already() -> None:
    """Its line numbers are its own."""
    yes = httpx2.Response(201, json={"added": 1, "repeated": 0, "replaced": 0})
    line = Line(yes, problem(422, "invalid-records", "line 1: is wrong"))
    with line.client(chunk=4) as client, pytest.raises(Unreadable) as refused:
        client.records.add("s", [b"abc\nxyz\n"])
    assert str(refused.value).startswith("the lines before 2 are stored")


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_portions_lose_nothing(size: int) -> None:
    """However a stream is cut."""
    whole = b"a\n\nbcdefgh\ni"
    for cut in range(len(whole)):
        assert b"".join(line_chunks([whole[:cut], whole[cut:]], size=size)) == whole


def stream(*events: str) -> httpx2.Response:
    """Answer with events."""
    return httpx2.Response(200, content="".join(events).encode())


def event(number: int) -> str:
    """Write one event as a server does."""
    data = orjson.dumps(
        {"contest": "s", "seq": number, "at": "2026-11-22T09:00:00Z", "kind": "k", "body": {}}
    )
    return f"id: {number}\nevent: k\ndata: {data.decode()}\n\n"


def test_a_stream_of_events_goes_on_where_it_was_cut() -> None:
    """Half an event is not told; the next connection brings it whole."""
    line = Line(
        stream("retry: 1000\n\n", event(1), ": alive\n\n", event(2), "id: 3\nda"),
        httpx2.ConnectError("gone"),
        stream(event(3)),
    )
    with line.client() as client:
        events = client.events.follow("s", since="0")
        assert [next(events).id for _ in range(3)] == ["1", "2", "3"]
    assert [request.headers.get("last-event-id") for request in line.requests] == ["0", "2", "2"]


def zip_file(**files: bytes) -> bytes:
    """Make a ZIP file."""
    to = BytesIO()
    with zipfile.ZipFile(to, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return to.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"no zip",
        zip_file(),
        zip_file(contest__json=b"{}"),
        zip_file(**{"contest.json": b"", "ledger.ndjson": b"", "heads.ndjson": b"", "x": b""}),
        zip_file(**{"contest.json": b"", "ledger.ndjson": b"", "../../heads.ndjsom": b""}),
    ],
)
def test_an_export_that_is_none_leaves_nothing(content: bytes, tmp_path: Path) -> None:
    """A server is not believed about names of files."""
    line = Line(httpx2.Response(200, content=content))
    with line.client() as client, pytest.raises(Unavailable):
        client.ledgers.export("spring", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


JOB: dict[str, Any] = {
    "id": "j1", "kind": "judge", "state": "leased", "contest": "spring",
    "created_at": "2026-11-22T09:00:00Z", "started_at": None, "ended_at": None,
    "not_before": "2026-11-22T09:00:00Z", "attempts": 1, "max_attempts": 3, "by": "system",
    "worker": "w", "progress": None, "causes": [], "position": None, "eta_seconds": None,
}  # fmt: skip
ASSIGNMENT = Assignment(
    id="j1", kind="judge", payload={}, lease="l1", lease_seconds=30.0, attempt=1
)


def _claim(client: Client) -> object:
    return client.job_source(worker="w").claim(["judge"])


def test_a_worker_far_away_gets_jobs_and_hands_in() -> None:
    """The port of agon worker, over HTTP."""
    line = Line(httpx2.Response(204), httpx2.Response(200, json=ASSIGNMENT.to_dict()),
                httpx2.Response(200, json=JOB))  # fmt: skip
    with line.client(token="agon_t") as client:  # noqa: S106 (of a test)
        assert _claim(client) is None
        assert _claim(client) == ASSIGNMENT
        source = client.job_source(worker="w", wait=line.slept.append)
        source.heartbeat(ASSIGNMENT, 0.5)
        source.complete(ASSIGNMENT, {"verdict": "ok"})
        source.fail(ASSIGNMENT, "\0" * 3000, retry=False)
        source.wait(1.0)
    bodies = [orjson.loads(request.content) for request in line.requests]
    assert bodies[2] == {"lease": "l1", "progress": 0.5}
    assert bodies[3] == {"lease": "l1", "outcome": {"verdict": "ok"}}
    assert (len(bodies[4]["cause"]), "\0" in bodies[4]["cause"]) == (2000, False)
    assert line.slept == [1.0]
    assert {request.headers["authorization"] for request in line.requests} == {"Bearer agon_t"}


@pytest.mark.parametrize("act", [_claim, lambda client: client.contests.get("x")])
def test_a_lost_lease_or_contest_is_told_at_once(act: Callable[[Client], object]) -> None:
    """What will not become better is not asked again."""
    line = Line(problem(409, "conflict", "the lease is another's"))
    with line.client() as client, pytest.raises(Conflict, match="another's"):
        act(client)
    assert (len(line.requests), line.slept) == (1, [])
