"""``agon attack detectors``: power and false alarms of findings."""

from typing import TYPE_CHECKING

import click

from agon.attacks.catalog import LABS
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json, working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agon.attacks.detectors import PowerMeasurement


@click.command("detectors", cls=Command)
@click.argument("discipline", type=click.Choice(list(LABS)), metavar="DISCIPLINE")
@option(
    "--size",
    type=click.IntRange(min=1),
    metavar="N",
    help="Size of each simulated contest, as for agon simulate (default: that of the tests).",
)
@parameters.seed
@option(
    "--worlds",
    type=click.IntRange(min=1, max=10_000),
    default=20,
    show_default=True,
    metavar="N",
    help="Number of simulated contests per row.",
)
@parameters.form(TABLE, "json")
def command(*, discipline: str, size: int | None, seed: int, worlds: int, form: str) -> None:
    """Show how often each finding names an attacker, and how often an honest participant.

    Each check of agon check faces the attack that it is made for, with a part of the attacker's
    actions and with all of them. Exposures are those actions that concern what the attacker
    promotes. A false alarm is an honest participant named by a finding that names no attacker.
    Next to a check stands the power of the literal edition's rule where it has one. It takes from
    half a minute to five minutes; equal options give equal figures.

      agon attack detectors arena
      agon attack detectors community --size 1000 --worlds 40
      agon attack detectors challenge --format json
    """
    from agon.app.analysis.detectors import detectors

    with working("measuring findings"):
        report = detectors(discipline, size=size, seed=seed, worlds=worlds)
    if form == "json":
        deliver_json(report.to_dict())
    else:
        _draw(report.detectors)


def _draw(rows: "Sequence[PowerMeasurement]") -> None:
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    out.table(
        [
            TableColumn("finding", [row.finding for row in rows]),
            TableColumn("attack", [row.attack for row in rows], folds=True),
            TableColumn("actions", [_count(row.actions) for row in rows], right=True),
            TableColumn("exposures", [_count(row.exposures) for row in rows], right=True),
            TableColumn("threshold", [_share(row.threshold) for row in rows], right=True),
            TableColumn("power", [_share(row.power) for row in rows], right=True),
            TableColumn("false alarms", [_share(row.false_alarms) for row in rows], right=True),
            TableColumn("literal", [_share(row.literal_power) for row in rows], right=True),
        ],
        needed=8,
    )
    out.deliver()


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
