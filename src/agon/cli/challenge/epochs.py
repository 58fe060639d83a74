"""Options that the commands about epochs share."""

from collections.abc import Iterable

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import option
from agon.cli.shared.tables import echo

epoch = option(
    "--epoch", type=click.IntRange(min=0), metavar="E", help="As of this epoch (default: the last)."
)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to stderr."""
    for text in warnings:
        echo(f"warning: {text}", err=True)


def at_epoch(under: parameters.RuleOptions, epoch: int | None) -> parameters.RuleOptions:
    """Return the rule options with the epoch among the overrides.

    Raises:
        UsageError: the epoch is also set by ``--set epoch``.
    """
    if epoch is None:
        return under
    if "epoch" in under["overrides"]:
        raise click.UsageError("the epoch is given twice: --epoch and --set epoch")
    return {**under, "overrides": {**under["overrides"], "epoch": str(epoch)}}
