"""Options that the commands about epochs share."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import option
from agon.cli.shared.tables import echo

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions

epoch = option(
    "--epoch", type=click.IntRange(min=0), metavar="E", help="As of this epoch (default: the last)."
)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to stderr."""
    for text in warnings:
        echo(f"warning: {text}", err=True)


def at_epoch(rule_options: "RuleOptions", epoch: int | None) -> "RuleOptions":
    """Return the rule options with the epoch among the overrides.

    Raises:
        UsageError: the epoch is also set by ``--set epoch``.
    """
    if epoch is None:
        return rule_options
    overrides = rule_options.get("overrides") or {}
    if "epoch" in overrides:
        raise click.UsageError("the epoch is given twice: --epoch and --set epoch")
    return {**rule_options, "overrides": {**overrides, "epoch": str(epoch)}}
