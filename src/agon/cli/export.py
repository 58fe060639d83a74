"""``agon export``: what the service shows, as files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, Group
from agon.cli.shared.output import require_new_folder
from agon.cli.shared.target import target as target_options

if TYPE_CHECKING:
    from agon.cli.shared.target import Target


@click.group("export", cls=Group)
def command() -> None:
    """Write what the service shows as files.

    The ledger of a contest, which can be replayed, is written by agon contest export.

      agon export site spring --out spring-site/
    """


@command.command("site", cls=Command)
@click.argument("contest", metavar="CONTEST")
@parameters.out(required=True)
@target_options
def site(contest: str, *, out: Path, target: "Target") -> None:
    """Write every public page of a contest, with relative links.

    DIR/index.html opens from a disk or is served by any web server. Forms, downloads and pages of
    the past stay with the service.

      agon export site spring --out spring-site/
    """
    require_new_folder(out)
    from agon.cli.shared.output import working
    from agon.cli.shared.target import require_database
    from agon.web.mirror import write_site
    from agon.wiring import open_service

    settings = target.settings()
    require_database(settings, "name one with --database")
    service = open_service(settings, create=False)
    try:
        with working(f"writing the pages of {contest}"):
            pages = write_site(service, contest, out)
    finally:
        service.replicas.close()
        service.store.close()
    click.echo(f"wrote {pages} pages; open {out / 'index.html'}", err=True)
