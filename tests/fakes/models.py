"""Serve models on the loopback: both protocols, with a scripted reply to every request."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from agon.app.arena.judging.choice import Provider, ServedModel

KEY = "sk-test-0123456789"
TOKENS = (70, 30)
"""Tokens read and written that every reply reports."""


@dataclass(frozen=True)
class Asked:
    """What a model was asked: system prompt and content."""

    system: str
    content: str

    @property
    def nonce(self) -> str:
        """The nonce of the question."""
        match = re.search(r"\[begin prompt (\w+)\]", self.content)
        return match[1] if match else ""

    def quotation(self, name: str) -> str:
        """Return a quoted text without its marks."""
        start, end = f"[begin {name} {self.nonce}]\n", f"[end {name} {self.nonce}]"
        quoted = self.content.split(start, 1)[1].split(end, 1)[0]
        return "\n".join(line.removeprefix("| ") for line in quoted.splitlines())


def verdict(asked: Asked, choice: str) -> str:
    """Return a valid verdict."""
    return json.dumps({"nonce": asked.nonce, "choice": choice})


@dataclass(frozen=True)
class Reply:
    """A response: status, headers, body; and how it is sent.

    Attributes:
        manner: ``whole``; ``cut`` (the connection ends within the body); ``chunked`` (the same,
            within a chunk); ``silent`` (nothing is sent); ``trickle`` (one byte after another,
            without end).
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: str = "whole"


Brain = Callable[[Asked], str | Reply]
"""Returns the text that the model writes, or a whole response."""


@dataclass
class ModelServer:
    """A server of one model.

    Attributes:
        url: its base URL.
        replies: what is sent next, in order; afterwards, the brain's texts.
        brain: writes texts.
        asked: what was asked.
        requests: path, headers and body of each request.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    brain: Brain = lambda asked: verdict(asked, "A")
    asked: list[Asked] = field(default_factory=list)
    requests: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def reply(self, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Return the response to a request."""
        self.requests.append((path, headers, body))
        request = json.loads(body)
        is_anthropic = path.endswith("/v1/messages")
        asked = _asked_of(request, is_anthropic=is_anthropic)
        self.asked.append(asked)
        if self.replies:
            return self.replies.pop(0)
        written = self.brain(asked)
        if isinstance(written, Reply):
            return written
        return Reply(body=anthropic_body(written) if is_anthropic else openai_body(written))


def anthropic_body(text: str, **changes: Any) -> bytes:
    """Return a response of the Messages API."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "thinking", "thinking": "", "signature": "s"},
                    {"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": TOKENS[0], "output_tokens": TOKENS[1],
                  "cache_read_input_tokens": None},
    }  # fmt: skip
    return json.dumps({**body, **changes}).encode()


def openai_body(text: str | None, *, finish: str = "stop", **changes: Any) -> bytes:
    """Return a chat completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {
        "id": "c1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": 100},
    }  # fmt: skip
    return json.dumps({**body, **changes}).encode()


def error_body(kind: str, *, code: str | None = None) -> bytes:
    """Return the body of an error, which repeats the key as careless gateways do."""
    error = {"type": kind, "message": f"Failed for {KEY}.", "code": code}
    return json.dumps({"type": "error", "error": error}).encode()


def _asked_of(request: Mapping[str, Any], *, is_anthropic: bool) -> Asked:
    if is_anthropic:
        return Asked(request["system"], request["messages"][0]["content"])
    system, user = request["messages"]
    return Asked(system["content"], user["content"])


def served(provider: Provider, url: str, *, model: str = "m", max_tokens: int = 64) -> ServedModel:
    """Return the model of a server, which is asked in a protocol."""
    return ServedModel(provider=provider, url=url, model=model, max_tokens=max_tokens)


@contextmanager
def serve_model(brain: Brain | None = None) -> Iterator[ModelServer]:
    """Serve a model until the block ends; requests that hang then end, too."""
    model = ModelServer() if brain is None else ModelServer(brain=brain)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(model.reply(self.path, headers, body))

        def _send(self, reply: Reply) -> None:
            self.close_connection = True
            if reply.manner == "silent":
                model.stopped.wait()
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            length = len(reply.body) + {"whole": 0, "trickle": 10**6}.get(reply.manner, 10)
            if reply.manner == "chunked":
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            if reply.manner == "chunked":
                self.wfile.write(f"{length:x}\r\n".encode())
            self.wfile.write(reply.body)
            while reply.manner == "trickle" and not model.stopped.wait(0.01):
                self.wfile.write(b" ")

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Ignore clients that have gone."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        model.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()
