"""Speak the protocol of OpenAI-compatible endpoints: ``POST <url>/chat/completions``.

The reply is asked for by ``response_format`` with a JSON schema, which OpenAI, vLLM, llama.cpp,
Ollama and gateways have. No sampling parameters are sent: models that think do not
accept them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.port import Question
from agon.runners.judges.endpoint import Message, count

URL: Final = "https://api.openai.com/v1"


def headers(key: str) -> dict[str, str]:
    """Return the headers of a request."""
    return {"authorization": f"Bearer {key}"} if key else {}


@dataclass(frozen=True)
class OpenAIDialect:
    """Chat completions (:class:`agon.runners.judges.endpoint.Dialect`).

    Attributes:
        limit_field: the field that limits the reply: OpenAI's own models that think know
            ``max_completion_tokens`` alone, other servers often ``max_tokens`` alone.
    """

    limit_field: str = "max_tokens"
    provider: str = "openai"

    def request(self, question: Question, *, model: str, max_tokens: int) -> Mapping[str, Any]:
        """Return the body of a request."""
        name, schema = question.reply
        return {
            "model": model,
            self.limit_field: max_tokens,
            "messages": [
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.content},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": name, "strict": True, "schema": schema},
            },
        }

    def message(self, body: Mapping[str, Any]) -> Message:
        """Return the content of a response."""
        usage = body.get("usage")
        tokens = None if usage is None else count(usage, "prompt_tokens", "completion_tokens")
        choice = body["choices"][0]
        message = choice["message"]
        text = message["content"]
        is_complete = choice["finish_reason"] == "stop" and not message.get("refusal")
        if not is_complete or message.get("tool_calls") or not isinstance(text, str):
            return Message(None, tokens)
        return Message(text, tokens)
