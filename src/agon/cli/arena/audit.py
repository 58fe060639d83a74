"""``agon arena audit``: what a board does not know."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import lists, parameters, sources
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions, SourceOptions

_COLUMNS: Final = ("name", "verdict", "figure", "expected", "sentence")


@click.command("audit", cls=Command)
@parameters.source
@sources.reading
@parameters.rules
@parameters.form(TABLE, "json", "ndjson", "csv", "svg")
@parameters.output
def audit(
    source: str,
    *,
    reads: "SourceOptions",
    rule_options: "RuleOptions",
    form: str,
    output: Path | None,
) -> None:
    """Examine the Bradley–Terry board of SOURCE: what its votes do not say.

    Each probe has a figure, what was expected, and a verdict: fine, look, or cannot tell. A look
    is a reason to read the records behind it (--format json lists them), and no proof of a fault.
    SOURCE may be the folder of an exported ledger: it is verified, and scored as its contest is.

      agon arena audit battles.csv
      agon arena audit data/ --format json
      agon arena audit spring-ledger/
      agon arena audit battles.csv --format svg --output sure.svg
    """
    from agon.app.arena.audit import audit as examine
    from agon.cli.shared.output import deliver, working
    from agon.cli.shared.tables import Output

    with working("examining"):
        result = examine(source, **reads, **rule_options)
    sources.echo_notes(result.notes)
    sources.echo_warnings(finding.message for finding in result.result.source_findings)
    if form == "svg":
        from agon.app.charts import probe_chart

        picture = probe_chart(result.probes, under=result.result.rules_title)
        deliver([picture.encode(), b"\n"], output)
        return
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
