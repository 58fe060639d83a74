"""``agon arena report``: how the rounds of a live arena were played."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE
from agon.cli.shared.target import target as target_options

if TYPE_CHECKING:
    from agon.cli.shared.target import Target

_COLUMNS: Final = (
    "bot", "games", "waited", "forfeits", "probability", "rematches", "longest_wait",
    "longest_streak", "latest_forfeits", "faults_bot", "faults_transport", "faults_ours",
)  # fmt: skip


@click.command("report", cls=Command)
@click.argument("source", metavar="CONTEST|DIR")
@lists.form
@parameters.output
@target_options
def report_rounds(source: str, *, form: str, output: Path | None, target: "Target") -> None:
    """Report how the rounds of an arena were played: a row for every bot.

    Games, rounds without an opponent, rematches within five rounds, matches in a row on one side,
    faults by owner, forfeits; and the probability of the forfeits in its latest 20 matches under
    its own record before. The source is a contest, or an exported ledger.

      agon arena report spring
      agon arena report spring-ledger/ --format csv
    """
    from agon.app.arena.report import report_rows
    from agon.cli.replay import open_ledger
    from agon.ledger.entry import MAX_LINE_BYTES
    from agon.ledger.files import LEDGER, open_file, read_lines

    with (
        open_ledger(source, target, check_rules=False) as folder,
        open_file(folder, LEDGER) as stream,
    ):
        rows = report_rows(line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
    if form == TABLE:
        rows = [{**row, "probability": f"{row['probability']:.2g}"} for row in rows]
    lists.print_rows(
        rows, form=form, name="bots", columns=_COLUMNS, output=output, empty="no settled rounds"
    )
