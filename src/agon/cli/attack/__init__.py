"""``agon attack``: what attacks on the rules of contests cost and gain."""

import click

from agon.attacks.catalog import LABS
from agon.cli.attack.detectors import command as detectors
from agon.cli.attack.honeypots import command as honeypots
from agon.cli.attack.run import command_of
from agon.cli.shared.commands import Group


@click.group("attack", cls=Group)
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
