"""``agon arena round``: begin a round of a live arena at will."""

import click

from agon.cli.contest import arguments
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.target import Target, target


@click.command("round", cls=Command)
@arguments.contest
@parameters.form(TABLE, "json")
@target
def begin_round(contest: str, *, form: str, target: Target) -> None:
    """Begin a round of the arena ID now, besides those that begin by themselves.

    A worker commits to the seed, draws the pairs, and asks the bots. While a round is played, or
    with fewer than two bots of different owners, none begins; then the job fails and says why. The
    id of the job is printed.

      agon arena round spring
      agon jobs show "$(agon arena round spring)"
    """
    with target.open(create=False) as api:
        job = api.submissions.draw_round(contest)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(job)), None)
        return
    click.echo(job.id)
    click.echo(f"job {job.id} is {job.state}; agon jobs show {job.id} shows how it ends", err=True)
