"""Requests over an unreliable connection: safe retries and errors with the server's message."""

import ssl
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from threading import Event
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
    "version": "3f0c8a51b2d94e67",
    "starts_at": None, "ends_at": None, "voided_at": None, "void_reason": None, "names": None,
    "clock": None,
    "a field of tomorrow": 1,
}  # fmt: skip


class Line:
    """A fake server with scripted responses that stores its requests."""

    def __init__(self, *responses: httpx2.Response | Exception) -> None:
        self.answers = list(responses)
        self.requests: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Return the next scripted response; the last one repeats."""
        self.requests.append(request)
        response = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(response, Exception):
            raise response
        return response

    def client(self, **options: Any) -> Client:
        """Return a client of this server."""
        transport = httpx2.MockTransport(self)
        return Client("http://far", transport=transport, sleep=self.slept.append, **options)


def problem(status: int, code: str, detail: str, **headers: str) -> httpx2.Response:
    """Return an error response."""
    body = {"code": code, "detail": detail, "errors": []}
    return httpx2.Response(status, headers=headers, content=orjson.dumps(body))


def contest_response(**more: Any) -> httpx2.Response:
    """Return a response with a contest."""
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
def test_a_write_request_is_retried_with_the_same_key(
    trouble: httpx2.Response | Exception,
) -> None:
    """A connection can be lost after the server has executed the request."""
    line = Line(trouble, contest_response())
    with line.client() as client:
        assert client.contests.freeze("spring").id == "spring"
    first, second = line.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert len(line.slept) == 1


def test_each_request_has_a_key_of_its_own() -> None:
    """Otherwise the second freeze would get the response of the first."""
    line = Line(contest_response())
    with line.client() as client:
        client.contests.freeze("spring")
        client.contests.freeze("spring")
    assert len({request.headers["idempotency-key"] for request in line.requests}) == 2


def test_retry_after_is_respected() -> None:
    """The client waits as long as the server says, up to its own timeout."""
    busy = problem(429, "too-many", "slowly", **{"retry-after": "7"})
    line = Line(busy, contest_response())
    with line.client() as client:
        client.contests.get("spring")
    assert line.slept == [7.0]
    line = Line(busy)
    with line.client(patience=20) as client, pytest.raises(TooMany, match="slowly") as refused:
        client.contests.get("spring")
    assert (line.slept, refused.value.retry_after) == ([7.0, 7.0], 7.0)


def test_an_unreachable_server_raises_unavailable() -> None:
    """The message contains the URL and a remedy."""
    line = Line(httpx2.ConnectError("Connection refused"))
    with line.client() as client, pytest.raises(Unavailable, match=r"http://far .*agon serve"):
        client.contests.get("spring")
    assert 25 < sum(line.slept) <= 30


def test_a_client_that_is_to_stop_repeats_no_request() -> None:
    """As a worker on SIGTERM, whose server cannot be reached."""
    line, stopping = Line(httpx2.ConnectError("Connection refused")), Event()
    stopping.set()
    transport = httpx2.MockTransport(line)
    with Client("http://far", transport=transport, sleep=stopping.wait) as client:
        source = client.job_source(worker="w", wait=stopping.wait)
        with pytest.raises(Unavailable, match="cannot be reached"):
            source.claim(("judge",))
    assert len(line.requests) == 1
    assert not source.is_claiming


def test_a_202_response_to_a_read_is_retried() -> None:
    """A worker rebuilds past rows; 202 to a write means that it is accepted."""
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
def test_an_error_response_raises_the_original_error(
    status: int, code: str, kind: type[AgonError]
) -> None:
    """Exit codes are then the same locally and remotely."""
    error = error_of(status, orjson.dumps({"code": code, "detail": "so and so"}))
    assert type(error) is kind
    assert str(error) == "so and so"


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"detail":7}', b'{"errors":5}', b"<html>"])
def test_an_error_without_problem_details_is_still_reported(body: bytes) -> None:
    """Proxies return error bodies in any format."""
    assert str(error_of(404, body)).startswith("the server answered 404: ")


def test_field_errors_are_added_to_the_message() -> None:
    """Validation errors have a pointer for each field."""
    body = {"code": "invalid-request", "detail": "1 fault",
            "errors": [{"pointer": "/title", "detail": "too long"}]}  # fmt: skip
    assert str(error_of(422, orjson.dumps(body))) == "1 fault\n/title: too long"


@pytest.mark.parametrize("url", ["", "far", "ftp://far", "http://", "http://ada:secret@far"])
def test_an_invalid_server_url_is_rejected(url: str) -> None:
    """No request may go to an unintended server."""
    with pytest.raises(Unreadable, match="is not a server"):
        Client(url)


def test_names_are_escaped_in_urls() -> None:
    """An id may contain a slash, a question mark or a space."""
    line = Line(httpx2.Response(200, json={"manifest": {}}))
    with line.client() as client, pytest.raises(Unavailable, match="not one of this version"):
        client.boards.proof("spring", "a/b ?c", board="problem:x")
    path = line.requests[0].url.raw_path.decode()
    assert path == "/api/v1/contests/spring/boards/problem%3Ax/proofs/a%2Fb%20%3Fc"


def test_a_server_other_than_agon_is_reported() -> None:
    """A mistyped port may reach another service."""
    for response in (httpx2.Response(200, text="hello"),
                   httpx2.Response(301, headers={"location": "http://other"})):  # fmt: skip
        line = Line(response)
        with line.client() as client, pytest.raises(Unavailable, match=r"JSON|give that URL"):
            client.contests.get("spring")


def test_a_long_stream_is_sent_in_chunks_of_complete_lines() -> None:
    """Memory holds one chunk at a time; the returned counts are totals."""
    response = {"added": 2, "repeated": 1, "replaced": 0, "first_seq": 3, "last_seq": 4,
                "notes": [], "warnings": [], "changes": []}  # fmt: skip
    line = Line(httpx2.Response(200, json=CONTEST), httpx2.Response(201, json=response))
    sent: list[int] = []
    with line.client(chunk=10, progress=sent.append) as client:
        summary = client.records.add("s", [b"12345\n1234", b"5\n12345\n1", b""])
    assert [request.content for request in line.requests[1:]] == [
        b"12345\n",
        b"12345\n",
        b"12345\n1",
    ]
    assert (summary.added, summary.repeated, summary.first_seq, summary.last_seq) == (6, 3, 3, 4)
    assert sent == [6, 12, 19]


def test_a_rejected_chunk_reports_the_lines_already_stored() -> None:
    """Line numbers of the error count from the start of the chunk."""
    yes = httpx2.Response(
        201,
        json={
            "added": 1,
            "repeated": 0,
            "replaced": 0,
            "first_seq": 1,
            "last_seq": 1,
            "notes": [],
            "warnings": [],
            "changes": [],
        },
    )
    no = problem(422, "invalid-records", "line 1: is wrong")
    line = Line(httpx2.Response(200, json=CONTEST), yes, no)
    with line.client(chunk=4) as client, pytest.raises(Unreadable) as refused:
        client.records.add("s", [b"abc\nxyz\n"])
    assert str(refused.value).startswith("the lines before 2 are stored")


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_chunks_lose_no_bytes(size: int) -> None:
    """The chunks together equal the stream for any chunk size."""
    content = b"a\n\nbcdefgh\ni"
    for cut in range(len(content)):
        assert b"".join(line_chunks([content[:cut], content[cut:]], size=size)) == content


def stream(*events: str) -> httpx2.Response:
    """Return a response with events."""
    return httpx2.Response(200, content="".join(events).encode())


def event(number: int) -> str:
    """Return one event in the format of the server."""
    data = orjson.dumps(
        {"contest": "s", "seq": number, "at": "2026-11-22T09:00:00Z", "kind": "k", "body": {}}
    )
    return f"id: {number}\nevent: k\ndata: {data.decode()}\n\n"


def test_an_event_stream_resumes_after_a_disconnection() -> None:
    """A partial event is dropped and received completely on the next connection."""
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
    """Return a ZIP file."""
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
def test_an_invalid_export_writes_no_files(content: bytes, tmp_path: Path) -> None:
    """File names from a server are untrusted."""
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


def test_a_remote_worker_claims_jobs_and_returns_outcomes() -> None:
    """This implements the worker's port over HTTP."""
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
def test_a_lost_lease_or_contest_is_reported_without_retries(
    act: Callable[[Client], object],
) -> None:
    """Retrying a permanent error is useless."""
    line = Line(problem(409, "conflict", "the lease is another's"))
    with line.client() as client, pytest.raises(Conflict, match="another's"):
        act(client)
    assert (len(line.requests), line.slept) == (1, [])


@pytest.mark.parametrize(("url", "loads"), [("http://far", 0), ("https://far", 1)])
def test_certificates_are_loaded_only_for_https(
    url: str, loads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading them takes longer than a request; a connection with TLS must check them."""
    contexts: list[ssl.SSLContext] = []
    create = ssl.create_default_context

    def counted(*arguments: Any, **options: Any) -> ssl.SSLContext:
        contexts.append(create(*arguments, **options))
        return contexts[-1]

    monkeypatch.setattr(ssl, "create_default_context", counted)
    Client(url).close()
    assert len(contexts) == loads
