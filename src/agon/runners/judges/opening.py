"""Open the endpoint of a model by its provider's name."""

import ssl
from typing import Final, Literal
from urllib.parse import urlsplit

from agon.app.arena.judging.port import ModelEndpoint
from agon.errors import Unreadable
from agon.runners.judges import anthropic, openai
from agon.runners.judges.endpoint import Dialect, HttpModel
from agon.runners.judges.http import JsonClient

Provider = Literal["anthropic", "openai"]

_OWN_HOSTS: Final = (".openai.com", ".openai.azure.com")


def open_model(
    provider: Provider,
    *,
    url: str,
    model: str,
    key: str,
    max_tokens: int,
    tls: ssl.SSLContext | None = None,
) -> ModelEndpoint:
    """Return the endpoint of a model.

    Args:
        provider: ``anthropic`` for the Messages API, ``openai`` for compatible endpoints.
        url: its base URL: of Anthropic's API without ``/v1``, of others usually with it. Empty:
            the provider's own.
        model: the model's name there.
        key: the API key; empty: none is sent.
        max_tokens: the most tokens a reply may have.
        tls: the trusted certificates; by default those httpx2 trusts.

    Raises:
        Unreadable: the model has no name, or URL or key cannot be used.
    """
    if not model:
        raise Unreadable("the judge has no model; name one, such as claude-opus-4-5")
    dialect: Dialect
    if provider == "anthropic":
        base, path, headers = url or anthropic.URL, "/v1/messages", anthropic.headers(key)
        dialect = anthropic.AnthropicDialect()
    else:
        base, path, headers = url or openai.URL, "/chat/completions", openai.headers(key)
        host = urlsplit(base).hostname or ""
        field = "max_completion_tokens" if f".{host}".endswith(_OWN_HOSTS) else "max_tokens"
        dialect = openai.OpenAIDialect(field)
    client = JsonClient(url=base.rstrip("/") + path, headers=headers, key=key, tls=tls)
    return HttpModel(dialect=dialect, client=client, model=model, max_tokens=max_tokens)
