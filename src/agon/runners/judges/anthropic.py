"""Speak Anthropic's Messages API: ``POST /v1/messages``.

The reply is asked for by ``output_config.format`` (structured output), which models from 4.5 on
have; models that always think accept no forced tool. No sampling parameters are sent: the same
models do not accept them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.port import Question
from agon.runners.judges.endpoint import Message, count

URL: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"

_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


def headers(key: str) -> dict[str, str]:
    """Return the headers of a request."""
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


@dataclass(frozen=True)
class AnthropicDialect:
    """The Messages API (:class:`agon.runners.judges.endpoint.Dialect`)."""

    provider: str = "anthropic"

    def request(self, question: Question, *, model: str, max_tokens: int) -> Mapping[str, Any]:
        """Return the body of a request."""
        return {
            "model": model,
            "max_tokens": max_tokens,
            "system": question.instructions,
            "messages": [{"role": "user", "content": question.content}],
            "output_config": {"format": {"type": "json_schema", "schema": question.reply[1]}},
        }

    def message(self, body: Mapping[str, Any]) -> Message:
        """Return the content of a response: one text after any thinking."""
        usage = body.get("usage")
        tokens = None if usage is None else count(
            usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
            "output_tokens",
        )  # fmt: skip
        texts = [block["text"] for block in body["content"] if block["type"] == "text"]
        others = {block["type"] for block in body["content"]} - {"text"}
        is_complete = body["stop_reason"] == "end_turn" and others <= _THOUGHTS
        if not is_complete or len(texts) != 1 or not isinstance(texts[0], str):
            return Message(None, tokens)
        return Message(texts[0], tokens)
