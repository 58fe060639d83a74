"""``agon arena audit``: what a board does not know."""

from pathlib import Path
from typing import Final

import click

from agon.cli.shared import lists, parameters, sources
from agon.cli.shared.commands import Command

_COLUMNS: Final = ("name", "verdict", "figure", "expected", "sentence")


@click.command("audit", cls=Command)
@parameters.source
@sources.reading
@parameters.rules
@lists.form
@parameters.output
def audit(
    source: str,
    *,
    reads: sources.SourceOptions,
    under: parameters.RuleOptions,
    form: str,
    output: Path | None,
) -> None:
    """Examine the Bradley–Terry board of SOURCE: what its votes do not say.

    Each probe has a figure, what was expected, and a verdict: fine, look, or cannot tell. A look
    is a reason to read the records behind it (--format json lists them), and no proof of a fault.

      agon arena audit battles.csv
      agon arena audit data/ --format json
    """
    from agon.app.arena.audit import audit as examine
    from agon.cli.shared.output import TABLE, working
    from agon.cli.shared.tables import Output

    with working("examining"):
        result = examine(source, **reads, **under)
    sources.echo_notes(result.result.records.notes)
    if form == TABLE:  # sentences are too long for a column
        out = Output(output)
        for line in repr(result).splitlines():
            out.line(line)
        out.deliver()
        return
    lists.print_rows(
        result.rows(), form=form, name="probes", columns=_COLUMNS, output=output,
        empty="there are no probes",
    )  # fmt: skip
