"""``agon attack``: what attacks on the rules of contests cost and gain."""

import click

from agon.attacks.catalog import LABS, further_labs
from agon.cli.attack.detectors import command as detectors
from agon.cli.attack.honeypots import command as honeypots
from agon.cli.attack.run import command_of
from agon.cli.shared.commands import Group
from agon.disciplines import is_discipline
from agon.errors import AgonError


class LabGroup(Group):
    """A group in which installed disciplines with an attack lab have a command, too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands; what cannot be loaded is left out."""
        try:
            return [*super().list_commands(ctx), *further_labs()]
        except AgonError:
            return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None if the name is unknown."""
        if cmd_name not in self.commands and is_discipline(cmd_name):
            return command_of(cmd_name)
        return super().get_command(ctx, cmd_name)


@click.group("attack", cls=LabGroup)
def command() -> None:
    """Show what each known attack on a discipline's rules costs and gains, and what notices it.

    An attacker takes part in a simulated season, or in a real one from its last epoch on, once
    honestly and once with the attack. detectors measures the findings of agon check, honeypots the
    texts of an arena's.

      agon attack challenge
      agon attack challenge --edition term-1 --edition hardened-1
      agon attack challenge --attack dust-denial --goal first
      agon attack arena --attack void-dodging
      agon attack community --attack sock-puppets --goal top-10%
      agon attack detectors arena
    """


for discipline in LABS:
    command.add_command(command_of(discipline))
command.add_command(detectors)
command.add_command(honeypots)
