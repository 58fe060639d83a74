"""``agon demo``: an example of every discipline."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared.commands import Command, option

if TYPE_CHECKING:
    from agon.app.demo import DemoResult
    from agon.cli.shared.tables import Output

_ROWS = 10
_PARTS = 12
_STEPS: Final = 5
_STEPS_DAYS: Final = 24
_LEAGUE: Final = "league"
_BOTS: Final = 12
_JUDGES: Final = 10
_MATCHES: Final = 36
_ROUND_TIMEOUT_S: Final = 120.0
_END_S: Final = 60.0


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
    a contest per discipline in D/agon.db; plays a small league of bots over HTTP, in processes of
    their own; and serves the contests.

    The dojo's programs are run and judged in the sandbox; community and challenge are simulated,
    with some attackers among honest participants; the arena's records are real votes on the answers
    of language models. By the clock of the ledgers they were entered in steps during the weeks
    before, so that scores have a history; the arena is final, the others end in some days. The
    records stay in D, in embedded databases and as Parquet, to try other commands on. Contests and
    league need the extra serve; without it, --no-serve prints the boards alone.

      agon demo --no-serve
      agon demo --dir ~/agon-demo --no-serve
    """
    from agon.app.demo import build_demo
    from agon.cli.shared.tables import Output
    from agon.extras import extra_not_installed
    from agon.wiring import any_sandbox

    missing = extra_not_installed("serve")
    if missing and not no_serve:
        raise missing
    results = []
    for result in build_demo(
        folder, open_sandbox=any_sandbox, progress=lambda step: click.echo(step, err=True)
    ):
        out = Output()
        draw(out, result)
        out.deliver()
        results.append(result)
    out = Output()
    if missing:
        _draw_next(out, [line for demo in results for line in demo.commands])
        out.deliver()
        click.echo(f"contests and league are left out: {missing}", err=True)
        return
    database = _contests(folder, results)
    _play_league(database)
    _draw_next(out, [*(line for demo in results for line in demo.commands),
                     *_commands_about_contests(results[-1].discipline, database)])  # fmt: skip
    if no_serve:
        out.line()
        out.line(f"See the contests at http://127.0.0.1:{port}/ after:", style="bold")
        out.line(f"  agon serve --database {database} --port {port}")
    out.deliver()
    if not no_serve:
        from agon.cli.service import serve

        context.invoke(serve.command, port=port, database=database)


def _contests(folder: Path, results: "list[DemoResult]") -> str:
    """Add each example's records to a contest; return the database's URL.

    A board is published after each of some steps, some days after the one before by the clock of
    the contest, so that scores have a history, and its contest an end.
    """
    from agon.api.models.contests import ContestCreate
    from agon.app.contests.boards.publish import publish
    from agon.cli.contest.records import steps_of
    from agon.client.local import Local
    from agon.disciplines import discipline
    from agon.settings import load
    from agon.wiring import open_service

    database = f"sqlite:///{folder.resolve() / 'agon.db'}"
    opened = open_service(load({"database": database}))
    now = opened.clock()
    clock = _SteppedClock(now)
    service = replace(opened, clock=clock)
    with Local(service) as api:
        for demo in results:
            name = demo.discipline
            shown = demo.example
            click.echo(f"adding {name} to its ledger", err=True)
            days_ago = 1 if shown.days_left else 2
            clock.time = now - timedelta(days=days_ago + _STEPS_DAYS)
            ends_at = now + timedelta(days=shown.days_left or -days_ago)
            api.contests.create(
                ContestCreate(id=name, discipline=name, title=shown.title,
                              overrides=dict(shown.overrides), ends_at=ends_at,
                              description=f"{demo.origin[0].upper()}{demo.origin[1:]}.",
                              names="hidden" if discipline(name).names is None else "shown")
            )  # fmt: skip
            api.contests.open(name)
            for step in steps_of(name, str(demo.source), steps=_STEPS):
                clock.time += timedelta(days=_STEPS_DAYS / _STEPS)
                api.records.add(name, step)
                publish(service, name)
            if not shown.days_left:
                api.contests.finalize(name)
    return database


@dataclass
class _SteppedClock:
    """A clock that stands still between the steps of an example."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time


def _play_league(database: str) -> None:
    """Play some rounds of simulated bots and judges on a server of the database."""
    from agon.cli.arena.report import read_report
    from agon.cli.arena.simulate_live import play, summary
    from agon.cli.shared.tables import Output
    from agon.cli.shared.target import Target
    from agon.client.connection import Connection
    from agon.client.league.league import League
    from agon.client.league.report import measure
    from agon.disciplines.arena.simulation.population import Population

    population = Population.draw(bots=_BOTS, judges=_JUDGES, dishonest=0, seed="demo")
    with _server(database) as url, closing(Connection(url)) as connection:
        league = League(connection, _LEAGUE, population, 0.0, _ROUND_TIMEOUT_S)
        played = play(league, _MATCHES, None)
        read, latencies = read_report(_LEAGUE, Target(url, None, None, typed=True))
        figures = measure(league, played, bots=read.rows, latencies=latencies)
    out = Output()
    out.line()
    out.line("━━ league ━━ bots and judges that played just now, over HTTP", style="bold cyan")
    out.line()
    for line in summary(figures):
        out.line(line)
    out.deliver()


@contextmanager
def _server(database: str) -> Iterator[str]:
    """Run ``agon serve`` on loopback for simulated bots; its URL is lent.

    Raises:
        Unavailable: it does not start.
    """
    command = [sys.executable, "-m", "agon", "serve", "--host", "127.0.0.1", "--port", "0"]
    command += ["--workers", "1", "--database", database, "--auth", "open"]
    settings = {
        "AGON_ALLOW_PRIVATE_BOTS": "true",
        "AGON_ARENA_ROUND_MINUTES": "0",
        "AGON_LOG_LEVEL": "error",
        "AGON_RATE_LIMIT_ADDRESS": "1000000/minute",
    }
    with subprocess.Popen(  # noqa: S603 (our own command)
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
        start_new_session=True,  # Ctrl-C reaches this command only, which ends the server
    ) as serving:
        try:
            yield _address(serving)
        finally:
            serving.terminate()
            serving.communicate(timeout=_END_S)


def _address(serving: "subprocess.Popen[str]") -> str:
    """Return the address that a server prints when it listens."""
    from agon.errors import Unavailable

    lines = []
    for line in serving.stderr or ():
        if line.startswith("agon serves at "):
            return line.split()[3]
        lines.append(line.strip())
    raise Unavailable(f"the server of the league did not start: {' '.join(lines)}")


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


def _draw_next(out: "Output", commands: Sequence[str]) -> None:
    """Draw the commands to try next."""
    out.line()
    out.line("Try next:", style="bold")
    for line in commands:
        out.line(f"  {line}")


def _commands_about_contests(discipline: str, database: str) -> tuple[str, ...]:
    return (
        f"agon contest board {discipline} --database {database} --top 5",
        f"agon replay {discipline} --database {database}",
        f"agon arena report {_LEAGUE} --database {database}",
    )
