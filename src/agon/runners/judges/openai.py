"""Speak the protocol of OpenAI-compatible endpoints: ``POST <url>/chat/completions``.

The reply is asked for by ``response_format`` with a JSON schema, which OpenAI, vLLM, llama.cpp,
Ollama and gateways have, or as a setting says. No sampling parameters are sent: models that think
do not accept them. Replies are read as servers write them: content as a text or as a list of parts,
beside or in the reasoning, with any ``finish_reason`` that does not say that the reply is cut.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.choice import ResponseFormat
from agon.app.arena.judging.excerpts import excerpt
from agon.app.arena.judging.port import Question
from agon.runners.judges.endpoint import Message, count

URL: Final = "https://api.openai.com/v1"


def headers(key: str) -> dict[str, str]:
    """Return the headers of a request."""
    return {"authorization": f"Bearer {key}"} if key else {}


_CUT_OR_DECLINED: Final = frozenset(
    {"length", "max_tokens", "content_filter", "refusal", "tool_calls", "function_call", "error"}
)
"""Values of ``finish_reason`` of a reply that is not whole. Servers write many others, or none."""

_THOUGHTS: Final = frozenset({"thinking", "reasoning"})
_TEXTS: Final = frozenset({"text", "output_text"})


@dataclass(frozen=True)
class OpenAIDialect:
    """Chat completions (:class:`agon.runners.judges.endpoint.Dialect`).

    Attributes:
        limit_field: the field that limits the reply: OpenAI's own models that think know
            ``max_completion_tokens`` alone, other servers often ``max_tokens`` alone.
        response_format: how JSON is asked for; a server may know the schema, any JSON object, or
            nothing. The instructions ask for it in any case.
    """

    limit_field: str = "max_tokens"
    response_format: ResponseFormat = "json_schema"
    provider: str = "openai"

    def request(self, question: Question, *, model: str, max_tokens: int) -> Mapping[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {
            "model": model,
            self.limit_field: max_tokens,
            "messages": [
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.content},
            ],
        }
        name, schema = question.reply
        if self.response_format == "json_schema":
            asked = {"name": name, "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": asked}
        elif self.response_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def message(self, body: Mapping[str, Any]) -> Message:
        """Return the content of a response; of one without content, what the model reasoned."""
        usage = body.get("usage")
        tokens = None if usage is None else count(usage, "prompt_tokens", "completion_tokens")
        choice = body["choices"][0]
        message = choice["message"]
        finish = choice.get("finish_reason")
        if finish in _CUT_OR_DECLINED:
            written = _text(message.get("content")) or ""
            return Message(None, tokens, f"finish_reason is {finish}, after {excerpt(written)}")
        if message.get("refusal"):
            return Message(None, tokens, f"it declined: {excerpt(str(message['refusal']))}")
        if message.get("tool_calls"):
            return Message(None, tokens, "it calls a tool")
        texts = [message.get(name) for name in ("content", "reasoning_content", "reasoning")]
        for value in texts:
            text = _text(value)
            if text is not None and text.strip():
                return Message(text, tokens)
        if any(isinstance(value, list) for value in texts):
            return Message(None, tokens, "its content has parts that are no texts")
        return Message(None, tokens, f"its content is empty, and finish_reason is {finish}")


def _text(content: Any) -> str | None:
    """Return the text of content: a text, or a list of parts; None if there is another part."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part for part in content if part["type"] not in _THOUGHTS]
    if any(part["type"] not in _TEXTS or not isinstance(part["text"], str) for part in parts):
        return None
    return "".join(part["text"] for part in parts)
