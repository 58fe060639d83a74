"""``agon attack reproduce``: published results about attacks, computed again."""

from time import perf_counter
from typing import TYPE_CHECKING

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver, working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agon.attacks.published import Row


@click.command("reproduce", cls=Command)
@parameters.form(TABLE, "json")
def command(*, form: str) -> None:
    """Repeat published results about attacks, and print their figures next to ours.

    It takes about fifteen seconds. Every draw has a fixed seed, so the figures are the same on
    every run. Exit code 1 if one differs by more than its limit.

      agon attack reproduce
      agon attack reproduce --format json
    """
    from agon.app.analysis.published import published_rows

    with working("repeating published results"):
        rows = list(published_rows(clock=perf_counter))
    holds = all(row.figure.holds for row in rows)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks({"rows": [row.to_dict() for row in rows], "holds": holds}), None)
    else:
        _draw(rows)
    if not holds:
        raise click.exceptions.Exit(1)


def _draw(rows: "Sequence[Row]") -> None:
    """Print a table per source; rows that do not hold are marked."""
    from agon.cli.shared.tables import Column, Output

    out = Output()
    for source in dict.fromkeys(row.source for row in rows):
        own = [row for row in rows if row.source == source]
        out.line(f"{source}, {own[-1].seconds:.1f} s", style="bold")
        figures = [row.figure for row in own]
        out.table(
            [
                Column("figure", [figure.name for figure in figures], folds=True),
                Column(
                    "theirs", [figure.with_unit(figure.theirs) for figure in figures], right=True
                ),
                Column("ours", [figure.with_unit(figure.ours) for figure in figures], right=True),
                Column("limit", [figure.limit for figure in figures]),
                Column("holds", ["yes" if figure.holds else "no" for figure in figures]),
            ],
            needed=5,
        )
    out.deliver()
