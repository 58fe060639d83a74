"""The reference bot and the examples answer an arena, and reject what is not from it."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.arena.live.network.pinging import endpoint_check
from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.webhooks.signatures import TOLERANCE, format_secret
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import CheckFailed, NotFound, Unreadable
from agon.runners.bots.commands import CommandBot
from agon.runners.bots.doctor import Examination
from agon.runners.bots.http import EndpointBot, HttpBots, signing_headers
from agon.runners.bots.reference import (
    Answer,
    MessageVerification,
    answer_by_templates,
    echo,
    serve_bot,
)

ROOT = Path(__file__).parents[3]
SECRET, OTHER = b"s" * 32, b"o" * 32
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WORK = {"id": "w1", "kind": "answer", "prompt": "Why?", "max_chars": 400}


@contextmanager
def running(answer: Answer, *, secrets: tuple[bytes, ...] = (SECRET,)) -> Iterator[str]:
    """Serve a bot, and yield its URL."""
    with serve_bot(answer, verification=MessageVerification(secrets)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def example(*words: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """Start an example, and end it."""
    with subprocess.Popen(
        [words[0], str(ROOT / "examples" / "bots" / words[1]), *words[2:]],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, 9)


def examine(url: str, secret: bytes | None = SECRET) -> dict[str, str]:
    """Return the result of every check."""
    bots = HttpBots(allow_private=True)
    checks = Examination(url, secret, bots=bots, seconds=60).checks()
    return {check.name: check.result for check in checks}


HEALTHY = {
    "ping": "ok",
    "tls": "note",
    "valid signature": "ok",
    "replayed signature": "ok",
    "late signature": "ok",
    "altered signature": "ok",
    "foreign signature": "ok",
    "answer": "ok",
    "length": "ok",
    "vote": "ok",
}


def test_the_reference_bots_pass_all_checks() -> None:
    """Authors start from them."""
    with running(echo) as url:
        assert examine(url) == HEALTHY
    with running(answer_by_templates(["{prompt}? No idea."]), secrets=(OTHER, SECRET)) as url:
        assert examine(url) == HEALTHY


def test_the_example_of_a_push_bot_passes_all_checks() -> None:
    """Standard library alone, at most 60 lines."""
    with example(sys.executable, "push.py", "0", BOT_SECRET=format_secret(SECRET)) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert examine(f"http://127.0.0.1:{port}/") == HEALTHY


def test_the_example_of_a_push_bot_can_be_registered_before_it_has_a_secret() -> None:
    """Registration sends a ping, and returns the secret afterwards; until then no work is done."""
    with example(sys.executable, "push.py", "0", BOT_SECRET="") as process:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}/"
        transport = HttpBots(allow_private=True)
        endpoint_check(transport, random=os.urandom, new_id=lambda: "w1")(url, SECRET)
        reply = EndpointBot(transport, Endpoint(url, (b"",))).ask(WORK, seconds=60)
    assert isinstance(reply, Fault)
    assert reply.code == "status-401"


def test_a_ping_that_is_rejected_says_that_there_is_no_secret_yet() -> None:
    """A bot that verifies everything cannot know the secret that registration returns."""
    check = endpoint_check(HttpBots(allow_private=True), random=os.urandom, new_id=lambda: "w1")
    with running(echo) as url, pytest.raises(Unreadable, match="answer pings without verifying"):
        check(url, OTHER)


def test_examples_are_short() -> None:
    """A bot is written in five minutes."""
    files = sorted((ROOT / "examples" / "bots").iterdir())
    assert [file.name for file in files] == ["pull.py", "pull.sh", "push.py"]
    assert all(len(file.read_text().splitlines()) <= 60 for file in files)


def test_a_bot_that_verifies_nothing_fails_the_checks_of_signatures() -> None:
    """Otherwise anybody could use up what its model costs."""
    with running(echo, secrets=()) as url:
        checks = examine(url)
        assert {name for name, result in checks.items() if result == "failed"} == {
            "replayed signature",
            "late signature",
            "altered signature",
            "foreign signature",
        }
        assert examine(url, None)["foreign signature"] == "skipped"


@pytest.mark.parametrize(
    ("answer", "check", "result"),
    [
        (echo, "length", "ok"),
        (lambda work: {**echo(work), "text": "x" * 99}, "length", "note"),
        (lambda work: {**echo(work), "vote": "C"}, "vote", "failed"),
        (lambda work: {} if work["kind"] == "vote" else echo(work), "vote", "note"),
        (lambda _: {"text": ""}, "answer", "failed"),
    ],
)
def test_the_doctor_says_what_is_wrong(
    answer: Callable[[Mapping[str, Any]], Mapping[str, str]], check: str, result: str
) -> None:
    """Before the arena does."""
    with running(answer) as url:
        assert examine(url)[check] == result


def test_without_a_connection_only_the_ping_is_reported() -> None:
    """All other checks would say the same."""
    with running(echo) as url:
        pass
    assert examine(url) == {"ping": "failed"}


def test_copies_and_old_messages_are_rejected() -> None:
    """The same message again, before, after, without headers; a repetition is another message."""
    clock = [NOW]
    verification = MessageVerification([SECRET], now=lambda: clock[0])
    headers = signing_headers([OTHER, SECRET], message="w1", body=b"{}", at=NOW)
    verification.require_valid(headers, b"{}")
    with pytest.raises(CheckFailed, match="received before"):
        verification.require_valid({**headers, "x-more": "1"}, b"{}")
    again = signing_headers([SECRET], message="w1", body=b'{"attempt":2}', at=NOW)
    verification.require_valid(again, b'{"attempt":2}')
    for at in (NOW - TOLERANCE, NOW + TOLERANCE):
        far = signing_headers([SECRET], message="w2", body=b"{}", at=at + (at - NOW) / 100)
        with pytest.raises(CheckFailed, match="from now"):
            verification.require_valid(far, b"{}")
    with pytest.raises(CheckFailed, match="missing"):
        verification.require_valid({}, b"{}")
    clock[0] = NOW + 3 * TOLERANCE
    later = signing_headers([SECRET], message="w3", body=b"{}", at=clock[0] + timedelta(seconds=1))
    verification.require_valid(later, b"{}")


def test_a_request_that_is_no_work_is_answered_with_its_error() -> None:
    """The server goes on."""
    with running(echo, secrets=()) as url:
        bots = HttpBots(allow_private=True)
        for body in (b"{", b"[]", b"{}", b'{"kind": "vote"}'):
            outcome = bots.post(url, headers={}, body=body, seconds=60)
            assert getattr(outcome, "code", None) == (
                "status-400" if body != b'{"kind": "vote"}' else None
            )
        bot = EndpointBot(bots, Endpoint(url, ()))
        assert isinstance(bot.ask(WORK, seconds=60), BotReply)


def test_a_bot_may_be_a_command(tmp_path: Path) -> None:
    """Work on stdin, reply on stdout; everything that goes wrong is a fault."""
    cases = {
        'cat >/dev/null; echo \'{"text": "hi"}\'': None,
        "exit 3": "invalid",
        "true": "empty",
        "head -c 100000 /dev/zero": "too-large",
        "echo hello": "invalid",
    }
    for script, code in cases.items():
        outcome = CommandBot(["sh", "-c", script]).ask(WORK, seconds=60)
        assert getattr(outcome, "code", None) == code, script
    forever = CommandBot(["sh", "-c", "sleep 1000 & sleep 1000"]).ask(WORK, seconds=0.2)
    assert getattr(forever, "code", None) == "late"
    with pytest.raises(NotFound, match="no command"):
        CommandBot([str(tmp_path / "none")])
