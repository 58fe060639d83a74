"""``agon arena``: ratings of bots."""

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Group, option


@click.group("arena", cls=Group)
def command() -> None:
    """Rate bots by their matches.

    Boards, explanations and checks of an arena: agon score, explain and check.

      agon arena rate data/ --method bradley-terry --ci
    """


@command.command("rate")
@parameters.source
@option(
    "--method",
    type=click.Choice(["elo", "bradley-terry"]),
    default="elo",
    show_default=True,
    help="Elo in order of play, or Bradley–Terry over all matches at once.",
)
@option("--ci", is_flag=True, help="Add confidence intervals (rule confidence).")
@parameters.rules
@parameters.printing
def rate_bots(
    source: str,
    *,
    method: str,
    ci: bool,
    under: parameters.RuleOptions,
    printing: parameters.OutputOptions,
) -> None:
    """Rate the bots of SOURCE.

    Elo's intervals come from resampled matches, Bradley–Terry's from its covariance or, with
    --set interval=bootstrap, from refits; with them come the ranks that the data allow.

      agon arena rate data/
      agon arena rate data/ --method bradley-terry --ci --top 10
      agon arena rate data/ --set k_new=4 --set k_established=4 --set round_changes=false
    """
    from agon.app.arena.rating import rate
    from agon.cli.score import show
    from agon.cli.shared.output import working

    with working("rating"):
        ratings = rate(source, method=method, interval=ci, **under)
    show(ratings.result, ratings.board, printing)
