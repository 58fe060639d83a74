"""``agon engines``: which engines are installed."""

from pathlib import Path
from typing import Final

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command

_COLUMNS: Final = ("engine", "version", "tier", "reads", "install")


@click.command("engines", cls=Command)
@lists.form
@parameters.output
def command(form: str, output: Path | None) -> None:
    """List the engines, with the version that is installed.

    Every engine gives the same boards and hashes. Tier gated: the tests compare them at every
    change of agon.

      agon engines
      agon score community postgresql://scorer@localhost/peerbench --engine postgres
    """
    from agon.engines import ENGINES

    rows = [engine.to_dict() for engine in ENGINES]
    lists.print_rows(rows, form=form, name="engines", columns=_COLUMNS, output=output)
