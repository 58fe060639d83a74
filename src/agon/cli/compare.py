"""``agon compare``: the effect of a change of rules."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json

if TYPE_CHECKING:
    from agon.app.analysis.compare import Comparison, UnmatchedParticipant
    from agon.app.analysis.options import ReadingOptions
    from agon.cli.shared.tables import Output

_SIDES = 2
_MAX_MOVES_DRAWN = 25


@click.command("compare", cls=Command)
@parameters.discipline
@parameters.source
@sources.scoring
@option(
    "--edition",
    "editions",
    metavar="E",
    multiple=True,
    help="Edition of the left side; a second --edition is the right side's (default: the same).",
)
@option(
    "--set",
    "overrides",
    type=parameters.RuleOverride(),
    multiple=True,
    callback=parameters.settings,
    help="Override a rule on the right side; may be given several times.",
)
@option(
    "--set-left",
    "left_overrides",
    type=parameters.RuleOverride(),
    multiple=True,
    callback=parameters.settings,
    help="Override a rule on the left side.",
)
@option(
    "--as-of",
    "times",
    metavar="T",
    multiple=True,
    help="Score the records as of this ISO 8601 time (without a zone: UTC); a second --as-of is "
    "the right side's (default: the same).",
)
@parameters.board
@option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Only the N largest moves (default: all; a table shows {_MAX_MOVES_DRAWN}).",
)
@parameters.form(TABLE, "json")
@parameters.output
def command(  # noqa: PLR0913 (one parameter for each option)
    discipline: str,
    source: str,
    *,
    reads: "ReadingOptions",
    editions: tuple[str, ...],
    overrides: dict[str, str],
    left_overrides: dict[str, str],
    times: tuple[str, ...],
    board: str | None,
    top: int | None,
    form: str,
    output: Path | None,
) -> None:
    """Show who moves when the rules change, or between two times.

    The records of SOURCE are scored under two sets of rules. With one edition, or none, both
    sides have the same one; --set makes the right side differ. With two --as-of the sides have
    the records of two times.

      agon compare dojo data/ --edition 0.1 --edition 0.2
      agon compare community data/ --set self_feedback=ignore
      agon compare community data/ --as-of 2026-11-01 --as-of 2026-11-08
      agon compare arena battles.csv --where language=en --set k_new=16
    """
    if len(editions) > _SIDES:
        raise click.UsageError("give --edition at most twice: left side, right side")
    if len(times) > _SIDES:
        raise click.UsageError("give --as-of at most twice: left side, right side")
    from agon.app.analysis.compare import RuleSet, compare
    from agon.cli.shared.output import working

    left = editions[0] if editions else None
    right = editions[-1] if editions else None
    with working("comparing"):
        comparison = compare(
            discipline,
            source,
            RuleSet(left, left_overrides),
            RuleSet(right, overrides),
            board=board,
            as_of=times[0] if times else None,
            as_of_right=times[1] if len(times) == _SIDES else None,
            **reads,
        )
    sources.echo_reading(comparison.left)
    if form == "json":
        deliver_json(comparison.to_dict(top=top), output)
        return
    from agon.cli.shared.tables import Output

    out = Output(output)
    draw(out, comparison, top=top or _MAX_MOVES_DRAWN)
    out.deliver()


def draw(out: "Output", comparison: "Comparison", *, top: int) -> None:
    """Draw a comparison: differing rules, summary, largest moves."""
    from agon.app.analysis.compare import changed_rules
    from agon.cli.shared.tables import TableColumn, cell, number, signed_text

    left, right = comparison.left, comparison.right
    out.line(
        f"{comparison.board} · {left.edition.full_name} → {right.edition.full_name}", style="bold"
    )
    if left.as_of != right.as_of:
        old_time, new_time = (
            "all records" if side.as_of is None else f"{side.as_of:%Y-%m-%d %H:%M} UTC"
            for side in (left, right)
        )
        out.line(f"  records as of {old_time} → {new_time}")
    for name, values in changed_rules(left, right):
        old, new = (cell(values[side]) or "none" for side in ("left", "right"))
        out.line(f"  {name}: {old} → {new}")
    out.line(_summary(comparison))
    moves = comparison.moves[:top]
    if moves:
        out.table(
            [
                TableColumn("id", [move.id for move in moves]),
                TableColumn(
                    "rank",
                    [f"{move.rank_before} → {move.rank_after}" for move in moves],
                    right=True,
                ),
                TableColumn("", [_arrow(move.rank_change) for move in moves], right=True),
                TableColumn(
                    "score before", [number(move.score_before) for move in moves], right=True
                ),
                TableColumn(
                    "score after", [number(move.score_after) for move in moves], right=True
                ),
                TableColumn(
                    "change", [signed_text(move.score_change) for move in moves], right=True
                ),
            ],
            needed=6,
        )
    if len(comparison.moves) > top:
        out.line(f"{len(comparison.moves) - top:,} smaller moves; --top N shows more")
    _draw_unmatched(out, "entered the board", comparison.entered)
    _draw_unmatched(out, "dropped off the board", comparison.dropped)


def _summary(comparison: "Comparison") -> str:
    summary = comparison.summary
    if not (summary.moved or summary.entered or summary.dropped):
        return f"no moves: {summary.compared:,} have the same rank and score on both sides"
    parts = [
        f"{summary.moved:,} of {summary.compared:,} move ({summary.share_moved:.1%})",
        f"largest change of rank {summary.max_rank_change:,}",
    ]
    if summary.spearman is not None and summary.kendall is not None:
        parts.append(f"rank correlation ρ = {summary.spearman:.4f}, τ = {summary.kendall:.4f}")
    return ", ".join(parts)


def _arrow(change: int) -> str:
    if change == 0:
        return "="
    return f"▲{change}" if change > 0 else f"▼{-change}"


def _draw_unmatched(
    out: "Output", title: str, participants: "tuple[UnmatchedParticipant, ...]"
) -> None:
    from agon.cli.shared.tables import number

    if not participants:
        return
    out.line(f"{title}: {len(participants):,}", style="bold")
    for participant in participants[:10]:
        reason = f" (other board: {participant.reason})" if participant.reason else ""
        out.line(
            f"  {participant.id}: rank {participant.rank}, score "
            f"{number(participant.score)}{reason}"
        )
