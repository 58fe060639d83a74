"""Tests of both protocols against a server on the loopback, with their errors."""

import json
import logging
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agon.app.arena.judging.choice import LimitField, Provider, ResponseFormat
from agon.app.arena.judging.port import CallFailure, ModelEndpoint, ModelReply, Question
from agon.app.arena.judging.verdict import verdict_schema
from agon.errors import Unreadable
from agon.runners.judges.http import MAX_RESPONSE_BYTES
from agon.runners.judges.opening import key_of, open_model
from fakes.models import (
    KEY,
    ModelServer,
    Reply,
    anthropic_body,
    error_body,
    openai_body,
    serve_model,
    served,
)

QUESTION = Question(
    instructions="Choose. ä", content="| x 👍", nonce="abc", reply=("verdict", verdict_schema())
)
PROVIDERS: tuple[Provider, ...] = ("anthropic", "openai")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """Serve a model that writes ``{"choice": "A"}``."""
    with serve_model(lambda _: '{"choice": "A"}') as model:
        yield model


@pytest.fixture(params=PROVIDERS)
def endpoint(request: pytest.FixtureRequest, server: ModelServer) -> ModelEndpoint:
    """Return a client of the server in each protocol."""
    server.replies.clear()
    return connect(request.param, server.url)


def connect(provider: Provider, url: str, *, key: str = KEY) -> ModelEndpoint:
    """Return a client of a server."""
    base = f"{url}/v1" if provider == "openai" else url
    return open_model(served(provider, base, model="m-1", max_tokens=50), key=key)


def failure(endpoint: ModelEndpoint, *, seconds: float = 20) -> CallFailure:
    """Return why a call failed."""
    outcome = endpoint.ask(QUESTION, seconds=seconds)
    assert isinstance(outcome, CallFailure)
    return outcome


def test_a_reply_comes_with_the_exact_exchange(
    endpoint: ModelEndpoint, server: ModelServer
) -> None:
    """What was sent and received can be checked later; the key is in neither."""
    reply = endpoint.ask(QUESTION, seconds=20)
    assert isinstance(reply, ModelReply)
    assert reply.text == '{"choice": "A"}'
    assert reply.tokens == 100
    path, headers, body = server.requests[-1]
    assert reply.exchange.request == body
    assert json.loads(reply.exchange.response)["model"] == "m"
    assert KEY.encode() not in body + reply.exchange.response
    assert json.loads(body)["model"] == "m-1"
    assert (path, headers["accept-encoding"]) in {
        ("/v1/messages", "identity"),
        ("/v1/chat/completions", "identity"),
    }
    assert endpoint.token_limit(QUESTION) == len(body) + 50
    assert KEY not in repr(endpoint)


