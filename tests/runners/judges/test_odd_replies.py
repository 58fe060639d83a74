"""Odd replies of servers and models: each is a vote, or a failed call with status and reason."""

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count
from typing import Any

import pytest

from agon.app.arena.judging.choice import Provider
from agon.app.arena.judging.limits import UsageLimits
from agon.app.arena.judging.model_judge import ModelJudge, Timing
from agon.app.arena.judging.port import ModelVote
from agon.app.arena.judging.usage import LocalUsage
from agon.disciplines.arena.rounds.faults import Fault
from agon.runners.judges.http import MAX_RESPONSE_BYTES
from agon.runners.judges.opening import open_model
from fakes.models import (
    Asked,
    ModelServer,
    Reply,
    anthropic_body,
    openai_body,
    serve_model,
    served,
    verdict,
)

Odd = Callable[[str], str | Reply]
"""Returns a reply to a question, from the valid verdict on it."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """Serve a model whose replies each test sets."""
    with serve_model() as model:
        yield model


def ask(
    server: ModelServer, odd: Odd, *, provider: Provider = "openai"
) -> tuple[ModelVote | Fault, list[Fault], list[float]]:
    """Return a judge's vote or why there is none, the failures it recorded, and its pauses."""

    def brain(asked: Asked) -> str | Reply:
        chosen = "A" if asked.quotation("answer A") == "human" else "B"
        return odd(verdict(asked, chosen))

    server.brain = brain
    failures: list[Fault] = []
    pauses: list[float] = []
    nonces = map("n{:07}a".format, count())
    limits = UsageLimits(
        calls=sys.maxsize, tokens=sys.maxsize, max_failures=9, pause=timedelta(minutes=1)
    )
    judge = ModelJudge(
        endpoint=open_model(served(provider, server.url), key=""),
        usage=LocalUsage(limits=limits, clock=lambda: datetime(2026, 1, 31, tzinfo=UTC)),
        retries=1,
        timing=Timing(monotonic=lambda: 0.0, sleep=pauses.append, random=lambda: 1.0,
                      draw_nonce=lambda: next(nonces)),
        call_seconds=20,
        record_failure=failures.append,
    )  # fmt: skip
    return judge.compare(prompt="Hi?", a="human", b="robot", seconds=10**6), failures, pauses


def message(**fields: Any) -> Reply:
    """Return a completion whose message has these fields alone."""
    return Reply(body=openai_body("", choices=[{"index": 0, "message": fields}]))


def parts(*content: Any) -> Reply:
    """Return a completion whose content has these parts."""
    return message(content=list(content))


def finished(reason: str) -> Odd:
    """Return replies with a reason why they end."""
    return lambda text: Reply(body=openai_body(text, finish=reason))


def packed(encoding: str, pack: Callable[[bytes], bytes]) -> Odd:
    """Return replies whose body is encoded, although no encoding was accepted."""
    return lambda text: Reply(200, pack(openai_body(text)), {"content-encoding": encoding})


