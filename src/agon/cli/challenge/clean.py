"""``agon challenge clean``: remove containers, images and folders left after a crash."""

from pathlib import Path

import click

from agon.cli.challenge import arguments
from agon.cli.shared.commands import Command, option


@click.command("clean", cls=Command)
@click.argument("run", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@option("--images", is_flag=True, help="Remove the images built for tasks, too.")
@arguments.engine
def clean_containers(run: Path | None, *, images: bool, where: arguments.EngineChoice) -> None:
    """Remove agon's containers: those of the run in DIR, or all.

    A run cleans up after itself, even when it is killed; this is for a machine that crashed. It
    ends trials that are running.

      agon challenge clean
      agon challenge clean run1/
      agon challenge clean --images
    """
    from agon.app.tasks.results.folder import read_plan
    from agon.wiring import containers

    name = None if run is None else read_plan(run).run
    with containers(where.engine, runtime=where.runtime) as engine:
        cleaned = engine.clean(name, images=images)
    click.echo(f"removed {cleaned.containers} containers and {cleaned.images} images")
