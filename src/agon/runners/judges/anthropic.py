"""Speak Anthropic's Messages API: ``POST /v1/messages``.

The reply is asked for by ``output_config.format`` (structured output), which models from 4.5 on
have; models that always think accept no forced tool. No sampling parameters are sent: the same
models do not accept them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.choice import ResponseFormat
from agon.app.arena.judging.excerpts import excerpt
from agon.app.arena.judging.port import Question
from agon.runners.judges.endpoint import Message, count

URL: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"

_CUT_OR_DECLINED: Final = frozenset(
    {"max_tokens", "refusal", "tool_use", "pause_turn", "model_context_window_exceeded"}
)
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


def headers(key: str) -> dict[str, str]:
    """Return the headers of a request."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


@dataclass(frozen=True)
class AnthropicDialect:
    """The Messages API (:class:`agon.runners.judges.endpoint.Dialect`).

    Attributes:
        response_format: ``json_schema`` asks for structured output; others ask by words alone.
    """

    response_format: ResponseFormat = "json_schema"
    provider: str = "anthropic"

    def request(self, question: Question, *, model: str, max_tokens: int) -> Mapping[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": max_tokens,
            "system": question.instructions,
            "messages": [{"role": "user", "content": question.content}],
        }
        if self.response_format == "json_schema":
            schema = {"type": "json_schema", "schema": question.reply[1]}
            body["output_config"] = {"format": schema}
        return body

    def message(self, body: Mapping[str, Any]) -> Message:
        """Return the content of a response: one text after any thinking."""
        usage = body.get("usage")
        tokens = None if usage is None else count(
            usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
            "output_tokens",
        )  # fmt: skip
        texts = [block["text"] for block in body["content"] if block["type"] == "text"]
        others = {block["type"] for block in body["content"]} - {"text"}
        stop = body.get("stop_reason")
        if stop in _CUT_OR_DECLINED:
            written = excerpt("".join(text for text in texts if isinstance(text, str)))
            return Message(None, tokens, f"stop_reason is {stop}, after {written}")
        if others - _THOUGHTS or len(texts) != 1 or not isinstance(texts[0], str):
            types = ", ".join(sorted(others - _THOUGHTS)) or "no other part"
            return Message(None, tokens, f"its content has {len(texts)} texts and {types}")
        return Message(texts[0], tokens)
