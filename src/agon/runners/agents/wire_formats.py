"""Speak the two protocols of model servers: chat completions (OpenAI) and messages (Anthropic).

A wire format says how a conversation becomes a request and a response a reply. Everything else,
such as retries, deadlines and the loop of the agent, is the same for both.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

_MAX_SHOWN = 200
_MAX_OUTPUT_TOKENS: Final = 8192
"""Tokens that one reply may have where the protocol requires a limit."""
_ANTHROPIC_VERSION: Final = "2023-06-01"
_NO_TEXT: Final = "(no text)"
"""Stands for an empty message, which the Messages API does not accept."""


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """A model's reply.

    Attributes:
        text: the answer.
        input_tokens: number of tokens it read, cached ones included, as the endpoint reports.
        output_tokens: number of tokens it wrote.
        cached_tokens: how many of those it read were in the endpoint's cache.
        cost_usd: the cost that the endpoint reports; None when it reports none.
    """

    text: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost_usd: float | None = None


class WireFormat(Protocol):
    """A protocol of model servers."""

    @property
    def name(self) -> str:
        """The name of the agent that speaks it."""

    @property
    def variable(self) -> str:
        """The beginning of its variables: ``…_BASE_URL`` and ``…_API_KEY``."""

    @property
    def path(self) -> str:
        """The path of a request, after the base URL."""

    @property
    def models(self) -> str:
        """The path of the list of models."""

    def base(self, endpoint: str) -> str:
        """Return the base URL that a user means."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers with a key, or without."""

    def body(self, model: str, messages: Sequence[Mapping[str, str]]) -> Mapping[str, Any]:
        """Return a request."""

    def reply(self, content: bytes) -> ChatReply:
        """Return the reply in a response.

        Raises:
            ValueError: it is none of this protocol.
        """


@dataclass(frozen=True)
class OpenAIFormat:
    """``POST <endpoint>/chat/completions``, which most servers of models accept."""

    name: str = "openai"
    variable: str = "OPENAI"
    path: str = "chat/completions"
    models: str = "models"

    def base(self, endpoint: str) -> str:
        """Return the URL without a slash at its end."""
        return endpoint.rstrip("/")

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the key as a bearer token."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, messages: Sequence[Mapping[str, str]]) -> Mapping[str, Any]:
        """Return model and messages, and no sampling parameter: not every model accepts them."""
        return {"model": model, "messages": list(messages)}

    def reply(self, content: bytes) -> ChatReply:
        """Return the first choice's text."""
        try:
            answer = json.loads(content)
            text = answer["choices"][0]["message"]["content"]
            usage = answer.get("usage") or {}
            details = usage.get("prompt_tokens_details") or {}
            return ChatReply(
                text=str(text or ""),
                input_tokens=count(usage.get("prompt_tokens")),
                output_tokens=count(usage.get("completion_tokens")),
                cached_tokens=count(details.get("cached_tokens")),
                cost_usd=_cost(usage.get("cost")),
            )
        except _UNREADABLE:
            raise _unusable(content, "chat completion") from None


@dataclass(frozen=True)
class AnthropicFormat:
    """``POST <endpoint>/v1/messages``: the system's message apart, texts as blocks."""

    name: str = "anthropic"
    variable: str = "ANTHROPIC"
    path: str = "v1/messages"
    models: str = "v1/models"

    def base(self, endpoint: str) -> str:
        """Return the URL without ``/v1`` at its end, with which users write it as well."""
        return endpoint.rstrip("/").removesuffix("/v1")

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the version and the key."""
        return {"anthropic-version": _ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}

    def body(self, model: str, messages: Sequence[Mapping[str, str]]) -> Mapping[str, Any]:
        """Return the messages, with the system's in a field of its own."""
        system = "\n\n".join(one["content"] for one in messages if one["role"] == "system")
        others = [
            {"role": one["role"], "content": one["content"] if one["content"].strip() else _NO_TEXT}
            for one in messages
            if one["role"] != "system"
        ]
        body = {"model": model, "max_tokens": _MAX_OUTPUT_TOKENS, "messages": others}
        return body | ({"system": system} if system else {})

    def reply(self, content: bytes) -> ChatReply:
        """Return the texts of a response; thoughts are no part of it.

        Tokens that were read from the cache or written to it are not in ``input_tokens`` there.
        """
        try:
            answer = json.loads(content)
            texts = [str(one["text"]) for one in answer["content"] if one["type"] == "text"]
            usage = answer.get("usage") or {}
            cached = count(usage.get("cache_read_input_tokens"))
            written = count(usage.get("cache_creation_input_tokens"))
            return ChatReply(
                text="".join(texts),
                input_tokens=count(usage.get("input_tokens")) + cached + written,
                output_tokens=count(usage.get("output_tokens")),
                cached_tokens=cached,
                cost_usd=_cost(usage.get("cost")),
            )
        except _UNREADABLE:
            raise _unusable(content, "message") from None


WIRE_FORMATS: Final[Mapping[str, WireFormat]] = {
    one.name: one for one in (OpenAIFormat(), AnthropicFormat())
}
"""The protocols by the names of the agents that speak them."""
_UNREADABLE: Final = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip


def count(value: object) -> int:
    """Return a number of tokens; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _cost(value: object) -> float | None:
    """Return a cost that is reported; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    cost = float(value)
    return cost if math.isfinite(cost) and cost >= 0 else None


def _unusable(content: bytes, kind: str) -> ValueError:
    start = content[:_MAX_SHOWN].decode(errors="replace")
    return ValueError(f"sent no {kind}: {start!r}")
