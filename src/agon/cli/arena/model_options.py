"""The options that name a model judge without a service."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared.commands import option, together

if TYPE_CHECKING:
    from agon.app.arena.judging.choice import LimitField, Provider, ResponseFormat, ServedModel
    from agon.app.arena.judging.model_judge import ModelJudge

MODELS: Final = {"anthropic": "claude-opus-4-5", "openai": "default"}
"""The model of each provider where none is named."""

_OPTIONS: Final = (
    option(
        "--judge",
        "url",
        required=True,
        help="Base URL: https://api.anthropic.com, or http://127.0.0.1:8000/v1.",
    ),
    option(
        "--provider",
        type=click.Choice(["anthropic", "openai"]),
        required=True,
        help="anthropic: the Messages API; openai: any OpenAI-compatible endpoint.",
    ),
    option(
        "--model",
        help="The model's name at the endpoint; by default claude-opus-4-5 of anthropic, and of "
        "openai the name default, which servers of one model accept.",
    ),
    option(
        "--seconds",
        type=click.FloatRange(1, 3600),
        default=120.0,
        show_default=True,
        help="Time limit of a comparison (two calls), or of a text.",
    ),
    option(
        "--max-tokens",
        type=click.IntRange(16, 100_000),
        default=2048,
        show_default=True,
        help="Most tokens a reply may have, thinking included.",
    ),
    option(
        "--response-format",
        type=click.Choice(["json_schema", "json_object", "none"]),
        default="json_schema",
        show_default=True,
        help="How a reply of JSON is asked for; none for servers that know neither.",
    ),
    option(
        "--limit-field",
        type=click.Choice(["max_tokens", "max_completion_tokens"]),
        help="Field that limits the reply; by default max_completion_tokens at OpenAI's own hosts, "
        "max_tokens elsewhere.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model that options name.

    Attributes:
        served: the model.
        seconds: the time limit of a comparison, or of a text.
    """

    served: "ServedModel"
    seconds: float

    def judge(self, *, question: str | None = None, allow_tie: bool = False) -> "ModelJudge":
        """Return the model as a judge.

        Args:
            question: what it is asked; None: the arena's question.
            allow_tie: whether it may prefer neither answer.

        Raises:
            Unreadable: URL or key cannot be used.
            Unavailable: the libraries of the service are not installed.
        """
        from agon.wiring import separate_judge

        return separate_judge(self.served, question=question, allow_tie=allow_tie)


def _model(
    *,
    url: str,
    provider: "Provider",
    model: str | None,
    seconds: float,
    max_tokens: int,
    response_format: "ResponseFormat",
    limit_field: "LimitField | None",
) -> ModelOptions:
    from agon.app.arena.judging.choice import ServedModel

    served = ServedModel(
        provider=provider,
        url=url,
        model=model or MODELS[provider],
        max_tokens=max_tokens,
        response_format=response_format,
        limit_field=limit_field or "",
    )
    return ModelOptions(served=served, seconds=seconds)


model_options = together("model", _model, *_OPTIONS)
"""Adds the options of a model; they arrive as ``model``."""
