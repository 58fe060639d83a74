"""``agon explain``: why this score."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agon.app.analysis.options import ReadingOptions, RuleOptions
    from agon.app.analysis.score import Result
    from agon.cli.shared.tables import Output
    from agon.kernel.explanations import Explanation, Part

_BAR = 12
_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", re.ASCII)
_PARTICIPANTS = ("opponent", "bot")  # keys of a context's rows whose values are ids
_MANY = 20  # parts from which the table leaves inputs and records to JSON


@click.command("explain", cls=Command)
@parameters.discipline
@parameters.source
@sources.scoring
@click.argument("id", metavar="ID")
@parameters.board
@parameters.rules
@parameters.explaining(TABLE, "json", "svg")
def command(
    discipline: str,
    source: str,
    id: str,  # noqa: A002 (the name in the usage line)
    *,
    reads: "ReadingOptions",
    board: str | None,
    rule_options: "RuleOptions",
    printing: parameters.OutputOptions,
) -> None:
    """Explain the score of ID, part by part.

    Prints inputs, rule, points and records of every part, and what is missing for the next step.
    With --format svg, a chart of it.

      agon explain community data/ ada
      agon explain community data/ ada --format svg --output why.svg
      agon explain challenge data/ 7 --format json
      agon explain dojo data/ ada --top 5
      agon explain arena data/ judge-3 --board judges
    """
    from agon.app.analysis.score import score
    from agon.cli.shared.output import working
    from agon.kernel.progress import stages

    with working(f"explaining {id}"), stages("facts and board", total=2) as advance:
        result = score(discipline, source, **reads, **rule_options)
        advance()
        explanation = first_parts(result.explain(id, board=board), printing.top)
    sources.echo_reading(result)
    if printing.form == "json":
        from agon.cli.shared.formats import json_chunks

        value = {**result.provenance(), **explanation.to_dict()}
        deliver(json_chunks(value), printing.output)
        return
    if printing.form == "svg":
        from agon.app.charts import waterfall as picture

        deliver([picture(explanation, under=result.rules_title).encode(), b"\n"], printing.output)
        return
    from agon.cli.shared.tables import Output

    out = Output(printing.output)
    draw(out, result, explanation)
    out.deliver()


def first_parts(explanation: "Explanation", top: int | None) -> "Explanation":
    """Return an explanation with ``--top N`` applied."""
    return explanation if top is None else explanation.first(top)


def draw(out: "Output", result: "Result", explanation: "Explanation") -> None:
    """Draw an explanation of a result; see :func:`draw_explanation`."""
    draw_explanation(out, explanation, under=result.rules_title)


def draw_explanation(out: "Output", explanation: "Explanation", *, under: str) -> None:
    """Draw an explanation: a waterfall of its parts, each with its reason.

    Args:
        out: the output to add it to.
        explanation: the explanation.
        under: name of the edition.
    """
    from agon.cli.shared.tables import TableColumn, number, signed_text

    place = "unscored" if explanation.rank is None else f"rank {explanation.rank}"
    score = "" if explanation.score is None else f" · score {number(explanation.score)}"
    head = f"{_named(explanation, explanation.id)} · {explanation.board} · {place}{score}"
    out.line(f"{_abbreviate(head)} · {under}", style="bold")
    if explanation.reason:
        out.line(f"no score: {explanation.reason}")
    steps = list(_steps(explanation))
    if steps:
        names, points, texts = zip(*steps, strict=True)
        total = [] if explanation.score is None else [("score", number(explanation.score))]
        out.table(
            [
                TableColumn("part", [*names, *(name for name, _ in total)], folds=True),
                TableColumn(
                    "points", [*map(signed_text, points), *(sum_ for _, sum_ in total)], right=True
                ),
                TableColumn("", [*waterfall(list(points)), *("" for _ in total)], style="cyan"),
                TableColumn("why", [*texts, *("" for _ in total)], folds=True),
            ],
            needed=4,
        )
    if len(explanation.parts) > _MANY:
        out.line("--format json has the inputs and records of every part", style="dim")
    for note in explanation.notes:
        out.line(_sentence(explanation, note))
    for name, value in explanation.context.items():
        _draw_context(out, explanation, name, value)


def _steps(explanation: "Explanation") -> "Iterator[tuple[str, float, str]]":
    """Yield name, points and text of each part; of a hash, the first digits."""
    brief = len(explanation.parts) > _MANY
    for part in explanation.parts:
        text = _sentence(explanation, part.text)
        yield _abbreviate(part.name), part.points, _abbreviate(_why(part, text, brief=brief))


def _named(explanation: "Explanation", participant: str) -> str:
    """Return a participant with its name, if the explanation has it."""
    from agon.kernel.text.participants import participant_text

    return participant_text(explanation.names.get(participant), participant)


def _sentence(explanation: "Explanation", text: str) -> str:
    """Return a sentence with the names of the participants that it names."""
    from agon.kernel.text.sentences import sentence_text

    return sentence_text(text, lambda participant: _named(explanation, participant))


def _abbreviate(text: str) -> str:
    """Return text with the first 12 digits of each SHA-256."""
    return _HASH.sub(r"\1…", text)


def _draw_context(out: "Output", explanation: "Explanation", name: str, value: Any) -> None:
    """Draw context of an explanation: a value, or rows of a table."""
    from agon.cli.shared.tables import TableColumn, cell

    if not (isinstance(value, list) and value and isinstance(value[0], dict)):
        out.line(f"{name.replace('_', ' ')}: {cell(value)}")
        return
    out.line()
    out.line(f"{name.replace('_', ' ')}: {len(value):,}")
    out.table(
        [
            TableColumn(
                key.replace("_", " "),
                [
                    _named(explanation, row[key]) if key in _PARTICIPANTS else cell(row.get(key))
                    for row in value
                ],
                right=isinstance(value[0][key], (int, float)),
            )
            for key in value[0]
        ]
    )


def waterfall(points: list[float], *, width: int = _BAR) -> list[str]:
    """Return a bar for each step, from the sum before to the sum after; losses are shaded.

    A first step much larger than all others (a rating's start) is cut, so that they are visible.

    Example:
        >>> waterfall([3.0, 1.0, -2.0], width=4)
        ['███ ', '   █', '  ▒▒']
        >>> waterfall([1000.0, 6.0, -3.0], width=4)
        ['█   ', ' ███', '  ▒▒']
    """
    from agon.app.charts.waterfall import levels

    totals, low, high = levels(points, cut=1 / width)
    scale = (width / (high - low)) if high > low else 0.0
    bars = []
    for before, after in pairwise(totals):
        start = round((min(before, after) - low) * scale)
        end = round((max(before, after) - low) * scale)
        if after != before and start == end:
            start = min(start, width - 1)
            end = start + 1
        mark = "█" if after >= before else "▒"
        bars.append((" " * start + mark * (end - start)).ljust(width))
    return bars


def _why(part: "Part", text: str, *, brief: bool) -> str:
    """Return a part as text: its reason, inputs, records, and what is missing."""
    from agon.cli.shared.tables import cell, refs_text

    lines = [text]
    if part.inputs and not brief:
        lines.append(", ".join(f"{name} = {cell(value)}" for name, value in part.inputs.items()))
    if not brief:
        lines += [refs_text(refs, most=3) for refs in part.records if refs.count]
    if part.missing:
        lines.append(f"→ {part.missing}")
    return "\n".join(lines)
