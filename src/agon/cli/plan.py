"""``agon plan``: what scoring a source costs, before it is scored."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import completion, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.analysis.curves import Interval
    from agon.app.analysis.plan import EnginePlan, Plan

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


@click.command("plan", cls=Command)
@parameters.discipline
@parameters.source
@option(
    "--engine",
    metavar="E",
    shell_complete=completion.engines,
    help="The engine (default: each one; see agon engines).",
)
@parameters.form(TABLE, "json")
@parameters.output
def command(
    discipline: str, source: str, *, engine: str | None, form: str, output: Path | None
) -> None:
    """Estimate time and memory of scoring SOURCE, without reading its records.

    Rows and bytes are from the files' metadata or PostgreSQL's statistics. Times are from runs that
    were measured on one machine, which --format json names; every estimate has an interval. Yours
    may be slower or faster: compare one run.

      agon plan community data/
      agon plan arena postgresql://scorer@localhost/arena --engine postgres --format json
    """
    from agon.app.analysis.plan import plan
    from agon.cli.shared.output import working

    with working("measuring the source"):
        made = plan(discipline, source, engine=engine)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(made.to_dict()), output)
    else:
        _draw(made, output)


def _draw(made: "Plan", output: Path | None) -> None:
    from agon.cli.shared.tables import Column, Output

    size = made.size
    estimated = any(table.counted == "estimate" for table in size.tables)
    about = "about " if estimated else ""
    out = Output(output)
    out.line(f"{made.discipline} · {size.label} · {size.form}", style="bold")
    out.line(f"{about}{size.rows:,} rows in {len(size.tables)} tables, {_bytes(size.bytes)}")
    out.table([
        Column("engine", [each.engine for each in made.engines]),
        Column("time", [_time(each) for each in made.engines]),
        Column("memory", [_memory(each) for each in made.engines]),
        Column("note", [each.reason or "–" for each in made.engines], folds=True),
    ])  # fmt: skip
    out.line(f"measured on {made.measured.machine['machine']}", style="dim")
    out.deliver()


def _time(each: "EnginePlan") -> str:
    if each.cost is None:
        return "–"
    seconds = each.cost.seconds
    return f"{seconds.value:,.1f} s ({seconds.low:,.1f} to {seconds.high:,.1f})"


def _memory(each: "EnginePlan") -> str:
    if each.cost is None:
        return "–"
    memory: Interval = each.cost.memory_bytes
    return f"{_bytes(memory.value)} ({_bytes(memory.low)} to {_bytes(memory.high)})"


def _bytes(count: float) -> str:
    if count >= _GIB:
        return f"{count / _GIB:,.1f} GiB"
    if count >= _MIB:
        return f"{count / _MIB:,.0f} MiB"
    return f"{count / 1024:,.0f} KiB"
