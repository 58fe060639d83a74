"""``agon contest export|import``: a complete ledger as a folder."""

from pathlib import Path

import click

from agon.cli.contest import arguments
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver, require_writable
from agon.cli.shared.target import Target, target


@click.command("export", cls=Command)
@arguments.contest
@parameters.out(required=True)
@target
def export(contest: str, *, out: Path, target: Target) -> None:
    """Write the ledger of ID as a folder that anyone can verify and replay without the service.

    It holds everything, what is hidden from participants included.

      agon contest export spring --out spring-ledger/
      agon replay spring-ledger/
    """
    require_writable(out)
    with target.open(create=False) as api:
        api.ledgers.export(contest, out)
    click.echo(f"{contest} is in {out}; agon replay {out} verifies it", err=True)


@click.command("import", cls=Command)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@option("--as", "name", metavar="ID", help="Take it only if it is this contest's ledger.")
@option("--dry-run", is_flag=True, help="Verify the folder; take nothing in.")
@parameters.form(TABLE, "json")
@target
def import_(folder: Path, *, name: str | None, dry_run: bool, form: str, target: Target) -> None:
    """Take in the ledger in DIR, all of it or nothing; a contest that is here is continued.

    Everything is verified first: every line, the chain, the signatures.

      agon contest import spring-ledger/
      agon contest import spring-ledger/ --as spring --server https://agon.example
    """
    if dry_run:
        _verify(folder, name)
        return
    with target.open() as api:
        taken = api.ledgers.import_(folder, id=name)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(taken)), None)
        return
    click.echo(f"{taken.id} · {taken.discipline} · {taken.state} · entry {taken.seq}")


def _verify(folder: Path, name: str | None) -> None:
    from agon.errors import Conflict
    from agon.ledger.directory import import_directory

    found = import_directory(folder)
    if name is not None and found.contest != name:
        raise Conflict(f"{folder} is the ledger of {found.contest}; give --as {found.contest}")
    click.echo(f"would take in {found.contest} up to entry {found.state.contest.seq}", err=True)
