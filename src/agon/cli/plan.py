"""``agon plan``: how large a source is, and which engines can score it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import completion, parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json

if TYPE_CHECKING:
    from agon.app.analysis.options import SourceOptions
    from agon.app.analysis.plan import SourcePlan

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


@click.command("plan", cls=Command)
@parameters.discipline
@parameters.source
@sources.reading
@option(
    "--engine",
    metavar="E",
    shell_complete=completion.engines,
    help="The engine (default: each one; see agon engines).",
)
@parameters.form(TABLE, "json")
@parameters.output
def command(
    discipline: str,
    source: str,
    *,
    reads: "SourceOptions",
    engine: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Count the rows and bytes of SOURCE, and list the engines that can score it.

    SOURCE is what agon score reads. Nothing is read but the files' metadata, the first lines of
    text, or PostgreSQL's statistics; JSON arrays, workbooks and archives are read. Of a mapping,
    names of tables and what is ignored matter; rows that it or --where leaves out are counted. Time
    and memory depend on your machine: score a part once, and scale by the rows.

      agon plan community data/
      agon plan arena battles.csv
      agon plan arena postgresql://scorer@localhost/arena --engine postgres --format json
    """
    from agon.app.analysis.plan import plan
    from agon.cli.shared.output import working

    with working("measuring the source"):
        made = plan(discipline, source, engine=engine, mapping=reads["mapping"])
    if form == "json":
        deliver_json(made.to_dict(), output)
    else:
        _draw(made, output)


def _draw(made: "SourcePlan", output: Path | None) -> None:
    from agon.cli.shared.tables import Output, TableColumn

    size = made.size
    estimated = any(table.counted == "estimate" for table in size.tables)
    about = "about " if estimated else ""
    out = Output(output)
    out.line(f"{made.discipline} · {size.label} · {size.form}", style="bold")
    out.line(f"{about}{size.rows:,} rows in {len(size.tables)} tables, {_bytes(size.bytes)}")
    out.table([
        TableColumn("engine", [each.engine for each in made.engines]),
        TableColumn("can score it", [each.reason or "yes" for each in made.engines], folds=True),
    ])  # fmt: skip
    out.deliver()


def _bytes(count: int) -> str:
    if count >= _GIB:
        return f"{count / _GIB:,.1f} GiB"
    if count >= _MIB:
        return f"{count / _MIB:,.0f} MiB"
    return f"{count / 1024:,.0f} KiB"
