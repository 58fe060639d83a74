"""``agon contest export|import``: a complete ledger as a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json, require_writable
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.ledger.directory import LedgerDirectory


@click.command("export", cls=Command)
@arguments.contest
@parameters.out(required=True)
@target
def export(contest: str, *, out: Path, target: Target) -> None:
    """Write the ledger of ID as a folder that anyone can verify and replay without the service.

    It contains all entries, also those that are hidden from participants.

      agon contest export spring --out spring-ledger/
      agon replay spring-ledger/
    """
    require_writable(out)
    from agon.cli.shared.output import working

    with target.open(create=False) as api, working(f"exporting {contest}"):
        api.ledgers.export(contest, out)
    click.echo(f"{contest} is in {out}; agon replay {out} verifies it", err=True)


@click.command("import", cls=Command)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@option("--as", "name", metavar="ID", help="Import it only if it is this contest's ledger.")
@option("--dry-run", is_flag=True, help="Verify the folder; import nothing.")
@parameters.form(TABLE, "json")
@target
def import_(folder: Path, *, name: str | None, dry_run: bool, form: str, target: Target) -> None:
    """Import the ledger in DIR, all of it or nothing; an existing contest gets its new entries.

    First every line, the chain and the signatures are verified.

      agon contest import spring-ledger/
      agon contest import spring-ledger/ --as spring --server https://agon.example
    """
    from agon.cli.shared.output import working

    if dry_run:
        with working(f"verifying {folder}"):
            ledger = _verify(folder, name)
        click.echo(
            f"would import {ledger.contest} up to entry {ledger.state.contest.seq}", err=True
        )
        return
    with target.open() as api, working(f"importing {folder}"):
        imported = api.ledgers.import_(folder, id=name)
    if form == "json":
        deliver_json(lists.plain_values(imported))
        return
    click.echo(f"{imported.id} · {imported.discipline} · {imported.state} · entry {imported.seq}")


def _verify(folder: Path, name: str | None) -> "LedgerDirectory":
    from agon.errors import Conflict
    from agon.ledger.directory import import_directory

    ledger = import_directory(folder)
    if name is not None and ledger.contest != name:
        raise Conflict(f"{folder} is the ledger of {ledger.contest}; give --as {ledger.contest}")
    return ledger
