"""``agon arena prompts``: the private tables of a live arena."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.contest.records import has_lines, open_file, read_pieces
from agon.cli.shared import arguments, lists, parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.records import Table
    from agon.records.names.mapping import SourceMapping

_IGNORE: Final = "--ignore NAME"
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
@sources.with_mapping
@parameters.form(TABLE, "json")
@target
def add_prompts(
    contest: str,
    file: str,
    *,
    human_answers: bool,
    honeypot_answers: bool,
    mapping: "SourceMapping | None",
    form: str,
    target: Target,
) -> None:
    """Add the prompts of FILE to the arena ID, or answers to them.

    FILE is CSV, JSON, NDJSON, Parquet or an Excel workbook; - is NDJSON of stdin. A line of a
    prompt: {"id": "p1", "text": "What did you eat?", "retired": false}; of an answer: {"id": "h1",
    "prompt_id": "p1", "text": "Soup."}. One with a known id replaces that one; a retired prompt is
    not drawn any more. Bots qualify against people's answers.

    Answers for honeypots are obviously robotic; each is shown once, and its text cannot be changed.
    Without "prompt_id" one fits any prompt; "retired": true ends the use of one with a known id.

      agon arena prompts spring prompts.ndjson
      agon arena prompts spring answers.ndjson --human-answers
      agon arena prompts spring robotic.ndjson --honeypot-answers
    """
    if human_answers and honeypot_answers:
        raise click.UsageError("set one of --human-answers and --honeypot-answers")
    from agon.app.arena.live.honeypots.bank import HONEYPOT_ANSWERS
    from agon.app.arena.live.prompts import HUMAN_ANSWERS, PROMPTS

    notes: list[str] = []
    with target.open(create=False) as api:
        answers = human_answers + 2 * honeypot_answers
        adders = api.prompts.add, api.prompts.add_human_answers, api.prompts.add_honeypot_answers
        table = (PROMPTS, HUMAN_ANSWERS, HONEYPOT_ANSWERS)[answers]
        summary = adders[answers](contest, _lines(table, file, mapping, notes))
    if form == "json":
        deliver_json({**lists.plain_values(summary), "notes": notes})
        return
    sources.echo_notes(tuple(notes))
    click.echo(f"{summary.saved:,} {_NOUNS[answers]}{'' if summary.saved == 1 else 's'} saved")


def _lines(
    table: "Table", file: str, mapping: "SourceMapping | None", notes: list[str]
) -> Iterator[bytes]:
    """Yield the rows of a file as NDJSON; how they were read is added to ``notes``.

    Raises:
        InvalidRecords: with everything that is wrong with the file.
    """
    if has_lines(file) and mapping is None:
        yield from read_pieces(file)
        return
    if file == "-":
        raise click.UsageError("a mapping is about a file; save stdin as one, and give its name")
    from agon.app.contests.ingest.uploads import read_table, stored_upload

    path = Path(file)
    with (
        open_file(path) as content,
        stored_upload(table.name, path.name, content) as stored,
        read_table(table, stored, option=_IGNORE, mapping=mapping) as upload,
    ):
        upload.require_valid()
        notes += upload.notes
        yield from upload.lines(bare=True)
