"""``agon simulate``: records of honest participants and attackers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import require_new_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from agon.records.writing import TableFormat


@click.command("simulate", cls=Command)
@parameters.discipline
@parameters.out(required=False)
@option(
    "--size",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Number of users, submissions, matches, … (the discipline's main kind of record).",
)
@parameters.seed
@option(
    "--attack",
    "attacks",
    metavar="NAME",
    multiple=True,
    help="Mix in an attack; may be given several times (--list-attacks names them).",
)
@option("--list-attacks", is_flag=True, help="List the discipline's attacks and stop.")
@parameters.file_form
@parameters.dry_run
def command(
    discipline: str,
    *,
    out: Path | None,
    size: int,
    seed: int,
    attacks: tuple[str, ...],
    list_attacks: bool,
    form: "TableFormat",
    dry_run: bool,
) -> None:
    """Simulate records with honest participants and attackers.

    Writes the records to the new folder DIR, and the truth about them (skills, who attacks and how)
    to DIR/truth, which no scorer reads. Equal options give equal records.

      agon simulate community --out data --size 10000
      agon simulate arena --out data --attack collusion --seed 7
      agon simulate dojo --list-attacks
    """
    from agon.app.analysis.simulate import simulate, write_simulation
    from agon.cli.shared.output import working
    from agon.disciplines import discipline as found

    chosen = found(discipline)
    if list_attacks:
        from agon.cli.shared.tables import Output, TableColumn

        summary = Output()
        names, texts = list(chosen.attacks), list(chosen.attacks.values())
        summary.table(
            [TableColumn("attack", names), TableColumn("what it does", texts, folds=True)]
        )
        summary.deliver()
        return
    if out is None:
        raise click.UsageError("Missing option '--out'.")
    require_new_folder(out)
    with working(f"simulating {size:,} {chosen.require_simulator().size_unit}"):
        simulation = simulate(discipline, size=size, seed=seed, attacks=attacks)
    if not dry_run:
        with working(f"writing {out}"):
            write_simulation(simulation, out, form=form)
    report_written({**simulation.tables}, out, dry_run=dry_run)
    click.echo(f"truth: {out / 'truth'}", err=True)


def report_written(tables: "Mapping[str, pa.Table]", out: Path, *, dry_run: bool) -> None:
    """Print which tables were written (or would be), with their numbers of rows."""
    click.echo(f"would write {out}" if dry_run else f"wrote {out}", err=True)
    for name, table in tables.items():
        click.echo(f"{name}\t{table.num_rows}")
