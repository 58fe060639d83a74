"""Describe the model of a judge as settings state it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from agon.entities.judging import ModelUsage

if TYPE_CHECKING:  # every command reads the settings, which need these names only
    from collections.abc import Mapping

    from agon.app.arena.judging.limits import UsageLimits

Judge = Literal["judge", "audit"]
"""The API judge of matches, or the judge of audits."""

Provider = Literal["anthropic", "openai"]
"""Anthropic's Messages API, or any OpenAI-compatible endpoint."""


ResponseFormat = Literal["json_schema", "json_object", "none"]
"""How a reply of JSON is asked for; of Anthropic's API, ``json_schema`` or not at all."""

LimitField = Literal["", "max_tokens", "max_completion_tokens"]
"""The field that limits a reply; empty: ``max_completion_tokens`` at OpenAI's own hosts only."""


QUESTION: Final = "Which answer reads more as if a person wrote it?"
"""What judges are asked unless a setting says otherwise (document 003, The Consensus System)."""


def pause_reason(
    limits: "Mapping[Judge, UsageLimits]", usage: ModelUsage, now: datetime
) -> str | None:
    """Return why a model cannot be asked now; None if it can.

    Args:
        limits: of the configured models.
        usage: of the model; its ``judge`` is the section.
        now: the time.

    Example:
        >>> pause_reason({}, ModelUsage(judge="audit"), datetime(2026, 1, 31))
        'no model is configured'
    """
    known = limits.get("audit" if usage.judge == "audit" else "judge")
    if known is None:
        return "no model is configured"
    from agon.app.arena.judging.limits import pause_of

    fault = pause_of(usage, limits=known, now=now)
    return None if fault is None else f"the model cannot be asked: {fault.detail}"


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """A model at an endpoint, and what is asked of each of its replies.

    Attributes:
        provider: ``anthropic`` for the Messages API, ``openai`` for compatible endpoints.
        url: the base URL: of Anthropic's API without ``/v1``, of others usually with it. Empty:
            the provider's own.
        model: the model's name there.
        max_tokens: the most tokens a reply may have, thinking included.
        response_format: how a reply of JSON is asked for.
        limit_field: the field that limits a reply, of compatible endpoints.
    """

    provider: Provider
    url: str
    model: str
    max_tokens: int
    response_format: ResponseFormat = "json_schema"
    limit_field: LimitField = ""


@dataclass(frozen=True, kw_only=True)
class ModelChoice(ServedModel):
    """A model and the limits of its use.

    Attributes:
        call_seconds: the time limit of one call.
        retries: how often a call is repeated at most.
        calls_per_day: maximum number of calls a day.
        tokens_per_day: maximum number of tokens a day.
        max_failures: failures in a row after which no calls are made for a while.
        pause_seconds: how long.
        null_share: share of votes after which an answer is compared with a constant text.
        question: what the judge is asked.
        allow_tie: whether it may prefer neither answer.
    """

    call_seconds: float
    retries: int
    calls_per_day: int
    tokens_per_day: int
    max_failures: int
    pause_seconds: float
    null_share: float
    question: str
    allow_tie: bool

    @property
    def limits(self) -> "UsageLimits":
        """The limits of its use."""
        from agon.app.arena.judging.limits import UsageLimits

        return UsageLimits(
            calls=self.calls_per_day,
            tokens=self.tokens_per_day,
            max_failures=self.max_failures,
            pause=timedelta(seconds=self.pause_seconds),
        )
