"""Options that the commands about epochs share."""

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import option

epoch = option(
    "--epoch", type=click.IntRange(min=0), metavar="E", help="As of this epoch (default: the last)."
)


def at_epoch(under: parameters.RuleOptions, epoch: int | None) -> parameters.RuleOptions:
    """Return what records are scored under, with the epoch among its rules.

    Raises:
        UsageError: ``--set epoch`` says one already.
    """
    if epoch is None:
        return under
    if "epoch" in under["overrides"]:
        raise click.UsageError("the epoch is given twice: --epoch and --set epoch")
    return {**under, "overrides": {**under["overrides"], "epoch": str(epoch)}}
