"""Send an application requests whose path and query are bytes, as servers hand them on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class RawResponse:
    """A response: its status, its headers and its body."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


def send_raw(
    app: Any,
    path: bytes,
    query: bytes = b"",
    *,
    method: str = "GET",
    headers: Sequence[tuple[bytes, bytes]] = (),
    body: bytes = b"",
) -> RawResponse:
    """Send a request and return the response; an error of the application is status 500."""
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path.decode("latin-1")), "raw_path": path, "query_string": query,
        "root_path": "", "headers": [(b"host", b"testserver"), *headers],
        "client": ("127.0.0.1", 1), "server": ("testserver", 80), "state": {},
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return RawResponse(sent[0]["status"], sent[0]["headers"], content)
