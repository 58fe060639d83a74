"""Serve a model on the loopback, in both protocols, whose answers are given beforehand."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint:
    """Answer chat completions or messages from a list; record the requests."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""

    def listing(self) -> tuple[int, bytes, dict[str, str]]:
        """Return the response to ``GET /models``."""
        first = self._answers[0]
        return first if isinstance(first, tuple) else (404, b"", {})

    def answer(
        self, request: dict[str, Any], key: str | None, *, is_message: bool = False
    ) -> tuple[int, bytes, dict[str, str]] | bytes:
        """Give the next answer: text, (code, body, headers), or bytes for a broken connection."""
        self.requests.append(request)
        self.keys.append(key)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, (tuple, bytes)):
            return answer
        return 200, message(answer) if is_message else completion(answer), {}


def completion(text: str, **usage: Any) -> bytes:
    """Write a chat completion."""
    used = {"prompt_tokens": 10, "completion_tokens": 3, **usage}
    return json.dumps({"choices": [{"message": {"content": text}}], "usage": used}).encode()


def message(text: str, **usage: Any) -> bytes:
    """Write a response of the Messages API, with a thought in front."""
    used = {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 3, **usage}
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}]
    return json.dumps({"type": "message", "content": content, "usage": used}).encode()


@contextmanager
def serving(*answers: Any, host: str = "127.0.0.1") -> Iterator[Endpoint]:
    """Serve an endpoint on the loopback, or for containers on another address of this machine."""
    endpoint = Endpoint(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            key = self.headers.get("Authorization") or self.headers.get("x-api-key")
            is_message = self.path.endswith("/v1/messages")
            answer = endpoint.answer(json.loads(body), key, is_message=is_message)
            if isinstance(answer, bytes):
                self.close_connection = True
                return
            self._respond(*answer)

        def do_GET(self) -> None:
            """List no models: fail as the first answer does, or succeed."""
            self._respond(*endpoint.listing())

        def _respond(self, code: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
