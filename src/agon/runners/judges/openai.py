"""Speak the protocol of OpenAI-compatible endpoints: ``POST <url>/chat/completions``.

The reply is asked for by ``response_format`` with a JSON schema, which OpenAI, vLLM, llama.cpp,
Ollama and gateways have, or as a setting says. No sampling parameters are sent: models that think
do not accept them. Replies are read as servers write them: content as a text or as a list of parts,
beside or in the reasoning, with any ``finish_reason`` that does not say that the reply is cut.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agon.app.arena.judging.choice import ResponseFormat
from agon.app.arena.judging.excerpts import excerpt
from agon.app.arena.judging.port import Question
from agon.runners.judges.endpoint import Message, count

URL: Final = "https://api.openai.com/v1"


def headers(key: str) -> dict[str, str]:
    """Return the headers of a request."""
    return {"authorization": f"Bearer {key}"} if key else {}


_CUT_OR_DECLINED: Final = frozenset(
    {"length", "max_tokens", "model_length", "content_filter", "content_filtered", "safety",
     "recitation", "prohibited_content", "blocklist", "spii", "sensitive", "refusal", "tool_calls",
     "tool_use", "function_call", "error", "network_error", "insufficient_system_resource",
     "abort", "aborted", "cancelled", "canceled"}
)  # fmt: skip
"""Values of ``finish_reason``, in small letters, of a reply that is not whole.

OpenAI and servers that are compatible with it write them; others that end a whole reply are many.
"""

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
        tokens = count(body.get("usage"), "prompt_tokens", "completion_tokens")
        choice = body["choices"][0]
        message = choice["message"]
        text, others = _text_of(message)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish.lower() in _CUT_OR_DECLINED:
            return Message(None, tokens, f"finish_reason is {finish}", text)
        if message.get("refusal"):
            return Message(None, tokens, "it declined", str(message["refusal"]))
        if message.get("tool_calls"):
            return Message(None, tokens, "it calls a tool", _json_text(message))
        if others:
            types = ", ".join(sorted(others))
            issue = f"its content has other parts than texts ({types:.80})"
            return Message(None, tokens, issue, text or _json_text(message))
        if text.strip():
            return Message(text, tokens)
        issue = f"its content is empty, and finish_reason is {excerpt(str(finish))}"
        return Message(None, tokens, issue, _json_text(message))


def _text_of(message: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the first of a message's fields that is not empty: its text, and its other parts."""
    for name in ("content", "reasoning_content", "reasoning"):
        text, others = _texts(message.get(name))
        if text.strip() or others:
            return text, others
    return "", set()


def _texts(content: Any) -> tuple[str, set[str]]:
    """Return the text of content (a text, or a list of parts), and what other parts it has."""
    parts = content if isinstance(content, list) else [] if content is None else [content]
    texts, others = [], set()
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("text") if kind in _TEXTS else part
        if isinstance(text, str):
            texts.append(text)
        elif kind not in _THOUGHTS:
            others.add(str(kind or type(part).__name__))
    return "".join(texts), others


def _json_text(message: Mapping[str, Any]) -> str:
    return orjson.dumps(message).decode()
