"""Options that say which agent runs, and what it may use."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import option, together

if TYPE_CHECKING:
    from agon.app.tasks.budget import Budget
    from agon.app.tasks.prices import PriceTable
    from agon.wiring.agents import AgentChoice

_DAY_S = 86_400


def _agent_choice(  # noqa: PLR0913 (an option each)
    *,
    agent: str,
    agent_files: Path | None,
    agent_setup: Path | None,
    agent_setup_timeout: float | None,
    model: str | None,
    endpoint: str | None,
    own_endpoint: bool,
    steps: int,
    price: tuple[float, float] | None,
    prices: Path | None,
) -> "AgentChoice":
    from agon.wiring.agents import AgentChoice

    return AgentChoice(
        command=agent,
        files=agent_files,
        setup=agent_setup,
        setup_s=agent_setup_timeout,
        model=model,
        endpoint=endpoint,
        steps=steps,
        prices=_prices(price, prices),
        own_endpoint=own_endpoint,
    )


agent = together(
    "agent",
    _agent_choice,
    option(
        "--agent",
        required=True,
        metavar="CMD",
        help="A command, or oracle, nop, openai, anthropic, a name of agon challenge agents, or a "
        "definition's FILE.toml.",
    ),
    option(
        "--agent-files",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="The agent's own files; a command sees them at /agent.",
    ),
    option(
        "--agent-setup",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="A script for sh that installs a command's agent in the container, before its time "
        "counts.",
    ),
    option(
        "--agent-setup-timeout",
        type=click.FloatRange(1, _DAY_S),
        metavar="SECONDS",
        help="How long the set-up may take (default: as its definition says, else 360).",
    ),
    option("--model", metavar="M", help="The model; commands get it as AGON_MODEL."),
    option(
        "--endpoint",
        metavar="URL",
        help="openai, anthropic: the base address (default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL). "
        "The key is OPENAI_API_KEY or ANTHROPIC_API_KEY.",
    ),
    option(
        "--own-endpoint",
        is_flag=True,
        help="openai, anthropic: you operate the endpoint; its outages leave trials unscored.",
    ),
    option(
        "--steps",
        type=click.IntRange(1, 100_000),
        default=50,
        show_default=True,
        metavar="N",
        help="openai, anthropic: how many commands it may send in a trial.",
    ),
    option(
        "--price",
        type=(click.FloatRange(0), click.FloatRange(0)),
        metavar="IN OUT",
        help="US dollars for a million tokens read and written.",
    ),
    option(
        "--prices",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="The same of several models, with their date, as TOML.",
    ),
)
"""Adds ``--agent`` and what it needs; they arrive as ``agent``, an ``AgentChoice``."""


def _prices(price: tuple[float, float] | None, file: Path | None) -> "PriceTable | None":
    """Return the prices that the options give.

    Raises:
        Unreadable: there are both, or the file has none.
    """
    from agon.app.tasks.prices import PriceTable, TokenPrice, read_prices
    from agon.errors import Unreadable

    if price is not None and file is not None:
        raise Unreadable("--price and --prices both give prices; give one of them")
    if price is not None:
        return PriceTable(models={"": TokenPrice(input=price[0], output=price[1])})
    return None if file is None else read_prices(file)


def _budget(max_cost: float | None, max_tokens: int | None) -> "Budget":
    from agon.app.tasks.budget import Budget

    return Budget(cost_usd=max_cost, tokens=max_tokens)


budget = together(
    "budget",
    _budget,
    option(
        "--max-cost",
        type=click.FloatRange(min=0, min_open=True),
        metavar="USD",
        help="End the run once it has cost this; the same command with more goes on.",
    ),
    option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="End the run once so many tokens were read and written.",
    ),
)
"""Adds ``--max-cost`` and ``--max-tokens``; they arrive as ``budget``."""
