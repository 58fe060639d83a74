"""``agon contest board|explain|history|findings|proof``: what was published, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, board_chunks, deliver, deliver_json
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agon.api.models.boards import BoardPage
    from agon.client import Api

_MAX_ROWS_IN_TABLE: Final = 100
_MAX_PAGE: Final = 500
_AROUND: Final = 11
_FIRST: Final = ("rank", "id", "score")
_STEPS: Final = ("at", "seq", "rank", "score", "reason")
_participant = click.argument("participant", metavar="PARTICIPANT")


@click.command("board", cls=Command)
@arguments.contest
@parameters.board
@arguments.as_of
@option("--around", metavar="P", help="The rows around this id.")
@option("--find", metavar="TEXT", help="Only those whose names or ids begin with this.")
@option("--sort", metavar="COLUMN", help="Sort by this column; with - in front the largest first.")
@option("--minimum", type=float, metavar="X", help="Only rows with at least X in that column.")
@option("--maximum", type=float, metavar="X", help="Only rows with at most X in that column.")
@option("--values", metavar="V[,V]…", help="Only rows with one of these in that column.")
@parameters.printing
@target
def board(  # noqa: PLR0913 (one parameter for each option)
    contest: str,
    *,
    board: str | None,
    as_of: str | None,
    around: str | None,
    find: str | None,
    sort: str | None,
    minimum: float | None,
    maximum: float | None,
    values: str | None,
    printing: parameters.OutputOptions,
    target: Target,
) -> None:
    """Print a published board of ID.

    All rows are of one published state: the newest visible one, or the one that --as-of names.
    Ranks stay those of the board in every order.

      agon contest board spring --top 10
      agon contest board spring --around ada
      agon contest board spring --find ad
      agon contest board league --sort -matches --minimum 30
      agon contest board league --sort provisional --values false
      agon contest board spring --as-of 2026-03-31T12:00:00Z --format csv --output march.csv
    """
    if around is not None and find is not None:
        raise click.UsageError("--around and --find exclude each other; give one of them")
    most = _MAX_ROWS_IN_TABLE if printing.form == TABLE else None
    wanted = {"as_of": as_of, "around": around, "q": find, "sort": sort, "minimum": minimum,
              "maximum": maximum, "values": values}  # fmt: skip
    with target.open(create=False) as api:
        top = printing.top if around else printing.top or most
        page, is_cut, rows = _rows(api, contest, board, wanted, top=top)
        others: dict[str, Any] = {}
        if printing.form == "json" and find is None and sort is None:
            others["unscored"] = _unscored_rows(api, page)
    if printing.form == "json":
        from agon.cli.shared.formats import json_chunks

        fields = lists.plain_values(page)
        for name in ("next", "previous", "start", "index"):
            del fields[name]
        if page.names is None:
            del fields["names"]
        deliver(json_chunks({**fields, **others, "rows": rows}), printing.output)
    elif printing.form == TABLE:
        _draw(page, rows, printing.output, find=find, is_cut=is_cut)
    else:
        import pyarrow as pa

        deliver(board_chunks(pa.Table.from_pylist(rows), printing.form), printing.output)


@click.command("explain", cls=Command)
@arguments.contest
@_participant
@parameters.board
@arguments.as_of
@parameters.explaining(TABLE, "json")
@target
def explain(
    contest: str,
    participant: str,
    *,
    board: str | None,
    as_of: str | None,
    printing: parameters.OutputOptions,
    target: Target,
) -> None:
    """Explain the score of PARTICIPANT on a published board of ID, line by line.

    Every part with its inputs, rule, points and records, and what is missing for the next step.

      agon contest explain spring ada
      agon contest explain spring ada --as-of 1200 --format json
    """
    with target.open(create=False) as api:
        explanation = api.boards.explain(contest, participant, board=board, as_of=as_of)
        edition = api.contests.get(contest).edition
    from agon.cli.explain import draw_explanation, first_parts

    explanation = first_parts(explanation, printing.top)
    if printing.form == "json":
        deliver_json({"contest": contest, **explanation.to_dict()}, printing.output)
        return
    from agon.cli.shared.tables import Output

    out = Output(printing.output)
    draw_explanation(out, explanation, under=f"{contest} · {edition}")
    out.deliver()


@click.command("history", cls=Command)
@arguments.contest
@_participant
@parameters.board
@lists.form
@parameters.output
@target
def history(
    contest: str,
    participant: str,
    *,
    board: str | None,
    form: str,
    output: Path | None,
    target: Target,
) -> None:
    """List every position of the ledger at which the score of PARTICIPANT changed.

    Changes caused by a change set are listed with its reason. agon contest explain --as-of explains
    each step.

      agon contest history spring ada
    """
    with target.open(create=False) as api:
        steps = api.boards.history(contest, participant, board=board)
        rows = [lists.plain_values(step) for step in steps]
    if form != TABLE:
        lists.print_rows(rows, form=form, name="steps", columns=_STEPS, output=output)
        return
    from agon.cli.shared.tables import Output

    out = Output(output)
    lists.add_rows(out, rows, columns=_STEPS, empty="no steps")
    for row in rows:
        if decision := row["by"]:
            action = "rolled back" if decision["rolled_back"] else decision["kind"]
            out.line(
                f"{row['seq']:,}: change set {decision['change']} · {action} · {decision['reason']}"
            )
    out.deliver()


@click.command("findings", cls=Command)
@arguments.contest
@option("--scan", is_flag=True, help="Scan the newest records first.")
@parameters.form(TABLE, "json")
@parameters.output
@target
def findings(contest: str, *, scan: bool, form: str, output: Path | None, target: Target) -> None:
    """Show the findings of the last integrity scan of ID, most severe first.

    Findings are information for organizers; they do not change scores.

      agon contest findings spring
      agon contest findings spring --scan
    """
    with target.open(create=False) as api:
        last_scan = (api.integrity.scan if scan else api.integrity.findings)(contest)
    if form == "json":
        deliver_json({"seq": last_scan.seq, "findings": list(last_scan.items)}, output)
        return
    from agon.api.conversions import finding_of
    from agon.cli.check import draw_finding
    from agon.cli.shared.tables import Output
    from agon.kernel.text.captions import count_text

    out = Output(output)
    when = f"at entry {last_scan.seq:,}" if last_scan.seq else "not scanned yet"
    count = count_text(len(last_scan.items), "finding")
    out.line(f"{contest} · {count} · {when}", style="bold")
    for finding in last_scan.items:
        draw_finding(out, finding_of(finding))
    out.deliver()


@click.command("proof", cls=Command)
@arguments.contest
@_participant
@parameters.board
@arguments.as_of
@option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the proof here (default: stdout).",
)
@target
def proof(
    contest: str,
    participant: str,
    *,
    board: str | None,
    as_of: str | None,
    out: Path | None,
    target: Target,
) -> None:
    """Write a proof of PARTICIPANT's row, which agon replay --proof checks offline.

    It contains the row, the sibling hashes on its path to the signed root, and the signature.

      agon contest proof spring ada --out ada.json
      agon replay --proof ada.json
    """
    from agon.kernel.fingerprints import canonical_json

    with target.open(create=False) as api:
        proved = api.boards.proof(contest, participant, board=board, as_of=as_of)
    deliver([canonical_json(lists.plain_values(proved)) + b"\n"], out)


def _rows(
    api: "Api",
    contest: str,
    board: str | None,
    wanted: "Mapping[str, Any]",
    *,
    top: int | None,
) -> "tuple[BoardPage, bool, list[dict[str, Any]]]":
    """Return rows of one snapshot, read page by page: the first ``top``, or those around an id.

    Returns the first page, with the names of all rows, whether there are more rows, and the rows.

    Args:
        api: the operations.
        contest: its id.
        board: its name; None: the default one.
        wanted: the parameters of the API that select rows, by name; None: not given.
        top: how many rows; None: all.
    """
    from agon.api.models.boards import BoardQuery

    around, name = wanted["around"], board or api.boards.default(contest)
    size = min(top or (_AROUND if around else _MAX_PAGE), _MAX_PAGE)
    first = page = api.boards.get(contest, name, BoardQuery(**wanted, limit=size))
    following = {key: value for key, value in wanted.items() if key not in {"as_of", "around"}}
    rows, names = list(page.rows), page.names
    while around is None and page.next is not None and (top is None or len(rows) < top):
        size = min(_MAX_PAGE, _rows_left(top, rows))
        page = api.boards.get(contest, name, BoardQuery(**following, cursor=page.next, limit=size))
        rows += page.rows
        names = None if names is None or page.names is None else {**names, **page.names}
    first = first.model_copy(update={"names": names})
    return first, page.next is not None, [_in_order(row) for row in rows]


def _rows_left(top: int | None, rows: list[Any]) -> int:
    return _MAX_PAGE if top is None else top - len(rows)


def _unscored_rows(api: "Api", page: "BoardPage") -> list[dict[str, Any]]:
    participants: list[dict[str, Any]] = []
    if not page.unscored_total:
        return participants
    part = api.boards.unscored(page.contest, page.board, as_of=str(page.seq), limit=_MAX_PAGE)
    participants += map(lists.plain_values, part.unscored)
    while part.next is not None:
        part = api.boards.unscored(page.contest, page.board, cursor=part.next, limit=_MAX_PAGE)
        participants += map(lists.plain_values, part.unscored)
    return participants


def _in_order(row: Any) -> dict[str, Any]:
    """Return a row with rank, id and score first; stored rows have sorted keys."""
    first = {name: row[name] for name in _FIRST if name in row}
    return first | {name: value for name, value in row.items() if name not in first}


def _with_name(row: dict[str, Any], names: "Mapping[str, str] | None") -> dict[str, Any]:
    """Return a row with the name after the id, if any row of the page has one."""
    if not names:
        return row
    first: dict[str, Any] = {name: row[name] for name in _FIRST[:2] if name in row}
    return first | {"name": names.get(row["id"], "")} | row


def _draw(
    page: "BoardPage",
    rows: list[dict[str, Any]],
    output: Path | None,
    *,
    find: str | None,
    is_cut: bool,
) -> None:
    from agon.cli.score import draw_rows
    from agon.cli.shared.tables import Output
    from agon.editions.titles import rules_title
    from agon.kernel.text.captions import interval_caption

    out = Output(output)
    heading = [page.contest, page.board, rules_title(page.edition, page.overrides)]
    if page.intervals is not None:
        heading.append(interval_caption(**page.intervals.model_dump()))
    out.line(" · ".join([*heading, page.phase, f"entry {page.seq:,}"]), style="bold")
    if find is not None and not rows:
        out.line(f"no scored name or id begins with {find!r}; case matters in ids")
    else:
        named = [_with_name(row, page.names) for row in rows]
        draw_rows(out, page.discipline, page.board, named)
    for note in page.notes:
        out.line(f"note: {note}")
    if page.amended_by is not None:
        seq = page.amended_by.seq
        out.line(f"amended since it became final: --as-of {seq} shows the amended result")
    of = page.rows_total if page.matching is None else page.matching
    more = of - len(rows)
    if find is not None:
        hint = "; there are more: give a longer prefix or a larger --top" if is_cut else ""
        out.line(f"{len(rows):,} of {page.rows_total:,}{hint}")
    elif more > 0:
        out.line(f"{more:,} more; --top {of} or --format csv shows all")
    if page.unscored_total:
        out.line(
            f"{page.unscored_total:,} without a score; --format json and agon contest explain "
            f"{page.contest} P show the reasons"
        )
    out.line(f"board_sha256 {page.board_sha256}", style="dim")
    out.deliver()