READ: dict[str, Odd] = {
    "think tag closed only": lambda text: f"A, then B.\n</think>\n{text}",
    "other thought tags": lambda text: f"<thought>A?</thought>{text}",
    "thoughts of Kimi": lambda text: f"◁think▷A?◁/think▷{text}",
    "final channel": lambda text: (
        f"<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>{text}"
    ),
    "a box of GLM": lambda text: f"<think>A?</think><|begin_of_box|>{text}<|end_of_box|>",
    "end token": lambda text: f"{text}<|im_end|>\n",
    "end of sequence in a fence": lambda text: f"```json\n{text}\n```</s>",
    "byte order mark in the text": lambda text: f"\ufeff{text}",
    "byte order mark before the body": lambda text: Reply(body=b"\xef\xbb\xbf" + openai_body(text)),
    "spaces around": lambda text: f"\n\n  {text}\t\r\n",
    "a fence of another name": lambda text: f"```json5\n{text}\n```",
    "a fence in one line": lambda text: f"```json {text} ```",
    "reasoning alone": lambda text: message(reasoning=text),
    "content of spaces": lambda text: message(content=" \n", reasoning_content=text),
    "a part that is a text": parts,
    "parts that split the text": lambda text: parts(
        {"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}
    ),
    "gzip": packed("gzip", gzip.compress),
    "deflate": packed("deflate", zlib.compress),
    "usage of texts": lambda text: Reply(body=openai_body(text, usage={"prompt_tokens": "70"})),
    "usage of fractions": lambda text: Reply(body=openai_body(text, usage={"prompt_tokens": 7.5})),
    "usage is a list": lambda text: Reply(body=openai_body(text, usage=[])),
    "usage is missing": lambda text: Reply(body=openai_body(text, usage=None)),
    "finish reason is a number": lambda text: Reply(
        body=openai_body("", choices=[{"message": {"content": text}, "finish_reason": 1}])
    ),
    "finish reason is a list": lambda text: Reply(
        body=openai_body("", choices=[{"message": {"content": text}, "finish_reason": ["stop"]}])
    ),
}


@pytest.mark.parametrize("odd", READ.values(), ids=READ)
def test_an_odd_reply_whose_nonce_and_schema_hold_is_a_vote(odd: Odd, server: ModelServer) -> None:
    """What stands around a verdict is the server's habit; the verdict itself is whole."""
    vote, failures, _ = ask(server, odd)
    assert isinstance(vote, ModelVote), vote
    assert (vote.winner, failures) == ("a", [])


@pytest.mark.parametrize("before", [["\n\n"], ["{", '"nonce"'], []])
def test_texts_of_the_messages_api_are_read_together(
    before: list[str], server: ModelServer
) -> None:
    """Models that think begin with an empty text at times, and gateways split what is one."""

    def split(text: str) -> Reply:
        rest = text.removeprefix("".join(before))
        thought = {"type": "thinking", "thinking": "A?", "signature": "s"}
        written = [{"type": "text", "text": each} for each in [*before, rest]]
        return Reply(body=anthropic_body("", content=[written[0], thought, *written[1:]]))

    vote, failures, _ = ask(server, split, provider="anthropic")
    assert isinstance(vote, ModelVote), vote
    assert (vote.winner, failures) == ("a", [])


def changed(**changes: Any) -> Odd:
    """Return verdicts with other values."""
    return lambda text: json.dumps({**json.loads(text), **changes})


INVALID: dict[str, tuple[Odd, str]] = {
    "two objects": (lambda text: f"{text}\n{text}", "not one JSON object: '{\"nonce\""),
    "Markdown table": (lambda _: "| nonce | choice |\n|---|---|\n| x | A |", "'| nonce |"),
    "trailing comma": (lambda text: text.replace("}", ",}"), "not one JSON object"),
    "single quotes": (lambda text: text.replace('"', "'"), "not one JSON object"),
    "JSON within a text": (json.dumps, "not an object of nonce and choice"),
    "upper-case keys": (lambda text: text.replace("nonce", "Nonce"), "of nonce and choice"),
    "Answer A": (changed(choice="Answer A"), "neither A nor B"),
    "left": (changed(choice="left"), "neither A nor B"),
    "1": (changed(choice=1), "neither A nor B"),
    "Response 1": (changed(choice="Response 1"), "neither A nor B"),
    "nonce with blanks": (lambda text: text.replace(': "n', ': " n'), "another nonce"),
    "nonce of another case": (lambda text: text.replace(': "n', ': "N'), "another nonce"),
    "image": (
        lambda text: parts({"type": "text", "text": text}, {"type": "image_url", "image_url": {}}),
        "its content has other parts than texts (image_url): '{\"nonce\"",
    ),
    "content is an object": (
        lambda _: message(content={"a": 1}), "texts (dict): '{\"content\":{\"a\":1}}'",
    ),
    "a tool": (
        lambda _: message(content=None, tool_calls=[{"function": {"name": "vote"}}]),
        "it calls a tool: '{\"content\":null,\"tool_calls\"",
    ),
    "no choices": (lambda _: Reply(body=openai_body("", choices=[])), "none of this protocol: '{"),
    "an error with 200": (
        lambda _: Reply(body=b'{"error": {"message": "No such model", "code": 404}}'),
        "'No such model'",
    ),
    "an error that is a text": (lambda _: Reply(body=b'{"error": "no model"}'), "no model"),
    "an event stream": (lambda _: Reply(body=b"data: {}\n\ndata: [DONE]"), "'data: {} data: "),
    "length": (finished("length"), "finish_reason is length: '{\"nonce\""),
    "content filter": (finished("content_filter"), "finish_reason is content_filter"),
    "tool calls": (finished("tool_calls"), "finish_reason is tool_calls"),
    "upper case": (finished("MAX_TOKENS"), "finish_reason is MAX_TOKENS"),
    "safety": (finished("SAFETY"), "finish_reason is SAFETY"),
    "length of Mistral": (finished("model_length"), "finish_reason is model_length"),
    "aborted": (finished("abort"), "finish_reason is abort"),
    "refusal": (lambda _: message(content=None, refusal="I will not."), "declined: 'I will not.'"),
    "refusal beside a text": (lambda text: message(content=text, refusal="No."), "declined: 'No.'"),
    "nothing": (lambda _: message(content=None), "content is empty"),
    "spoiled gzip": (
        packed("gzip", lambda body: gzip.compress(body)[:-20]), "gzip is spoiled or cut off: ",
    ),
    "brotli": (packed("br", lambda _: b"\x0b"), "its encoding is 'br', which was not asked"),
}  # fmt: skip


@pytest.mark.parametrize(("odd", "says"), INVALID.values(), ids=INVALID)
def test_any_other_reply_is_a_failed_call_with_its_reason_and_text(
    odd: Odd, says: str, server: ModelServer
) -> None:
    """The operator reads what came; nothing is guessed, asked again, or left out of the counts."""
    fault, failures, _ = ask(server, odd)
    assert isinstance(fault, Fault)
    assert (fault.code, failures) == ("invalid", [fault])
    assert fault.detail.startswith("status 200, but ")
    assert says in fault.detail
    assert len(fault.detail) < 400
    assert "n0000" not in fault.detail  # equal failures look equal


def later(seconds: int) -> str:
    """Return the date in some seconds, as a header."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


BUSY: dict[str, tuple[Odd, str, tuple[float, float]]] = {
    "429 until a date": (
        lambda _: Reply(429, b"slow down", {"retry-after": later(90)}),
        "status-429: HTTP 429: 'slow down'", (80, 90),
    ),
    "429 until a date that cannot be": (
        lambda _: Reply(429, b"", {"retry-after": "Wed, 21 Oct 99999 07:28:00 GMT"}),
        "status-429: HTTP 429: nothing", (0.5, 0.5),
    ),
    "429 until a date of a zone that cannot be": (
        lambda _: Reply(429, b"", {"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}),
        "status-429: HTTP 429: nothing", (10**5, 10**12),
    ),
    "529": (
        lambda _: Reply(529, b'{"type": "error", "error": {"type": "overloaded_error"}}'),
        "status-529: HTTP 529 overloaded_error: '{", (0.5, 0.5),
    ),
    "502 with status 200": (
        lambda _: Reply(body=b'{"error": {"message": "Overloaded", "code": 502}}'),
        "status-502: status 200, but its error is 502: 'Overloaded'", (0.5, 0.5),
    ),
    "cut within a chunk": (
        lambda text: Reply(body=openai_body(text), manner="chunked"), "reset: the connection broke",
        (0.5, 0.5),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("odd", "says", "wait"), BUSY.values(), ids=BUSY)
def test_a_busy_or_broken_server_is_asked_again_and_each_call_is_counted(
    odd: Odd, says: str, wait: tuple[float, float], server: ModelServer
) -> None:
    """Each repetition is a failed call of its own, after the pause that was asked for."""
    fault, failures, pauses = ask(server, odd)
    assert isinstance(fault, Fault)
    assert f"{fault.code}: {fault.detail}".startswith(says)
    if wait[0] < 10**4:
        assert len(failures) == 2
        assert wait[0] <= pauses[0] <= wait[1]
    else:
        assert (len(failures), pauses) == (1, [])


def test_a_small_body_does_not_grow_beyond_the_limit(server: ModelServer) -> None:
    """A compressed body may be a thousand times as large as what came."""
    odd = packed("gzip", lambda _: gzip.compress(b" " * (MAX_RESPONSE_BYTES + 1)))
    fault, _, _ = ask(server, odd)
    assert isinstance(fault, Fault)
    assert fault.code == "too-large"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (lambda _: anthropic_body("", content="text"), "status 200, but"),
        (lambda text: anthropic_body(text, stop_reason="MAX_TOKENS"), "stop_reason is MAX_TOKENS"),
        (
            lambda text: anthropic_body(
                "", content=[{"type": "text", "text": text}, {"type": "tool_use"}]
            ),
            '1 texts and tool_use: \'{"nonce"',
        ),
    ],
)
def test_odd_replies_of_the_messages_api_are_named(
    body: Callable[[str], bytes], says: str, server: ModelServer
) -> None:
    """Both protocols state the same three things: status, reason, and what came."""
    fault, failures, _ = ask(server, lambda text: Reply(body=body(text)), provider="anthropic")
    assert isinstance(fault, Fault)
    assert says in fault.detail
    assert failures == [fault]
