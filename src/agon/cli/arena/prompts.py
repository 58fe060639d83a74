"""``agon arena prompts``: the private tables of a live arena."""

from typing import Final

import click

from agon.cli.contest.records import read_pieces
from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.target import Target, target

_NOUNS: Final = ("prompt", "human answer", "honeypot answer")


@click.command("prompts", cls=Command)
@arguments.contest
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option("--human-answers", is_flag=True, help="The lines are people's answers, not prompts.")
@option(
    "--honeypot-answers",
    is_flag=True,
    help="The lines are robotic answers for honeypots, not prompts.",
)
@parameters.form(TABLE, "json")
@target
def add_prompts(
    contest: str,
    file: str,
    *,
    human_answers: bool,
    honeypot_answers: bool,
    form: str,
    target: Target,
) -> None:
    """Add the prompts of FILE (NDJSON; - for stdin) to the arena ID, or answers to them.

    A line of a prompt: {"id": "p1", "text": "What did you eat?", "retired": false}; of an answer:
    {"id": "h1", "prompt_id": "p1", "text": "Soup."}. One with a known id replaces that one; a
    retired prompt is not drawn any more. Bots qualify against people's answers.

    Answers for honeypots are obviously robotic; each is shown once, and its text cannot be changed.
    Without "prompt_id" one fits any prompt; "retired": true ends the use of one with a known id.

      agon arena prompts spring prompts.ndjson
      agon arena prompts spring answers.ndjson --human-answers
      agon arena prompts spring robotic.ndjson --honeypot-answers
    """
    if human_answers and honeypot_answers:
        raise click.UsageError("set one of --human-answers and --honeypot-answers")
    with target.open(create=False) as api:
        answers = human_answers + 2 * honeypot_answers
        adders = api.prompts.add, api.prompts.add_human_answers, api.prompts.add_honeypot_answers
        summary = adders[answers](contest, read_pieces(file))
    if form == "json":
        deliver_json(lists.plain_values(summary))
        return
    click.echo(f"{summary.saved:,} {_NOUNS[answers]}{'' if summary.saved == 1 else 's'} saved")
