"""``agon demo``: all four disciplines at work."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.helping import Command, option

if TYPE_CHECKING:
    from agon.app.demo import Exhibit
    from agon.cli.drawing import Paper

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
    """See all four disciplines at work.

    Prints boards, explanations of who is first, and what the checks find; enters the records into
    the ledgers of four contests in D/agon.db, and serves these over HTTP.

    The dojo's programs are run and judged in the sandbox; community and challenge are simulated
    with some attackers among honest people; the arena's records are real votes on the answers of
    language models. The records stay in D, in embedded databases and as Parquet, to try other
    commands on.

      agon demo --no-serve
      agon demo --dir ~/agon-demo --no-serve
    """
    from agon.app.demo import demonstrate
    from agon.cli.drawing import Paper
    from agon.wiring import any_sandbox

    exhibits = []
    for exhibit in demonstrate(
        folder, open_sandbox=any_sandbox, progress=lambda what: click.echo(what, err=True)
    ):
        paper = Paper()
        draw(paper, exhibit)
        paper.deliver()
        exhibits.append(exhibit)
    database = _contests(folder, exhibits)
    paper = Paper()
    _draw_next(paper, exhibits, database)
    paper.deliver()
    if not no_serve:
        from agon.cli import serve

        context.invoke(serve.command, port=port, database=database)


def _contests(folder: Path, exhibits: "list[Exhibit]") -> str:
    """Run each exhibit's records through a contest of its own; return the database's address."""
    from agon.app.contests.lifecycle.creation import NewContest
    from agon.cli.contest.adding import records_of
    from agon.client.local import Local
    from agon.settings import load
    from agon.wiring import open_service

    database = f"sqlite:///{folder.resolve() / 'agon.db'}"
    with Local(open_service(load({"database": database}))) as house:
        for exhibit in exhibits:
            name = exhibit.discipline
            click.echo(f"entering {name} into its ledger", err=True)
            house.contests.create(
                NewContest(id=name, discipline=name, title=f"Example: {name}",
                           description=exhibit.origin)
            )  # fmt: skip
            house.contests.open(name)
            house.records.add(name, records_of(name, str(exhibit.source)))
    return database


def draw(paper: "Paper", exhibit: "Exhibit") -> None:
    """Draw one discipline: its board, why the first is first, what the checks found."""
    from agon.cli import explain, score

    result = exhibit.result
    board = result.board()
    paper.line()
    paper.line(f"━━ {exhibit.discipline} ━━ {exhibit.origin}", style="bold cyan")
    paper.line()
    score.draw(paper, result, board, top=_ROWS)
    paper.line()
    explain.draw(paper, result, result.explain(_first(exhibit)), most=_PARTS)
    paper.line()
    findings = result.findings
    counted: dict[str, int] = {}
    for finding in findings:
        label = f"{finding.severity} {finding.code}"
        counted[label] = counted.get(label, 0) + 1
    told = ", ".join(f"{count} {label}" for label, count in counted.items())
    paper.line(f"findings: {told or 'none'}")


def _first(exhibit: "Exhibit") -> str:
    board = exhibit.result.board()
    return str(board.rows(top=1)[0]["id"])


def _draw_next(paper: "Paper", exhibits: "list[Exhibit]", database: str) -> None:
    sources = {exhibit.discipline: exhibit.source for exhibit in exhibits}
    paper.line()
    paper.line("Try next:", style="bold")
    for line in (
        f"agon score arena {sources['arena']} --board judges --top 5",
        f"agon arena rate {sources['arena']} --method bradley-terry --ci --top 10",
        f"agon compare community {sources['community']} --set self_feedback=ignore",
        f"agon check dojo {sources['dojo']}",
        f"agon challenge weights {sources['challenge']} --bittensor",
        "agon rules show dojo/0.2",
        f"agon contest board arena --database {database} --top 5",
        f"agon replay arena --database {database}",
    ):
        paper.line(f"  {line}")