def test_each_protocol_has_its_headers_and_asks_for_the_schema(server: ModelServer) -> None:
    """The version header is required by one, the bearer token by the other."""
    connect("anthropic", server.url).ask(QUESTION, seconds=20)
    _, headers, body = server.requests[-1]
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["x-api-key"] == KEY
    sent = json.loads(body)
    assert sent["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in sent
    assert "tool_choice" not in sent
    connect("openai", server.url).ask(QUESTION, seconds=20)
    _, headers, body = server.requests[-1]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(body)["response_format"]["json_schema"]["strict"] is True
    connect("openai", server.url, key="").ask(QUESTION, seconds=20)
    assert "authorization" not in server.requests[-1][1]


@pytest.mark.sample(14)
@pytest.mark.parametrize(
    ("reply", "code", "retryable", "wait"),
    [
        (Reply(429, error_body("rate_limit_error"), {"retry-after": "7"}), "status-429", True, 7),
        (Reply(529, error_body("overloaded_error")), "status-529", True, None),
        (Reply(500, b"<html>no</html>"), "status-500", True, None),
        (Reply(503, b"\xff\xfe", {"retry-after": "soon"}), "status-503", True, None),
        (Reply(400, error_body("invalid_request_error")), "status-400", False, None),
        (Reply(401, error_body("authentication_error")), "status-401", False, None),
        (Reply(429, error_body("x", code="insufficient_quota")), "status-429", False, None),
        (
            Reply(
                429, b'{"error": {"type": "rate_limit_error", "details": '
                b'{"error_code": "enforced_spend_limit_reached"}}}'
            ),
            "status-429", False, None,
        ),
        (Reply(307, b"", {"location": "http://192.0.2.1/"}), "redirect", False, None),
        (Reply(200, b"{"), "invalid", False, None),
        (Reply(200, b'{"content": 3, "choices": 3}'), "invalid", False, None),
        (Reply(200, b'{"choices": [], "content": [{}]}'), "invalid", False, None),
        (Reply(200, b"[" * 5000), "invalid", False, None),
        (Reply(200, b" " * (MAX_RESPONSE_BYTES + 1)), "too-large", False, None),
        (Reply(200, openai_body("x")[:-9], manner="cut"), "reset", True, None),
    ],
)  # fmt: skip
def test_every_error_is_a_value_that_says_whether_to_try_again(
    reply: Reply,
    code: str,
    retryable: bool,  # noqa: FBT001 (a parameter of the table)
    wait: int | None,
    endpoint: ModelEndpoint,
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Busy endpoints are asked again, wrong requests are not; no error shows the key."""
    caplog.set_level(logging.DEBUG)
    server.replies.append(reply)
    outcome = failure(endpoint)
    assert (outcome.fault.code, outcome.retryable) == (code, retryable)
    assert outcome.wait == (None if wait is None else timedelta(seconds=wait))
    assert KEY not in repr(outcome) + caplog.text
    assert len(outcome.fault.detail) < 300


@pytest.mark.parametrize("manner", ["silent", "trickle"])
def test_a_call_ends_at_its_time_limit(
    manner: str, endpoint: ModelEndpoint, server: ModelServer
) -> None:
    """A server that sends nothing, or a byte now and then, holds nothing up."""
    server.replies.append(Reply(manner=manner))
    assert failure(endpoint, seconds=0.2).fault.code == "late"
    assert failure(endpoint, seconds=0).fault.code == "late"


def test_a_network_that_fails_is_named(server: ModelServer) -> None:
    """The operator reads whether to look at the name, the port or the certificate."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        gone = connect("openai", f"http://127.0.0.1:{port}")
        assert failure(gone).fault.code == "refused"
    assert failure(connect("anthropic", "http://missing.invalid")).fault.code == "dns"
    https = served("openai", server.url.replace("http:", "https:"))
    no_tls = open_model(https, key=KEY, tls=ssl.create_default_context())
    assert failure(no_tls).fault.code == "tls"


@pytest.mark.parametrize(
    "body",
    [
        anthropic_body("{}", stop_reason="max_tokens"),
        anthropic_body("{}", stop_reason="refusal"),
        anthropic_body("", content=[]),
        anthropic_body("", content=[{"type": "text", "text": "a"}, {"type": "tool_use"}]),
        openai_body(None),
        openai_body("{}", finish="length"),
        openai_body("{}", finish="content_filter"),
        openai_body(
            "{}", choices=[{"finish_reason": "stop", "message": {"content": "{}", "refusal": "n"}}]
        ),
    ],
)
def test_a_reply_that_is_not_one_complete_text_has_no_text(
    body: bytes, server: ModelServer
) -> None:
    """A reply that was cut off could be read as another verdict."""
    provider: Provider = "openai" if b"choices" in body else "anthropic"
    server.replies[:] = [Reply(body=body)]
    reply = connect(provider, server.url).ask(QUESTION, seconds=20)
    assert isinstance(reply, ModelReply)
    assert reply.text is None
    assert reply.issue
    assert reply.tokens == 100


LISTED = [{"type": "thinking", "thinking": "A or B?"}, {"type": "text", "text": "{}"}]


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": "{}"}, None),
        ({"content": "{}"}, "eos"),
        ({"content": "{}", "tool_calls": []}, "stop_sequence"),
        ({"content": "{}", "reasoning_content": "thinking"}, "stop"),
        ({"content": None, "reasoning_content": "{}"}, "stop"),
        ({"content": "", "reasoning": "{}"}, "stop"),
        ({"reasoning_content": "{}"}, None),
        ({"content": LISTED}, "stop"),
    ],
)
def test_replies_of_compatible_servers_are_read(
    message: dict[str, Any], finish: str | None, server: ModelServer
) -> None:
    """vLLM, SGLang, llama.cpp and gateways differ in all of these fields; text is text."""
    choice = {"message": message, **({} if finish is None else {"finish_reason": finish})}
    server.replies[:] = [Reply(body=openai_body("", choices=[choice]))]
    reply = connect("openai", server.url).ask(QUESTION, seconds=20)
    assert isinstance(reply, ModelReply)
    assert reply.text == "{}"


