"""``agon arena vary``: let a model write private texts for honeypots."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from agon.cli.arena.model_options import ModelOptions, model_options
from agon.cli.contest.records import read_json_lines
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import deliver, working
from agon.cli.shared.tables import echo
from agon.errors import Unavailable, Unreadable

if TYPE_CHECKING:
    from agon.app.arena.judging.rewriting import Rewriter


@click.command("vary", cls=Command)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@model_options
@option(
    "--count",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="Number of variations of each text.",
)
@option(
    "--max-chars",
    type=click.IntRange(10, 100_000),
    default=400,
    show_default=True,
    help="Most characters of a variation; that of the arena's rules (max_answer_chars).",
)
def vary(
    *,
    file: str,
    model: ModelOptions,
    count: int,
    max_chars: int,
) -> None:
    """Write variations of the robotic answers of FILE (NDJSON; - for stdin) by a model, as NDJSON.

    The lines are those of agon arena prompts --honeypot-answers. A variation has the id of its text
    and a number, and its prompt; add the variations to the arena, not the texts that they vary. One
    that is too long or repeats the words of another is left out. The key is read as for agon arena
    injections. Read what a model wrote before you use it: each text must be obviously robotic.

    Exit code 5: the model wrote no variation.

      agon arena vary robotic.ndjson --judge http://127.0.0.1:8000/v1 --provider openai > k.ndjson
    """
    from agon.app.arena.judging.rewriting import Rewriter

    rows = list(_rows(file))
    judge = model.judge()
    rewriter = Rewriter(model=judge, max_chars=max_chars, seconds=model.seconds)
    causes = list[str]()
    with working("writing"):
        lines = list(_variations(rewriter, rows, count=count, causes=causes))
    if causes:
        echo(f"{len(causes)} variations are missing; the last one: {causes[-1]}", err=True)
    if not lines:
        raise Unavailable(f"{judge.name} wrote no variation; check its model and URL")
    deliver(lines, None)


def _variations(
    rewriter: "Rewriter", rows: list[Mapping[str, Any]], *, count: int, causes: list[str]
) -> Iterator[bytes]:
    """Yield a line for each variation; add why one is missing to ``causes``."""
    from agon.disciplines.arena.rounds.faults import Fault
    from agon.kernel.text.plain_json import write_json

    known = [row["text"] for row in rows]
    for row in rows:
        for number in range(1, count + 1):
            text = rewriter.rewrite(row["text"], known=known)
            if isinstance(text, Fault):
                causes.append(f"{text.code} {text.detail}".rstrip())
                continue
            known.append(text)
            others = {name: row[name] for name in ("prompt_id",) if row.get(name) is not None}
            yield write_json({"id": f"{row['id']}-{number}", "text": text, **others}) + b"\n"


def _rows(file: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file.

    Raises:
        Unreadable: a line is no object with id and text.
    """
    for number, row in read_json_lines(file):
        if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not row.get("id"):
            raise Unreadable(
                f'{file}, line {number} has no id or no text; write {{"id": "k1", "text": "…"}}'
            )
        yield row
