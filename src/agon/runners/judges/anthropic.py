"""Speak Anthropic's Messages API: ``POST /v1/messages``.

The reply is asked for by ``output_config.format`` (structured output), which models from 4.5 on
have; models that always think accept no forced tool. No sampling parameters are sent: the same
models do not accept them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.choice import ResponseFormat
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
        """Return the content of a response: its texts, between and after any thinking."""
        tokens = count(
            body.get("usage"), "input_tokens", "cache_creation_input_tokens",
            "cache_read_input_tokens", "output_tokens",
        )  # fmt: skip
        texts = [str(block["text"]) for block in body["content"] if block["type"] == "text"]
        others = {str(block["type"]) for block in body["content"]} - {"text"} - _THOUGHTS
        written = "".join(texts)
        stop = body.get("stop_reason")
        if isinstance(stop, str) and stop.lower() in _CUT_OR_DECLINED:
            return Message(None, tokens, f"stop_reason is {stop}", written)
        if others or not texts:
            types = ", ".join(sorted(others)) or "no other part"
            issue = f"its content has {len(texts)} texts and {types:.80}"
            return Message(None, tokens, issue, written)
        return Message(written, tokens)
