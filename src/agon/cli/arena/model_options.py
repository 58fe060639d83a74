"""The options that name a model judge without a service."""

from collections.abc import Callable
from typing import Any, Final

import click

from agon.cli.shared.commands import option

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
)


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a model to a command."""
    for add in reversed(_OPTIONS):
        function = add(function)
    return function
