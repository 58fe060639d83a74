"""Serve a bot that verifies signatures: a reference for authors, and a partner in tests."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

from agon.app.webhooks.signatures import TOLERANCE, verify
from agon.errors import CheckFailed

Answer: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Returns the reply to work; a ping is answered by the server."""

_MAX_BODY: Final = 1 << 20


def echo(work: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the prompt as the answer, and the first label as the vote.

    Example:
        >>> echo({"kind": "answer", "prompt": "Why?", "max_chars": 3})
        {'text': 'Why'}
    """
    if work["kind"] == "vote":
        return {"vote": "A"}
    return {"text": str(work["prompt"])[: int(work["max_chars"])]}


def answer_by_templates(lines: Sequence[str]) -> Answer:
    """Return a bot that fills one of some lines, in which ``{prompt}`` stands for the prompt.

    The line follows from the work's id. Its vote is the shorter answer.
    """

    def answer(work: Mapping[str, Any]) -> Mapping[str, str]:
        if work["kind"] == "vote":
            answers = work["answers"]
            return {"vote": min("A", "B", key=lambda label: len(answers[label]))}
        digest = hashlib.sha256(str(work["id"]).encode()).digest()
        line = lines[int.from_bytes(digest[:8], "big") % len(lines)]
        return {"text": line.replace("{prompt}", str(work["prompt"]))[: int(work["max_chars"])]}

    return answer


class MessageVerification:
    """Verifies messages: signed with a secret, of now, and each only once.

    A work that is sent again after a broken connection has the same id and another signature, so
    that only a copy of a message is rejected. It may be used by several threads.
    """

    def __init__(
        self,
        secrets: Sequence[bytes],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Store the secrets; without one, nothing is verified."""
        self._secrets = tuple(secrets)
        self._now = now
        self._seen: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def require_valid(self, headers: Mapping[str, str], body: bytes) -> None:
        """Check a message.

        Raises:
            CheckFailed: it is not signed with a secret, too old or too new, or a copy.
        """
        if not self._secrets:
            return
        now = self._now()
        for number, secret in enumerate(self._secrets, start=1):
            try:
                verify(secret, headers=headers, body=body, now=now)
                break
            except CheckFailed:
                if number == len(self._secrets):
                    raise
        key = "/".join(
            value
            for name, value in sorted((name.lower(), value) for name, value in headers.items())
            if name in {"webhook-id", "webhook-signature", "webhook-timestamp"}
        )
        with self._lock:
            self._seen = {
                name: index for name, index in self._seen.items() if now - index <= 2 * TOLERANCE
            }
            if key in self._seen:
                raise CheckFailed("this message was received before; reject the copy")
            self._seen[key] = now


@contextmanager
def serve_bot(
    answer: Answer, *, verification: MessageVerification, host: str = "127.0.0.1", port: int = 0
) -> Iterator[ThreadingHTTPServer]:
    """Yield the server of a bot, which is not serving yet; it is closed afterwards."""
    with ThreadingHTTPServer((host, port), _handler(answer, verification)) as server:
        yield server


def _handler(answer: Answer, verification: MessageVerification) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            if not length.isdigit() or int(length) > _MAX_BODY:
                self._reply(413, {"error": "the body is too large, or has no content-length"})
                return
            body = self.rfile.read(int(length))
            try:
                verification.require_valid(dict(self.headers.items()), body)
            except CheckFailed as error:
                self._reply(401, {"error": str(error)})
                return
            try:
                work = json.loads(body)
                reply = {"nonce": work["nonce"]} if work["kind"] == "ping" else answer(work)
            except (ValueError, TypeError, KeyError) as error:
                self._reply(400, {"error": f"the work was not understood ({error!r})"})
                return
            self._reply(200, reply)

        def _reply(self, status: int, value: Mapping[str, str]) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing; the caller decides what is printed."""

    return Handler
