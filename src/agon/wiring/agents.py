"""Choose the agents that work on tasks."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agon.errors import Unreadable

if TYPE_CHECKING:
    from agon.app.tasks.acceptance import AcceptanceAgents
    from agon.app.tasks.agents import Agent
    from agon.app.tasks.prices import PriceTable
    from agon.runners.agents.chat import Chat


@dataclass(frozen=True, kw_only=True)
class AgentChoice:
    """The agent to run.

    Attributes:
        command: ``oracle``, ``nop``, ``openai``, ``anthropic``, the name or the file of a
            definition, or a command for the container's shell.
        files: the files of a command.
        setup: the set-up script of a command.
        setup_s: seconds that it may take; None: as its definition says.
        model: the model's name.
        endpoint: of ``openai`` and ``anthropic``: the base URL; None: ``OPENAI_BASE_URL`` or
            ``ANTHROPIC_BASE_URL``.
        steps: of the same: maximum number of commands.
        prices: the prices of models.
        own_endpoint: of the same: whether its outages leave a trial unscored.
    """

    command: str
    files: Path | None = None
    setup: Path | None = None
    setup_s: float | None = None
    model: str | None = None
    endpoint: str | None = None
    steps: int = 50
    prices: "PriceTable | None" = None
    own_endpoint: bool = False


def task_agent(choice: AgentChoice) -> "Agent":
    """Return an agent.

    Raises:
        Unreadable: the command is empty, a model's agent has no model or endpoint, or an option
            does not fit the agent.
        NotFound: the command's files do not exist.
        InvalidPackage: the file of a definition cannot be read.
    """
    from agon.runners.agents.builtin import NopAgent, OracleAgent
    from agon.runners.agents.wire_formats import WIRE_FORMATS

    if choice.command in {"oracle", "nop", *WIRE_FORMATS} and choice.setup is not None:
        raise Unreadable(
            f"--agent-setup is for commands; the agent {choice.command} installs nothing"
        )
    if choice.command in WIRE_FORMATS:
        return _of_model(choice)
    if choice.command in {"oracle", "nop"}:
        return OracleAgent() if choice.command == "oracle" else NopAgent()
    return _of_command(choice)


def _of_command(choice: AgentChoice) -> "Agent":
    from agon.app.tasks.files import read_text
    from agon.runners.agents.commands import CommandAgent
    from agon.runners.agents.definitions import (
        SETUP_S,
        AgentDefinition,
        is_definition,
        read_definition,
        shipped_agents,
    )

    definition = shipped_agents().get(choice.command)
    if definition is None and is_definition(choice.command):
        definition = read_definition(Path(choice.command))
    if definition is not None and choice.setup is not None:
        raise Unreadable(
            f"{definition.name} has a set-up script of its own; copy its definition and change it: "
            f"agon challenge agents {definition.name} > mine.toml"
        )
    if definition is None:
        setup = "" if choice.setup is None else read_text(choice.setup, where=str(choice.setup))
        definition = AgentDefinition(name="", command=choice.command, setup=setup, setup_s=SETUP_S)
    return CommandAgent(
        definition.command,
        files=choice.files,
        name=definition.name,
        setup=definition.setup,
        setup_s=definition.setup_s if choice.setup_s is None else choice.setup_s,
        model=choice.model or "",
        variables=definition.variables,
    )


def _of_model(choice: AgentChoice) -> "Agent":
    from agon.runners.agents.model import ModelAgent

    chat = _chat(choice)
    price = None if choice.prices is None else choice.prices.price(chat.model)
    return ModelAgent(chat, steps=choice.steps, price=price)


def _chat(choice: AgentChoice) -> "Chat":
    from agon.runners.agents.chat import Chat
    from agon.runners.agents.wire_formats import WIRE_FORMATS

    wire_format = WIRE_FORMATS[choice.command]
    variable = f"{wire_format.variable}_BASE_URL"
    endpoint = choice.endpoint or os.environ.get(variable, "")
    if not choice.model or not endpoint:
        raise Unreadable(f"the agent {choice.command} needs --model and --endpoint (or {variable})")
    key = os.environ.get(f"{wire_format.variable}_API_KEY", "")
    return Chat(endpoint, choice.model, key=key, own=choice.own_endpoint, wire_format=wire_format)


def require_endpoint(choice: AgentChoice) -> None:
    """Require the endpoint of a model's agent before a run; other agents have none.

    Raises:
        Unavailable: it cannot be reached, or denies the key.
    """
    from agon.runners.agents.wire_formats import WIRE_FORMATS

    if choice.command in WIRE_FORMATS:
        _chat(choice).require_reachable()


def acceptance_agents() -> "AcceptanceAgents":
    """Return the three agents of a task's acceptance: oracle, nop and cheat."""
    from agon.app.tasks.acceptance import AcceptanceAgents
    from agon.runners.agents.builtin import CheatAgent, NopAgent, OracleAgent

    return AcceptanceAgents(oracle=OracleAgent(), nothing=NopAgent(), cheat=CheatAgent())
