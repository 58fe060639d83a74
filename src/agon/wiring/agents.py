"""Choose the agents that work on tasks."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agon.errors import Unreadable

if TYPE_CHECKING:
    from agon.app.tasks.acceptance import AcceptanceAgents
    from agon.app.tasks.agents import Agent
    from agon.runners.agents.chat import Chat


@dataclass(frozen=True, kw_only=True)
class AgentChoice:
    """The agent to run.

    Attributes:
        command: ``oracle``, ``nop``, ``openai``, or a command for the container's shell.
        files: the files of a command.
        model: of ``openai``: the model's name.
        endpoint: of ``openai``: the base URL; None: ``OPENAI_BASE_URL``.
        steps: of ``openai``: maximum number of commands.
        price: of ``openai``: US dollars for a million tokens read and written.
        own_endpoint: of ``openai``: whether its outages leave a trial unscored.
    """

    command: str
    files: Path | None = None
    model: str | None = None
    endpoint: str | None = None
    steps: int = 50
    price: tuple[float, float] | None = None
    own_endpoint: bool = False


def task_agent(choice: AgentChoice) -> "Agent":
    """Return an agent.

    Raises:
        Unreadable: the command is empty, or ``openai`` has no model or endpoint.
        NotFound: the command's files do not exist.
    """
    from agon.runners.agents.builtin import NopAgent, OracleAgent
    from agon.runners.agents.commands import CommandAgent

    if choice.command == "openai":
        return _openai(choice)
    if choice.command in {"oracle", "nop"}:
        return OracleAgent() if choice.command == "oracle" else NopAgent()
    return CommandAgent(choice.command, files=choice.files)


def _openai(choice: AgentChoice) -> "Agent":
    from agon.runners.agents.openai import OpenAIAgent, TokenPrice

    return OpenAIAgent(
        _chat(choice),
        steps=choice.steps,
        price=None if choice.price is None else TokenPrice(*choice.price),
    )


def _chat(choice: AgentChoice) -> "Chat":
    from agon.runners.agents.chat import Chat

    endpoint = choice.endpoint or os.environ.get("OPENAI_BASE_URL", "")
    if not choice.model or not endpoint:
        raise Unreadable("the agent openai needs --model and --endpoint (or OPENAI_BASE_URL)")
    key = os.environ.get("OPENAI_API_KEY", "")
    return Chat(endpoint, choice.model, key=key, own=choice.own_endpoint)


def require_endpoint(choice: AgentChoice) -> None:
    """Require the endpoint of ``openai`` before a run; other agents have none.

    Raises:
        Unavailable: it cannot be reached, or denies the key.
    """
    if choice.command == "openai":
        _chat(choice).require_reachable()


def acceptance_agents() -> "AcceptanceAgents":
    """Return the three agents of a task's acceptance: oracle, nop and cheat."""
    from agon.app.tasks.acceptance import AcceptanceAgents
    from agon.runners.agents.builtin import CheatAgent, NopAgent, OracleAgent

    return AcceptanceAgents(oracle=OracleAgent(), nothing=NopAgent(), cheat=CheatAgent())
