"""``agon attack honeypots``: what texts of honeypots are worth against judges who know them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agon.cli.contest.records import read_json_lines
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json, working
from agon.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agon.attacks.arena.recognition import Recognition

_COLUMNS = ("text", "response_a", "response_b")


@click.command("honeypots", cls=Command)
@click.argument("ordinary", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@option(
    "--bank",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Texts that a contest would show in its honeypots, as for agon arena prompts.",
)
@parameters.form(TABLE, "json")
def command(*, ordinary: str, bank: str | None, form: str) -> None:
    """Show how many texts of honeypots a judge recognizes that knows this package's templates.

    ORDINARY (NDJSON; - for stdin) has ordinary answers: {"text": "…"}, or matches with response_a
    and response_b. On every second one the classifier's threshold is set, so that it takes 1 % of
    them for honeypots; the others show how many it does take. The column wording has the share of
    texts with a sentence of a template, style what the classifier recognizes.

      agon attack honeypots answers.ndjson
      agon attack honeypots answers.ndjson --bank robotic.ndjson
    """
    from agon.attacks.arena.recognition import recognize

    texts, own = list(_texts(ordinary)), [] if bank is None else list(_texts(bank))
    if len(texts) < 2:  # noqa: PLR2004 - one to set the threshold, one to measure
        raise Unreadable(f"{ordinary} has {len(texts)} texts; give at least two ordinary answers")
    with working("recognizing honeypots"):
        rows = recognize(texts, own)
    if form == "json":
        deliver_json({"texts": [vars(row) for row in rows]})
    else:
        _draw(rows)


def _texts(source: str) -> Iterator[str]:
    """Yield the texts of a file.

    Raises:
        Unreadable: a line is no JSON object, or has no text.
    """
    for number, row in read_json_lines(source):
        texts = [row[name] for name in _COLUMNS if row.get(name)] if isinstance(row, dict) else []
        if not texts or not all(isinstance(text, str) for text in texts):
            raise Unreadable(
                f'{source}, line {number} has no text; write {{"text": "…"}} on each line'
            )
        yield from texts


def _draw(rows: "Sequence[Recognition]") -> None:
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    out.table(
        [
            TableColumn("texts", [row.texts for row in rows]),
            TableColumn("count", [f"{row.count:,}" for row in rows], right=True),
            TableColumn("wording", [f"{row.wording:.3f}" for row in rows], right=True),
            TableColumn("style", [f"{row.style:.3f}" for row in rows], right=True),
        ],
        needed=4,
    )
    out.deliver()
