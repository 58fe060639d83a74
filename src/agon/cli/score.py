"""``agon score``: records to a board."""

from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, board_chunks, deliver, deliver_json

if TYPE_CHECKING:
    from agon.app.analysis.options import ReadingOptions, RuleOptions
    from agon.app.analysis.score import Result
    from agon.cli.shared.tables import Output
    from agon.disciplines.capabilities import ColumnMeaning
    from agon.kernel.boards import Board

_MAX_ROWS_DRAWN = 100
_ALWAYS = ("rank", "id", "score")


@click.command("score", cls=Command)
@parameters.discipline
@parameters.source
@sources.scoring
@parameters.rules
@parameters.board
@parameters.printing_pages
def command(
    discipline: str,
    source: str,
    *,
    reads: "ReadingOptions",
    rule_options: "RuleOptions",
    board: str | None,
    printing: parameters.OutputOptions,
) -> None:
    """Score the records of SOURCE: print a board.

    SOURCE is a folder of Parquet, CSV or NDJSON files named after the tables, a DuckDB or SQLite
    file, or postgresql://… Of arena and challenge, it may be one file of battles or evaluations
    (CSV, JSON, NDJSON, Parquet; - is stdin). The format html is a page of its own, in which the
    first rows are explained; it needs no other file and no network.

      agon score community data/ --top 10
      agon score community data/ --set self_feedback=ignore --format csv --output board.csv
      agon score community data/ --output board.html
      agon score arena data/ --board bradley-terry --format json
      agon score arena battles.csv --columns model_a=left,model_b=right --where language=en
    """
    from agon.app.analysis.score import score
    from agon.cli.shared.output import working
    from agon.kernel.progress import stages

    with working("scoring"), stages("facts and board", total=2) as advance:
        result = score(discipline, source, **reads, **rule_options)
        advance()
        chosen = result.board(board)
    sources.echo_reading(result)
    sources.echo_notes(chosen.notes)
    show(result, chosen, printing)


def show(result: "Result", board: "Board", printing: parameters.OutputOptions) -> None:
    """Print a board in the chosen format."""
    form, output, top = printing.form, printing.output, printing.top
    if form == "json":
        deliver_json(result.to_dict(board, top=top), output)
    elif form == "html":
        from agon.app.analysis.board_page import page

        deliver([page(result, board, top=top).encode()], output)
    elif form == TABLE:
        from agon.cli.shared.tables import Output

        out = Output(output)
        draw(out, result, board, top=top or _MAX_ROWS_DRAWN)
        out.deliver()
    else:
        table = board.table if top is None else board.head(top)
        deliver(board_chunks(table, form), output)
        if board.unscored:
            click.echo(
                f"{len(board.unscored):,} unscored, not in these rows; "
                "--format json lists them with the reason",
                err=True,
            )


def draw(out: "Output", result: "Result", board: "Board", *, top: int) -> None:
    """Draw a board: title, table, how many rows are left out, unscored ids with reasons."""
    as_of = "" if result.as_of is None else f" · as of {result.as_of.isoformat()}"
    caption = f" · {board.caption}" if board.caption else ""
    out.line(f"{board.name} · {result.rules_title}{caption}{as_of}", style="bold")
    draw_rows(out, result.discipline.name, board.name, board.rows(top=top))
    if len(board) > top:
        out.line(f"{len(board) - top:,} more; --top {len(board)} or --format csv shows all")
    if board.unscored:
        draw_unscored(out, board)


def draw_rows(out: "Output", discipline_name: str, board: str, rows: list[dict[str, Any]]) -> None:
    """Draw rows of a board of a discipline; the components of a score are one column."""
    from agon.cli.shared.tables import TableColumn, cell, numbers

    if not rows:
        out.line("no scores")
        return
    columns, details = [], set()
    for name, example in _examples(rows).items():
        values = [row[name] for row in rows]
        if name == "counts" or (name not in _ALWAYS and values == [row["score"] for row in rows]):
            continue  # counts are in JSON; a column that repeats the score adds nothing
        numeric = isinstance(example, (int, float)) and not isinstance(example, bool)
        if name == "components":
            columns.append(
                TableColumn(
                    "largest components",
                    [_largest(components) for components in values],
                    folds=True,
                )
            )
            continue
        cells = numbers(values) if numeric else [cell(value) for value in values]
        meaning = _meaning_of(discipline_name, board, name)
        if meaning is not None and meaning.is_detail:
            details.add(name.replace("_", " "))
        if meaning is not None and (named := dict(meaning.named)):
            cells = [named.get(value, text) for value, text in zip(values, cells, strict=True)]
        folds = isinstance(example, (list, dict))
        group = "" if meaning is None else meaning.group
        title = name.replace("_", " ")
        columns.append(TableColumn(title, cells, right=numeric, folds=folds, group=group))
    # Details give way to others; folding columns take the remaining width, so they are last.
    columns.sort(key=lambda column: (column.folds, column.title in details))
    out.table(columns)


def _meaning_of(discipline_name: str, board: str, column: str) -> "ColumnMeaning | None":
    """Return what a column is; None: it is not known here.

    A discipline of a server need not be installed here.
    """
    from agon.disciplines import discipline, is_discipline

    return (
        discipline(discipline_name).traits.meaning(board, column)
        if is_discipline(discipline_name)
        else None
    )


def _largest(parts: dict[str, Any], *, most: int = 3) -> str:
    """Return the largest parts of a score; `agon explain` has all of them."""
    from agon.cli.shared.tables import cell, names_text

    filled = [(name, value) for name, value in parts.items() if value]
    if all(isinstance(value, (int, float)) for _, value in filled):
        filled.sort(key=lambda part: -abs(part[1]))
    return names_text((f"{name} {cell(value)}" for name, value in filled), most=most)


def draw_unscored(out: "Output", board: "Board", *, most: int = 5) -> None:
    """Draw the first unscored ids with their reasons, and the number of the rest."""
    out.line()
    out.line(f"unscored: {len(board.unscored):,}", style="bold")
    for participant in board.unscored[:most]:
        out.line(f"  {participant.id}: {participant.reason}")
    if len(board.unscored) > most:
        out.line(f"  … and {len(board.unscored) - most:,} more (--format json lists all)")


def _examples(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a non-empty value of each column, which shows its type."""
    return {
        name: next((row[name] for row in rows if row[name] is not None), None) for name in rows[0]
    }
