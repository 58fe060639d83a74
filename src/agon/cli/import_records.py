"""``agon import``: convert other formats to records."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import require_new_folder

if TYPE_CHECKING:
    from agon.app.analysis.options import SourceOptions
    from agon.app.containers import AgentTimeout
    from agon.app.importers.comparisons import MatchUnit
    from agon.disciplines import ImportedRecords
    from agon.records.writing import TableFormat


class FormatName(click.ParamType[str]):
    """The name of a format that can be imported, as a parameter."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from agon.app.importers import FORMATS, all_formats
        from agon.errors import did_you_mean

        if value not in FORMATS and value not in (formats := all_formats()):
            self.fail(f"unknown format {value!r}: {did_you_mean(value, formats)}", param, ctx)
        return str(value)


@click.command("import", cls=Command)
@click.argument("name", type=FormatName(), metavar="FORMAT")
@parameters.source
@sources.reading
@parameters.out(required=True)
@option(
    "--as",
    "unit",
    type=click.Choice(["pairs", "votes"]),
    help="comparisons: a match is a pair with its votes (default), or each vote.",
)
@option(
    "--audit",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="comparisons: verdicts on the pairs (default: gpt4-… in SOURCE's folder).",
)
@option(
    "--agent-timeout",
    type=click.Choice(["fail", "verify"]),
    help="harbor: whether a reward after the agent's time limit fails (default) or counts.",
)
@parameters.file_form
@parameters.dry_run
def command(  # noqa: PLR0913 (an option each)
    name: str,
    source: str,
    *,
    reads: "SourceOptions",
    out: Path,
    unit: "MatchUnit | None",
    audit: Path | None,
    agent_timeout: "AgentTimeout | None",
    form: "TableFormat",
    dry_run: bool,
) -> None:
    """Turn another FORMAT into records.

      arena-battles          model_a, model_b, winner (CSV, JSON, NDJSON, Parquet) → arena
      comparisons            left, right, winner[, worker, id] → arena
      peerbench              PeerBench's tables: folder, database file, postgresql:// → community
      bittensor-evaluations  uid or hotkey, validator, score, stake, epoch → challenge
      challenge-runs         folders of agon challenge run → challenge
      harbor                 folders of Harbor's jobs → challenge

    Installed disciplines add their own. The records go into the new folder DIR. All errors of
    SOURCE are reported together: file, row, column, value, remedy.

      agon import arena-battles battles.json --out data
      agon import arena-battles battles.csv --columns model_a=left --where language=en --out en
      agon import comparisons llmfao/ --as votes --out data
    """
    from agon.app.importers import import_records
    from agon.cli.shared.output import working

    require_new_folder(out)
    with working("reading"):
        imported = import_records(
            name, source, audit=audit, unit=unit, agent_timeout=agent_timeout, **reads
        )
    write_imported(imported, out, form=form, dry_run=dry_run)


def write_imported(
    imported: "ImportedRecords", out: Path, *, form: "TableFormat", dry_run: bool
) -> None:
    """Write imported records to a new folder, and print what was written and decided.

    Raises:
        InvalidRecords: the source has a name that is nearly one of the records'.
    """
    from agon.cli.shared.output import working
    from agon.cli.simulate import report_written
    from agon.records.writing import write_tables

    if imported.names is not None:
        imported.names.require_exact(option="--ignore NAME")
    if not dry_run:
        with working(f"writing {out}"):
            write_tables(imported.tables, out, format=form)
    report_written(imported.tables, out, dry_run=dry_run)
    sources.echo_notes(imported.notes)
    sources.echo_warnings(finding.message for finding in imported.findings)
    if not dry_run:
        click.echo(f"next: agon score {imported.discipline} {out}", err=True)
