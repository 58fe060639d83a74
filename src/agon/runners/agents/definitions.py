"""Read agents that are defined by a file: a set-up script, a command, and what they need."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from agon.app.files import FileIssue, InvalidPackage
from agon.app.tasks.files import read_text
from agon.app.tasks.formats.settings_reader import SettingsReader
from agon.errors import Unreadable

SETUP_S: Final = 360.0
"""Seconds of a set-up script that states none."""
LONGEST_SETUP_S: Final = 86_400.0
_SUFFIX: Final = ".toml"
_NAME_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


@dataclass(frozen=True, kw_only=True)
class AgentDefinition:
    """An agent that a container can install and run.

    Attributes:
        name: its name.
        command: the command line, as of ``--agent``.
        setup: a script for ``sh`` that installs it; empty: it needs none.
        setup_s: seconds that the script may take.
        variables: names of variables without which it cannot run.
        about: what it is, in one line.
        tried: what its author tried, and when.
        text: the file.
    """

    name: str
    command: str
    setup: str = ""
    setup_s: float = SETUP_S
    variables: tuple[str, ...] = ()
    about: str = ""
    tried: str = ""
    text: str = ""


def shipped_agents() -> dict[str, AgentDefinition]:
    """Return the definitions that are shipped with agon, by name."""
    folder = Path(str(files("agon").joinpath("examples", "agents")))
    return {
        one.name: one
        for one in map(read_definition, sorted(folder.glob(f"*{_SUFFIX}")))
    }  # fmt: skip


def is_definition(command: str) -> bool:
    """Return whether ``--agent`` names a file of a definition: one word that ends in .toml.

    Example:
        >>> is_definition("agents/mine.toml"), is_definition("run --config a.toml")
        (True, False)
    """
    return command.endswith(_SUFFIX) and len(command.split()) == 1


def read_definition(path: Path) -> AgentDefinition:
    """Return the agent that a file defines.

    Raises:
        InvalidPackage: the file cannot be read, or keys are missing, unknown or wrong; all of them.
        Unreadable: it is no TOML.
    """
    text = read_text(path, where=str(path))
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise Unreadable(f"{path} is no TOML: {wrong}") from None
    issues: list[FileIssue] = []
    keys = SettingsReader(content, where=str(path), issues=issues)
    definition = AgentDefinition(
        name=keys.text("name", default=path.stem),
        command=keys.text("command"),
        setup=keys.text("setup"),
        setup_s=keys.number("setup_timeout_sec", default=SETUP_S, low=1, high=LONGEST_SETUP_S),
        variables=keys.texts("variables"),
        about=keys.text("about"),
        tried=keys.text("tried"),
        text=text,
    )
    issues += _issues(definition, keys, str(path))
    if issues:
        raise InvalidPackage(*issues)
    return definition


def _issues(definition: AgentDefinition, keys: SettingsReader, where: str) -> Iterator[FileIssue]:
    if not definition.command.strip():
        yield FileIssue(where, "command is missing", "write the command that runs the agent")
    if not definition.name or not set(definition.name) <= _NAME_LETTERS:
        yield FileIssue(where, f"name is {definition.name!r}", "use a-z, 0-9 and - _ .")
    for key in keys.rest():
        remedy = "known are name, command, setup, setup_timeout_sec, variables, about, tried"
        yield FileIssue(where, f"{key} is no key of an agent", remedy)
