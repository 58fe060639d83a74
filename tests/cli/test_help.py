"""Names, options and help of every command in interfaces.md."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import click
import pytest

import agon.cli
from agon.cli import cli
from agon.cli.shared.commands import Option
from cli.command import Cli

PROMISED = {
    "demo": {"--dir", "--port", "--no-serve"},
    "score": {"--edition", "--set", "--board", "--as-of", "--format", "--output", "--top"},
    "explain": {"--edition", "--set", "--board", "--as-of", "--format"},
    "compare": {"--edition", "--set", "--board", "--format"},
    "check": {"--edition", "--set", "--format"},
    "simulate": {"--out", "--size", "--seed", "--attack", "--dry-run"},
    "import": {"--out", "--dry-run"},
    "rules list": {"--format"},
    "rules show": {"--format"},
    "rules diff": {"--format"},
    "rules lint": {"--format"},
    "dojo canonicalize": {"--hash"},
    "dojo check": {"--kind", "--edition", "--format"},
    "challenge weights": {"--epoch", "--bittensor", "--format"},
    "arena rate": {"--method", "--ci", "--format"},
    "contest create": {"--discipline", "--edition", "--set", "--title", "--private", "--series"},
    "contest list": {"--server", "--token-file", "--database", "--format"},
    "contest add": {"--table", "--replace", "--dry-run"},
    "contest freeze": {"--server", "--database"},
    "contest finalize": {"--server", "--database"},
    "contest export": {"--out"},
    "contest import": {"--as", "--dry-run"},
    "contest rescore": {"--edition", "--set", "--reason", "--dry-run", "--yes"},
    "contest void": {"--record", "--person", "--reason", "--dry-run"},
    "replay": {"--at", "--board", "--check", "--edition", "--format", "--proof"},
    "db upgrade": {"--database"},
    "db backup": {"--database"},
    "db verify": {"--database"},
    "token create": {"--user", "--role", "--contest", "--yes", "--scope", "--days", "--label"},
    "token list": {"--format"},
    "token revoke": {"--server"},
    "user create": {"--name"},
}


def commands(group: click.Group = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their paths."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


COMMANDS = dict(commands())


def test_every_command_that_is_written_can_be_reached() -> None:
    """A command that no group names cannot be used."""
    reached = {*map(id, COMMANDS.values()), *(id(group) for _, group in groups()), id(cli)}
    written = {
        f"{info.name}.{name}"
        for info in walk_packages(agon.cli.__path__, "agon.cli.")
        for name, value in vars(import_module(info.name)).items()
        if isinstance(value, click.Command) and id(value) not in reached
    }
    assert written == set()


def test_all_documented_commands_exist() -> None:
    """Command names are a public interface."""
    assert set(COMMANDS) >= set(PROMISED)


@pytest.mark.parametrize("path", PROMISED)
def test_every_command_has_its_documented_options(path: str) -> None:
    """Option names are a public interface."""
    options = {name for parameter in COMMANDS[path].params for name in parameter.opts}
    assert options >= PROMISED[path]


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", COMMANDS)
def test_help_shows_an_example_that_names_the_command(agon: Cli, path: str) -> None:
    """Users copy examples first."""
    ended = agon(*path.split(), "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: agon {path}")
    assert f"    agon {path}" in ended.out
    assert agon(*path.split(), "-h").out == ended.out


@pytest.mark.sample(55)
@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_a_help_text_and_an_environment_variable(path: str) -> None:
    """All options use one class, so that AGON_… variables work for all of them."""
    for parameter in COMMANDS[path].params:
        if isinstance(parameter, click.Option):
            assert isinstance(parameter, Option), parameter.name
            assert parameter.help, parameter.name


@pytest.mark.parametrize("path", [path for path in PROMISED if " " not in path])
def test_the_list_of_commands_shows_complete_first_sentences(path: str) -> None:
    """A truncated sentence is useless."""
    assert not COMMANDS[path].get_short_help_str(60).endswith("...")


def test_the_version_is_printed(agon: Cli) -> None:
    """Bug reports need it."""
    from agon import __version__

    assert agon("--version").out == f"agon, version {__version__}\n"


def groups(group: click.Group = cli, path: str = "agon") -> Iterator[tuple[str, click.Group]]:
    """Yield the groups of commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield f"{path} {name}", command
            yield from groups(command, f"{path} {name}")


@pytest.mark.parametrize("path", dict(groups()))
def test_the_examples_of_a_group_are_on_separate_lines(agon: Cli, path: str) -> None:
    """Examples joined to a paragraph cannot be read or copied."""
    output = agon(*path.split()[1:], "--help").out
    examples = [line for line in output.splitlines() if line.strip().startswith(f"{path} ")]
    assert examples
    assert all(line.startswith("    agon ") and line.count(path) == 1 for line in examples)