def test_a_server_that_knows_another_request_is_named_and_can_be_asked(server: ModelServer) -> None:
    """The operator reads what the server said, and sets the two fields that servers differ in."""
    said = b'{"error": {"message": "response_format\\u202e is unavailable now", "type": "x"}}'
    server.replies[:] = [Reply(400, said)]
    detail = failure(connect("openai", server.url)).fault.detail
    assert detail == "HTTP 400 x: 'response_format[U+202E] is unavailable now'"
    sent = []
    ways: tuple[tuple[ResponseFormat, LimitField], ...] = (
        ("json_object", "max_completion_tokens"),
        ("none", "max_tokens"),
    )
    for form, field in ways:
        plain = served("openai", server.url, max_tokens=5)
        model = replace(plain, response_format=form, limit_field=field)
        open_model(model, key="").ask(QUESTION, seconds=20)
        sent.append(json.loads(server.requests[-1][2]))
    assert sent[0]["response_format"] == {"type": "json_object"}
    assert sent[0]["max_completion_tokens"] == sent[1]["max_tokens"] == 5
    assert "response_format" not in sent[1]
    unformed = replace(served("anthropic", server.url), response_format="none")
    open_model(unformed, key="").ask(QUESTION, seconds=20)
    assert "output_config" not in json.loads(server.requests[-1][2])


def test_a_response_that_repeats_the_key_is_kept_without_it(
    endpoint: ModelEndpoint, server: ModelServer
) -> None:
    """Exchanges are published; a gateway that echoes headers must not publish the key."""
    build = anthropic_body if endpoint.name.startswith("anthropic") else openai_body
    server.replies.append(Reply(body=build("x", echo={"x-api-key": KEY})))
    reply = endpoint.ask(QUESTION, seconds=20)
    assert isinstance(reply, ModelReply)
    assert KEY.encode() not in reply.exchange.response
    assert b'"***"' in reply.exchange.response


@pytest.mark.parametrize("key", ["k", "1", "none", "content"])
def test_a_placeholder_of_a_key_changes_no_reply(server: ModelServer, key: str) -> None:
    """A local server takes any key; replacing one that is a word would spoil tags and numbers."""
    text = "<think>1 of none</think>{}"
    server.replies.append(Reply(body=openai_body(text, echo={"content": 1})))
    reply = connect("openai", server.url, key=key).ask(QUESTION, seconds=20)
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.issue) == (text, "")


@pytest.mark.parametrize(
    ("url", "key", "model"),
    [
        ("ftp://x", KEY, "m"),
        ("https://user:secret@x", KEY, "m"),
        ("http://[", KEY, "m"),
        ("x", KEY, "m"),
        ("https://x:99999", KEY, "m"),
        ("https://x", "a\nb", "m"),
        ("https://x", "kéy", "m"),
        ("https://x", KEY, ""),
    ],
)
def test_settings_that_cannot_work_are_rejected_without_showing_secrets(
    url: str, key: str, model: str
) -> None:
    """The remedy names what to write; the key and a password in the URL are not repeated."""
    with pytest.raises(Unreadable) as caught:
        open_model(served("anthropic", url, model=model), key=key)
    assert key not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_openai_s_own_hosts_get_the_newer_field() -> None:
    """Its models that think do not accept ``max_tokens``; other servers often know no other."""
    for url, field in (
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://me.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
        ("http://127.0.0.1:8000/v1", "max_tokens"),
    ):
        model = open_model(served("openai", url), key="")
        assert field.encode() in model._body(QUESTION)  # type: ignore[attr-defined]


def test_a_provider_s_key_is_sent_to_its_own_hosts_only() -> None:
    """A gateway, a test server or a misspelled URL must not receive the account's key."""
    keys = {"ANTHROPIC_API_KEY": "theirs", "AGON_ARENA_AUDIT_KEY": "own"}
    for url in ("http://127.0.0.1:1", "https://anthropic.com.example", "http://api.anthropic.com",
                "https://notanthropic.com"):  # fmt: skip
        assert key_of("judge", "anthropic", url=url, environ=keys) == ""
        assert key_of("audit", "anthropic", url=url, environ=keys) == "own"
    for url in ("", "https://api.anthropic.com"):
        assert key_of("judge", "anthropic", url=url, environ=keys) == "theirs"
