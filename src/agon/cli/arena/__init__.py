"""``agon arena``: ratings of bots, tools of live arenas, and model judges."""

from typing import TYPE_CHECKING

import click

from agon.cli.arena.audit import audit
from agon.cli.arena.bots import examine, play_locally, serve_reference_bot
from agon.cli.arena.injections import injections
from agon.cli.arena.judges import judges
from agon.cli.arena.prompts import add_prompts
from agon.cli.arena.report import report_rounds
from agon.cli.arena.robustness import robustness
from agon.cli.arena.simulate_live import simulate_live
from agon.cli.arena.start import start
from agon.cli.arena.vary import vary
from agon.cli.generated.commands import add_generated
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Group, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agon.app.analysis.options import ReadingOptions, RuleOptions
    from agon.app.arena.rating import RatingMethod


@click.group("arena", cls=Group)
def command() -> None:
    """Rate bots by their matches, and test the judges of a live arena.

    Boards, explanations and checks of an arena: agon score, explain and check.

      agon arena rate data/ --method bradley-terry --ci
    """


add_generated(command)
for subcommand in (
    audit,
    injections,
    judges,
    serve_reference_bot,
    examine,
    play_locally,
    report_rounds,
    robustness,
    simulate_live,
    add_prompts,
    start,
    vary,
):
    command.add_command(subcommand)


@command.command("rate")
@parameters.source
@sources.scoring
@option(
    "--method",
    type=click.Choice(["elo", "bradley-terry"]),
    default="elo",
    show_default=True,
    help="Elo in order of play, or Bradley–Terry over all matches at once.",
)
@option("--ci", is_flag=True, help="Add confidence intervals (rule confidence).")
@option(
    "--anchor",
    type=sources.Pair("a rating such as gpt-4=1000"),
    multiple=True,
    callback=sources.numbers,
    help="Give this bot this rating: one shifts all; Bradley–Terry holds several.",
)
@option(
    "--control",
    multiple=True,
    metavar="NAME",
    help="Bradley–Terry as if this style were equal: NAME_a and NAME_b, or length, headers, …",
)
@option("--by", metavar="COLUMN", help="The rank in each category of this column, too.")
@parameters.rules
@parameters.printing
def rate_bots(  # noqa: PLR0913 (each is an option of the command)
    source: str,
    *,
    reads: "ReadingOptions",
    anchor: "Mapping[str, float] | None",
    method: "RatingMethod",
    ci: bool,
    control: tuple[str, ...],
    by: str | None,
    rule_options: "RuleOptions",
    printing: parameters.OutputOptions,
) -> None:
    """Rate the bots of SOURCE: a folder of records, or a file of battles (- is stdin).

    Elo's intervals come from resampled matches, Bradley–Terry's from its covariance or, with
    --set interval=bootstrap, from refits; with them come the ranks that the data allow.

      agon arena rate data/
      agon arena rate data/ --method bradley-terry --ci --top 10
      agon arena rate battles.csv --columns model_a=left,model_b=right --where language=en
      agon arena rate data/ --method bradley-terry --anchor gpt-4=1000
      agon arena rate battles.csv --method bradley-terry --ci --control length --by language
      agon arena rate battles.csv --method bradley-terry --ci --set ties=davidson
      agon arena rate data/ --set k_new=4 --set k_established=4 --set round_changes=false
    """
    from agon.app.arena.rating import rate
    from agon.cli.score import show
    from agon.cli.shared.output import working

    with working("rating"):
        ratings = rate(
            source,
            method=method,
            interval=ci,
            anchor=anchor,
            control=control,
            by=by,
            **reads,
            **rule_options,
        )
    sources.echo_notes(ratings.notes)
    sources.echo_warnings(finding.message for finding in ratings.result.source_findings)
    show(ratings.result, ratings.board, printing)
