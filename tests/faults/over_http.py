"""A server, a remote worker and a remote writer that communicate over HTTP."""

import socket
from pathlib import Path

import orjson

from agon.api.models.submissions import SubmissionCreate
from agon.app.worker.handlers import sandbox_runners
from agon.app.worker.loop import JobWorker
from agon.client import Client
from agon.http.process import server
from agon.logs import start_logging
from agon.settings import Settings
from faults import parts

_MANY = "1000000000/second"
RETRY_TIMEOUT_S = 300.0
"""Seconds for which a remote process retries a request, since servers are killed repeatedly."""


def serve(url: str, listening: socket.socket) -> None:
    """Serve on a socket that outlives this process, until killed."""
    settings = Settings(
        database=url, auth="open", rate_limit_address=_MANY, rate_limit_token=_MANY,
    )  # fmt: skip
    start_logging(form="text", level="error")
    server(parts.instance(url), settings).run(sockets=[listening])


def worker(port: int, name: str, finished: Path) -> None:
    """Judge for an instance over HTTP, until killed."""
    with _client(port) as client:
        source = client.job_source(worker=name)
        runners = sandbox_runners(parts.SlowSandbox())
        JobWorker(source, runners, on_result=lambda result: parts.note_end(finished, result)).work()


def writer(port: int, name: str, journal: Path) -> None:
    """Send requests over HTTP until killed; the client repeats a request without a response."""
    with _client(port) as client:
        parts.write(journal, lambda number: request(client, name, number))


def request(client: Client, name: str, number: int) -> None:
    """Send one request as :func:`faults.parts.request` does."""
    if parts.kind(name, number) == "submission":
        body = parts.submission(name, number)
        created = SubmissionCreate(
            content=dict(body.content), user=body.user, problem=body.problem,
            external_id=body.external_id,
        )  # fmt: skip
        client.submissions.create(parts.DOJO, created)
        return
    lines = (
        orjson.dumps({"table": table, "row": row, "external_id": external_id}) + b"\n"
        for table, row, external_id in parts.matches(name, number)
    )
    client.records.add(parts.RECORDED, lines)


def _client(port: int) -> Client:
    return Client(f"http://127.0.0.1:{port}", patience=RETRY_TIMEOUT_S)
