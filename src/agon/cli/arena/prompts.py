"""``agon arena prompts``: the prompts of a live arena, and people's answers to them."""

import click

from agon.cli.contest import arguments
from agon.cli.contest.records import read_pieces
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.target import Target, target


@click.command("prompts", cls=Command)
@arguments.contest
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option("--human-answers", is_flag=True, help="The lines are people's answers, not prompts.")
@parameters.form(TABLE, "json")
@target
def add_prompts(contest: str, file: str, *, human_answers: bool, form: str, target: Target) -> None:
    """Add the prompts of FILE (NDJSON; - for stdin) to the arena ID, or people's answers to them.

    A line of a prompt: {"id": "p1", "text": "What did you eat?", "retired": false}; of an answer:
    {"id": "h1", "prompt_id": "p1", "text": "Soup."}. One with a known id replaces that one; a
    retired prompt is not drawn any more. Bots qualify against people's answers.

      agon arena prompts spring prompts.ndjson
      agon arena prompts spring answers.ndjson --human-answers
    """
    with target.open(create=False) as api:
        add = api.prompts.add_human_answers if human_answers else api.prompts.add
        summary = add(contest, read_pieces(file))
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(summary)), None)
        return
    noun = "human answer" if human_answers else "prompt"
    click.echo(f"{summary.saved:,} {noun}{'' if summary.saved == 1 else 's'} saved")
