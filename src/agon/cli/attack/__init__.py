"""``agon attack``: what attacks on the rules of contests cost and gain."""

import click

from agon.cli.attack.reproduce import command as reproduce
from agon.cli.shared.commands import Group


@click.group("attack", cls=Group)
def command() -> None:
    """Show what known attacks on contests gain.

    What others published about attacks is computed again, with fixed seeds.

      agon attack reproduce
      agon attack reproduce --format json
    """


command.add_command(reproduce)
