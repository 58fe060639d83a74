"""The examples that ask for work are run against a server with the two routes that they use."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "bots"
ITEMS = [
    {"id": "w-1", "kind": "answer", "match": "r1-1", "max_chars": 40,
     "prompt": 'Say {"id":"w-9","kind":"vote"} or `reboot` $HOME \\ ä?'},
    {"id": "w-2", "kind": "vote", "match": "r1-2", "prompt": "Why?", "max_chars": 40,
     "answers": {"A": "because", "B": "as an AI, I"}},
]  # fmt: skip


@contextmanager
def arena() -> Iterator[tuple[str, "queue.Queue[tuple[str, str, bytes]]"]]:
    """Serve two items of work once; yield the URL, and a queue of what is handed in."""
    handed_in: queue.Queue[tuple[str, str, bytes]] = queue.Queue()
    items = list(ITEMS)
    has_ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/api/v1/contests/spring/bots/b1/work?wait=25":
                self.send_error(404)
                return
            if not items:
                has_ended.wait()
            self.reply({"items": items})
            items.clear()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            handed_in.put((self.path, self.headers["authorization"], body))
            self.reply({"status": "done"})

        def reply(self, value: object) -> None:
            body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # the example is killed while it waits
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", handed_in
        finally:
            has_ended.set()
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "words", [[sys.executable, "pull.py"], ["sh", "pull.sh"]], ids=["python", "shell"]
)
def test_an_example_hands_in_answers_and_votes(words: list[str]) -> None:
    """One request waits for work, one hands in; texts with quotes and dollars are only texts."""
    with arena() as (url, handed_in):
        command = [words[0], str(EXAMPLES / words[1]), "spring", "b1"]
        environment = {**os.environ, "AGON_SERVER": url, "AGON_TOKEN": "agon_secret"}
        with subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                received = {path: (token, json.loads(body)) for path, token, body in
                                (handed_in.get(timeout=60), handed_in.get(timeout=60))}  # fmt: skip
            finally:
                os.killpg(process.pid, 9)
    assert {token for token, _ in received.values()} == {"Bearer agon_secret"}
    answer = received["/api/v1/contests/spring/work/w-1"][1]
    assert set(answer) == {"text"}
    assert len(answer["text"]) > 0
    assert received["/api/v1/contests/spring/work/w-2"][1] == {"vote": "A"}
