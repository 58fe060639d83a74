"""``agon arena simulate-live``: a population of known strength that plays on a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.arena.report import read_report
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.target import read_token, target

if TYPE_CHECKING:
    from agon.cli.shared.target import Target
    from agon.client.league.league import League, PlayedRound


@click.command("simulate-live", cls=Command)
@click.argument("contest")
@option(
    "--bots", type=click.IntRange(2, 5000), default=100, show_default=True, help="Number of bots."
)
@option(
    "--judges",
    type=click.IntRange(0, 5000),
    default=30,
    show_default=True,
    help="How many of the bots judge.",
)
@option(
    "--matches",
    type=click.IntRange(1, 10_000_000),
    default=1000,
    show_default=True,
    help="Rounds are played until so many matches are recorded; void ones are not.",
)
@option(
    "--dishonest",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of dishonest judges: half always wrong, half flip coins.",
)
@option(
    "--pull",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of bots that ask for work; the others have endpoints.",
)
@option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=600.0,
    show_default=True,
    help="Time limit of each round.",
)
@parameters.seed
@parameters.form(TABLE, "json")
@parameters.output
@target
def simulate_live(  # noqa: PLR0913 (one parameter for each option)
    contest: str,
    *,
    bots: int,
    judges: int,
    matches: int,
    dishonest: float,
    pull: float,
    seconds: float,
    seed: int,
    form: str,
    output: Path | None,
    target: "Target",
) -> None:
    """Play a league of simulated bots and judges on a running server.

    A contest that does not exist is created, with rules under which judges vote in the first round.
    The bots run in a few processes on this machine and answer over HTTP; how strong they are and
    how honest the judges is known, so that the report shows what ratings and credibilities find.
    The server needs the setting allow_private_bots, or --pull 1. The same command again continues
    the league. Ctrl-C ends it and its processes.

      agon arena simulate-live rehearsal --server http://127.0.0.1:8080 --token-file operator.token
      agon arena simulate-live rehearsal --bots 20 --judges 9 --dishonest .2 --pull 1
    """
    if target.server is None:
        raise click.UsageError("a league plays on a running server; name it with --server URL")
    if judges > bots:
        raise click.UsageError(f"judges are bots: give --judges {bots} at most, or more --bots")
    from agon.client.connection import Connection
    from agon.client.league.league import League
    from agon.client.league.report import measure
    from agon.disciplines.arena.simulation.population import Population

    population = Population.draw(bots=bots, judges=judges, dishonest=dishonest, seed=f"s{seed}")
    connection = Connection(target.server, token=read_token(target.token_file))
    try:
        league = League(connection, contest, population, pull, seconds)
        played = play(league, matches, read_token(target.token_file))
        read, latencies = read_report(contest, target)
        report = measure(league, played, bots=read.rows, latencies=latencies)
    finally:
        connection.close()
    if form == "json":
        deliver_json(report, output)
        return
    _draw(report, output)


def play(league: "League", matches: int, token: str | None) -> "list[PlayedRound]":
    """Play a league and show each round on stderr."""
    from agon.client.league.run import run

    total = 0

    def show(each: "PlayedRound") -> None:
        nonlocal total
        total += each.matches
        click.echo(
            f"round {each.number}: {each.matches} matches in {each.seconds:.1f} s, "
            f"{total} of {matches}",
            err=True,
        )

    click.echo(f"registering {len(league.population.strengths)} bots", err=True)
    return run(league, matches=matches, token=token, report=show)


def _draw(report: "dict[str, Any]", output: Path | None) -> None:
    from agon.cli.shared.tables import Output

    out = Output(output)
    for line in summary(report):
        out.line(line)
    out.deliver()


def summary(report: "dict[str, Any]") -> "list[str]":
    """Return the figures of a league as lines."""
    correlation = {
        name: "not known" if value is None else f"{value:.3f}"
        for name, value in report["spearman"].items()
    }
    waits = sum(report["waited"].values())
    return [
        (
            f"{report['bots']} bots, {report['judges']} judges: {report['matches']} matches in "
            f"{report['rounds']} rounds and {report['seconds']} s, "
            f"{report['matches_per_minute']} matches a minute"
        ),
        (
            f"Spearman with true strength: Elo {correlation['elo']}, "
            f"Bradley–Terry {correlation['bradley_terry']}"
        ),
        *(
            f"judges, {name}: {figures['below']} of {figures['judges']} below 50 after "
            f"{figures['votes'] / figures['judges']:.0f} votes on average"
            for name, figures in report["judges_below_50"].items()
        ),
        *(
            f"latency of {figures['count']} {kind}s: median {figures['p50']} ms, "
            f"95 % {figures['p95']} ms, 99 % {figures['p99']} ms"
            for kind, figures in report["latency_ms"].items()
        ),
        f"forfeits: {report['forfeits']}; faults: "
        + ", ".join(f"{owner} {count}" for owner, count in report["faults"].items()),
        (
            f"waited: {len(report['waited'])} bots, {waits} times together, at most "
            f"{report['longest_wait']} rounds in a row"
        ),
    ]
