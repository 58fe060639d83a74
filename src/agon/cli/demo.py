"""``agon demo``: an example of every discipline."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import Command, option

if TYPE_CHECKING:
    from agon.app.demo import DemoResult
    from agon.cli.shared.tables import Output

_ROWS = 10
_PARTS = 12


@click.command("demo", cls=Command)
@option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    metavar="D",
    help="Folder for the example; an earlier demo in it is replaced.",
)
@option(
    "--port",
    type=click.IntRange(min=0, max=65_535),
    default=8000,
    show_default=True,
    metavar="P",
    help="Port of the service.",
)
@option("--no-serve", is_flag=True, help="Print the boards and stop.")
@click.pass_context
def command(context: click.Context, *, folder: Path, port: int, no_serve: bool) -> None:
    """Build, score and serve an example of every discipline.

    Prints boards, an explanation of the first row of each, and the findings; adds the records to
    a contest per discipline in D/agon.db, and serves the contests over HTTP.

    The dojo's programs are run and judged in the sandbox; community and challenge are simulated,
    with some attackers among honest participants; the arena's records are real votes on the answers
    of language models. The records stay in D, in embedded databases and as Parquet, to try other
    commands on.

      agon demo --no-serve
      agon demo --dir ~/agon-demo --no-serve
    """
    from agon.app.demo import build_demo
    from agon.cli.shared.tables import Output
    from agon.wiring import any_sandbox

    results = []
    for result in build_demo(
        folder, open_sandbox=any_sandbox, progress=lambda step: click.echo(step, err=True)
    ):
        out = Output()
        draw(out, result)
        out.deliver()
        results.append(result)
    database = _contests(folder, results)
    out = Output()
    _draw_next(out, results, database)
    out.deliver()
    if not no_serve:
        from agon.cli import serve

        context.invoke(serve.command, port=port, database=database)


def _contests(folder: Path, results: "list[DemoResult]") -> str:
    """Add each example's records to a contest; return the database's URL."""
    from agon.api.models.contests import ContestCreate
    from agon.cli.contest.records import records_of
    from agon.client.local import Local
    from agon.settings import load
    from agon.wiring import open_service

    database = f"sqlite:///{folder.resolve() / 'agon.db'}"
    with Local(open_service(load({"database": database}))) as api:
        for demo in results:
            name = demo.discipline
            click.echo(f"adding {name} to its ledger", err=True)
            api.contests.create(
                ContestCreate(id=name, discipline=name, title=f"Example: {name}",
                              description=demo.origin)
            )  # fmt: skip
            api.contests.open(name)
            api.records.add(name, records_of(name, str(demo.source)))
    return database


def draw(out: "Output", demo: "DemoResult") -> None:
    """Draw one discipline: its board, the explanation of its first row, and its findings."""
    from agon.cli import explain, score

    result = demo.result
    board = result.board()
    out.line()
    out.line(f"━━ {demo.discipline} ━━ {demo.origin}", style="bold cyan")
    out.line()
    score.draw(out, result, board, top=_ROWS)
    out.line()
    explain.draw(out, result, result.explain(_first(demo)).first(_PARTS - 1))
    out.line()
    findings = result.findings
    counted: dict[str, int] = {}
    for finding in findings:
        label = f"{finding.severity} {finding.code}"
        counted[label] = counted.get(label, 0) + 1
    summary = ", ".join(f"{count} {label}" for label, count in counted.items())
    out.line(f"findings: {summary or 'none'}")


def _first(demo: "DemoResult") -> str:
    board = demo.result.board()
    return str(board.rows(top=1)[0]["id"])


def _draw_next(out: "Output", results: "list[DemoResult]", database: str) -> None:
    """Draw the commands to try next; the last ones are about the contest of the last example."""
    last = results[-1].discipline
    out.line()
    out.line("Try next:", style="bold")
    for line in (
        *(command for demo in results for command in demo.commands),
        f"agon contest board {last} --database {database} --top 5",
        f"agon replay {last} --database {database}",
    ):
        out.line(f"  {line}")
