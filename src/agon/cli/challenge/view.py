"""``agon challenge view``: write a run as one page."""

from pathlib import Path

import click

from agon.cli.shared.commands import Command, option


@click.command("view", cls=Command)
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The page (default: view.html in RUN; - is stdout).",
)
def view_run(run: Path, out: Path | None) -> None:
    """Write the run in the folder RUN as one HTML page, which needs no other file and no network.

    It has tasks and trials with results, rewards, times and cost, and of each trial why it did not
    pass, the agent's steps with commands and outputs, and what the tests printed. A run that is
    going on or was cut off shows what is finished.

      agon challenge view run1/
      agon challenge view run1/ --out run1.html
    """
    from agon.app.tasks.results.view import view_page
    from agon.records.writing import write_atomically

    page = view_page(run)
    if str(out) == "-":
        click.echo(page, nl=False)
        return
    path = out or run / "view.html"
    write_atomically(path, page.encode())
    click.echo(f"wrote {path}", err=True)
