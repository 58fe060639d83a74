"""The settings of model judges: the sections ``[arena.judge]`` and ``[arena.audit]``.

Both have the same rows. The key of an endpoint is no setting: it is read from the environment,
``AGON_ARENA_JUDGE_KEY`` and ``AGON_ARENA_AUDIT_KEY``, and never shown.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from agon.app.arena.judging.choice import (
    QUESTION,
    Judge,
    LimitField,
    ModelChoice,
    ResponseFormat,
)
from agon.settings.rows import BaseSettings, setting

if TYPE_CHECKING:
    from agon.app.arena.judging.limits import UsageLimits

SECTIONS: Final = ("arena.judge", "arena.audit")
"""The tables of ``agon.toml`` in which settings stand; all others stand in none."""

MAX_QUESTION: Final = 500

_JUDGES: Final[dict[Judge, str]] = {"judge": "the API judge", "audit": "the audits"}


def _checked_url(value: str) -> str:
    if not value:
        return value
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ValueError("write an http or https URL without user and password")
    return value.rstrip("/")


def _checked_question(value: str) -> str:
    if not value.strip() or len(value) > MAX_QUESTION or not value.isprintable():
        raise ValueError(f"write a question of 1 to {MAX_QUESTION} characters in one line")
    return value.strip()


_Provider = Literal["", "anthropic", "openai"]
_Question = Annotated[str, AfterValidator(_checked_question)]
_Url = Annotated[str, AfterValidator(_checked_url)]


def _provider(judge: Judge) -> Any:
    return setting(
        "",
        f"Protocol of the model for {_JUDGES[judge]}: anthropic (Messages API) or openai (any "
        "OpenAI-compatible endpoint). Empty: there is none.",
        bounds="anthropic, openai, or empty",
    )


def _url(judge: Judge) -> Any:
    return setting(
        "",
        f"Base URL of the model for {_JUDGES[judge]}, such as http://127.0.0.1:8000/v1. Empty: "
        "the provider's own.",
        bounds="an http or https URL, or empty",
        secret=True,
    )


def _model(judge: Judge) -> Any:
    return setting(
        "", f"Name of the model for {_JUDGES[judge]} at its endpoint.", bounds="a name, or empty"
    )


def _call_seconds(judge: Judge) -> Any:
    return setting(
        20.0,
        f"Seconds one call for {_JUDGES[judge]} may take; repetitions end at the deadline of the "
        "vote.",
        low=0.1,
        high=3600,
    )


def _retries(judge: Judge) -> Any:
    return setting(2, f"Repetitions of a failed call for {_JUDGES[judge]}.", low=0, high=20)


def _max_tokens(judge: Judge) -> Any:
    return setting(
        2048,
        f"Most tokens in a reply for {_JUDGES[judge]}, thinking included.",
        low=16,
        high=100_000,
    )


def _calls(judge: Judge) -> Any:
    return setting(
        5000,
        f"Calls for {_JUDGES[judge]} a day (UTC); a vote takes two. Then rounds pause.",
        low=0,
        high=100_000_000,
    )


def _tokens(judge: Judge) -> Any:
    return setting(
        10_000_000,
        f"Tokens for {_JUDGES[judge]} a day (UTC), read and written. Then rounds pause.",
        low=0,
        high=1_000_000_000_000,
    )


def _failures(judge: Judge) -> Any:
    return setting(
        5,
        f"Failures in a row after which no calls for {_JUDGES[judge]} are made for a while.",
        low=1,
        high=1000,
    )


def _pause(judge: Judge) -> Any:
    return setting(
        60.0,
        f"Seconds without calls for {_JUDGES[judge]} after that; then one call is tried.",
        low=1,
        high=86_400,
    )


def _null_share(judge: Judge) -> Any:
    return setting(
        0.02,
        f"Share of votes of the model for {_JUDGES[judge]} after which it also compares an answer "
        "with a constant text; how often that wins is a measurement.",
        low=0,
        high=1,
    )


def _response_format(judge: Judge) -> Any:
    return setting(
        "json_schema",
        f"How a reply of JSON is asked of the model for {_JUDGES[judge]}: json_schema, "
        "json_object, or none for servers that know neither. A verdict is checked in any case.",
        bounds="json_schema, json_object or none",
    )


def _limit_field(judge: Judge) -> Any:
    return setting(
        "",
        f"Field that limits the reply of the model for {_JUDGES[judge]}. Empty: "
        "max_completion_tokens at OpenAI's own hosts, max_tokens elsewhere.",
        bounds="max_tokens, max_completion_tokens, or empty",
    )


def _question(judge: Judge) -> Any:
    return setting(
        QUESTION,
        f"What the model for {_JUDGES[judge]} is asked about two answers.",
        bounds=f"1 to {MAX_QUESTION} characters in one line",
    )


def _allow_tie(judge: Judge) -> Any:
    return setting(
        default=False,
        meaning=f"Whether the model for {_JUDGES[judge]} may prefer neither answer; a vote is a "
        "tie if it does so in both orders.",
        bounds="true or false",
    )


class ModelJudgeSettings(BaseSettings):
    """The settings of both sections."""

    arena_judge_provider: _Provider = _provider("judge")
    arena_judge_url: _Url = _url("judge")
    arena_judge_model: str = _model("judge")
    arena_judge_call_seconds: float = _call_seconds("judge")
    arena_judge_retries: int = _retries("judge")
    arena_judge_max_tokens: int = _max_tokens("judge")
    arena_judge_calls_per_day: int = _calls("judge")
    arena_judge_tokens_per_day: int = _tokens("judge")
    arena_judge_max_failures: int = _failures("judge")
    arena_judge_pause_seconds: float = _pause("judge")
    arena_judge_null_share: float = _null_share("judge")
    arena_judge_response_format: ResponseFormat = _response_format("judge")
    arena_judge_limit_field: LimitField = _limit_field("judge")
    arena_judge_question: _Question = _question("judge")
    arena_judge_allow_tie: bool = _allow_tie("judge")

    arena_audit_provider: _Provider = _provider("audit")
    arena_audit_url: _Url = _url("audit")
    arena_audit_model: str = _model("audit")
    arena_audit_call_seconds: float = _call_seconds("audit")
    arena_audit_retries: int = _retries("audit")
    arena_audit_max_tokens: int = _max_tokens("audit")
    arena_audit_calls_per_day: int = _calls("audit")
    arena_audit_tokens_per_day: int = _tokens("audit")
    arena_audit_max_failures: int = _failures("audit")
    arena_audit_pause_seconds: float = _pause("audit")
    arena_audit_null_share: float = _null_share("audit")
    arena_audit_response_format: ResponseFormat = _response_format("audit")
    arena_audit_limit_field: LimitField = _limit_field("audit")
    arena_audit_question: _Question = _question("audit")
    arena_audit_allow_tie: bool = _allow_tie("audit")

    @model_validator(mode="after")
    def _judges_have_models(self) -> "ModelJudgeSettings":
        for judge in _JUDGES:
            choice = self.model_judge(judge)
            if choice is not None and not choice.model:
                raise ValueError(
                    f"arena_{judge}_model is empty although arena_{judge}_provider is "
                    f"{choice.provider}; name the model"
                )
        return self

    @property
    def model_limits(self) -> "dict[Judge, UsageLimits]":
        """The limits of the configured model judges, by section."""
        choices = {judge: self.model_judge(judge) for judge in _JUDGES}
        return {judge: choice.limits for judge, choice in choices.items() if choice is not None}

    def model_judge(self, judge: Judge) -> ModelChoice | None:
        """Return the settings of a model judge; None if there is none."""
        values = {
            name: getattr(self, f"arena_{judge}_{name}")
            for name in (field.name for field in fields(ModelChoice))
        }
        return ModelChoice(**values) if values["provider"] else None
