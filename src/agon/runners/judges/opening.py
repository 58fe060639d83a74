"""Open model judges by provider, with the machine's clock and the keys of its environment."""

import math
import os
import secrets
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from agon.app.arena.judging.choice import QUESTION, Judge, ModelChoice, Provider, ServedModel
from agon.app.arena.judging.limits import UsageLimits
from agon.app.arena.judging.model_judge import ModelJudge, Timing
from agon.app.arena.judging.port import ModelEndpoint
from agon.app.arena.judging.usage import LocalUsage, StoredUsage, store_counts, store_failure
from agon.errors import Unreadable
from agon.runners.judges import anthropic, openai
from agon.runners.judges.endpoint import Dialect, HttpModel
from agon.runners.judges.http import JsonClient
from agon.store.session import Store

_RETRIES: Final = 4
_OWN_HOSTS: Final[Mapping[Provider, tuple[str, ...]]] = {
    "anthropic": (".anthropic.com",),
    "openai": (".openai.com", ".openai.azure.com"),
}


def open_model(model: ServedModel, *, key: str, tls: ssl.SSLContext | None = None) -> ModelEndpoint:
    """Return the endpoint of a model.

    Args:
        model: the model.
        key: the API key; empty: none is sent.
        tls: the trusted certificates; by default those httpx2 trusts.

    Raises:
        Unreadable: the model has no name, or URL or key cannot be used.
    """
    if not model.model:
        raise Unreadable("the judge has no model; name one, such as claude-opus-4-5")
    dialect: Dialect
    if model.provider == "anthropic":
        base, path, headers = model.url or anthropic.URL, "/v1/messages", anthropic.headers(key)
        dialect = anthropic.AnthropicDialect(model.response_format)
    else:
        base, path, headers = model.url or openai.URL, "/chat/completions", openai.headers(key)
        own = "max_completion_tokens" if _is_host_of("openai", base) else "max_tokens"
        dialect = openai.OpenAIDialect(model.limit_field or own, model.response_format)
    client = JsonClient(url=base.rstrip("/") + path, headers=headers, key=key, tls=tls)
    return HttpModel(dialect=dialect, client=client, model=model.model, max_tokens=model.max_tokens)


def key_of(
    judge: Judge,
    provider: Provider,
    *,
    url: str,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Return the key of a judge from the environment; empty if there is none.

    It is the judge's own variable, ``AGON_ARENA_JUDGE_KEY`` or ``AGON_ARENA_AUDIT_KEY``. Without it
    the provider's usual one is used, but for the provider's own hosts only: another endpoint must
    not receive a key that is not meant for it.

    Example:
        >>> keys = {"OPENAI_API_KEY": "k"}
        >>> key_of("audit", "openai", url="", environ=keys)
        'k'
        >>> key_of("audit", "openai", url="https://gateway.example/v1", environ=keys)
        ''
    """
    variables = os.environ if environ is None else environ
    own = variables.get(f"AGON_ARENA_{judge.upper()}_KEY")
    if own or (url and not _is_host_of(provider, url)):
        return own or ""
    return variables.get(f"{provider.upper()}_API_KEY", "")


def _is_host_of(provider: Provider, url: str) -> bool:
    """Return whether a URL is on the provider's own hosts, over TLS."""
    parts = urlsplit(url)
    return parts.scheme == "https" and f".{parts.hostname}".endswith(_OWN_HOSTS[provider])


def machine_timing() -> Timing:
    """Return the clock and the randomness of this machine."""
    return Timing(
        monotonic=time.monotonic,
        sleep=time.sleep,
        random=secrets.SystemRandom().random,
        draw_nonce=lambda: secrets.token_hex(12),
    )


def open_stored_judge(
    judge: Judge, choice: ModelChoice, *, store: Store, clock: Callable[[], datetime]
) -> ModelJudge:
    """Return a model judge of a service: usage and measurements are stored in its database.

    Args:
        judge: under which name usage is counted, and which key is used.
        choice: the model and its limits.
        store: the database.
        clock: returns the time.

    Raises:
        Unreadable: the URL or the key cannot be used.
    """
    endpoint = open_model(choice, key=key_of(judge, choice.provider, url=choice.url))
    return ModelJudge(
        endpoint=endpoint,
        usage=StoredUsage(store=store, judge=judge, limits=choice.limits, clock=clock),
        retries=choice.retries,
        timing=machine_timing(),
        call_seconds=choice.call_seconds,
        record=partial(store_counts, store),
        null_share=choice.null_share,
        question=choice.question,
        allow_tie=choice.allow_tie,
        record_failure=partial(store_failure, store, endpoint.name, clock),
    )


def open_separate_judge(
    model: ServedModel, *, question: str = QUESTION, allow_tie: bool = False
) -> ModelJudge:
    """Return a model judge without a service: its usage is not limited and not stored.

    Args:
        model: the model.
        question: what it is asked.
        allow_tie: whether it may prefer neither answer.

    Raises:
        Unreadable: the URL or the key cannot be used.
    """
    unlimited = UsageLimits(
        calls=sys.maxsize, tokens=sys.maxsize, max_failures=sys.maxsize, pause=timedelta(0)
    )
    return ModelJudge(
        endpoint=open_model(model, key=key_of("judge", model.provider, url=model.url)),
        usage=LocalUsage(limits=unlimited, clock=lambda: datetime.now(UTC)),
        retries=_RETRIES,
        timing=machine_timing(),
        call_seconds=math.inf,
        question=question,
        allow_tie=allow_tie,
    )
