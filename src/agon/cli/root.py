"""The commands by name; each is imported when it is used."""

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

import click

from agon.cli.shared.commands import Group
from agon.version import __version__

_MODULES = {
    "demo": "agon.cli.demo",
    "score": "agon.cli.score",
    "explain": "agon.cli.explain",
    "compare": "agon.cli.compare",
    "check": "agon.cli.check",
    "simulate": "agon.cli.simulate",
    "attack": "agon.cli.attack",
    "import": "agon.cli.import_records",
    "convert": "agon.cli.convert",
    "schema": "agon.cli.schema",
    "engines": "agon.cli.engines",
    "plan": "agon.cli.plan",
    "rules": "agon.cli.rules",
    "dojo": "agon.cli.dojo",
    "challenge": "agon.cli.challenge",
    "arena": "agon.cli.arena",
    "serve": "agon.cli.service.serve",
    "contest": "agon.cli.contest",
    "replay": "agon.cli.replay",
    "export": "agon.cli.export",
    "worker": "agon.cli.service.worker",
    "jobs": "agon.cli.service.jobs",
    "db": "agon.cli.service.db",
    "cases": "agon.cli.service.cases",
    "token": "agon.cli.service.token",
    "user": "agon.cli.service.user",
    "webhooks": "agon.cli.service.webhooks",
    "config": "agon.cli.service.config",
}


class LazyGroup(Group):
    """A group whose commands are imported when they are used.

    A command's module imports nothing heavy at its top, so that even the list of all commands
    with their first sentences costs little.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (Click's signature)
        """Return the names of the commands, the most common first; then those of disciplines."""
        return [*_MODULES, *_commands_of_disciplines()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if the name is unknown.

        Raises:
            Unavailable: the command of an installed discipline cannot be loaded.
        """
        if cmd_name not in _MODULES:
            return _command_of_discipline(cmd_name)
        if cmd_name not in self.commands:
            self.commands[cmd_name] = import_module(_MODULES[cmd_name]).command
        return super().get_command(ctx, cmd_name)


def _command_of_discipline(name: str) -> click.Command | None:
    """Return the command that an installed discipline adds; None: there is none.

    Raises:
        Unavailable: the discipline or its command cannot be loaded.
    """
    from agon.disciplines import BUILT_IN, discipline, is_discipline, load_part

    if name in BUILT_IN or not is_discipline(name):
        return None
    place = discipline(name).command
    return None if place is None else load_part(name, place, click.Command)


def _commands_of_disciplines() -> Iterator[str]:
    """Yield the names of the commands that installed disciplines add.

    A list names what works: a package that cannot be loaded is an error where it is used.
    """
    from agon.disciplines import BUILT_IN, names
    from agon.errors import AgonError

    with suppress(AgonError):
        for name in names()[len(BUILT_IN) :]:
            with suppress(AgonError):
                if name not in _MODULES and _command_of_discipline(name) is not None:
                    yield name


@click.group(
    cls=LazyGroup,
    context_settings={"auto_envvar_prefix": "AGON", "help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="agon")
def cli() -> None:
    """Score contests among AIs and the people who test them.

    A score can be explained to the last record, compared under other rules and checked for
    gaming. Disciplines: community, challenge, dojo, arena.

      agon demo                               an example of every discipline
      agon score community data/              score a folder of tables
      agon explain community data/ ada        why this score

    Data goes to stdout, everything else to stderr. Every option can also be given as
    AGON_COMMAND_OPTION (AGON_SCORE_EDITION). Exit codes: 0 ok, 1 a check failed, 2 usage or
    unreadable input, 3 not found, 4 conflict, 5 unavailable.
    """
