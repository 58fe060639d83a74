"""``agon contest rescore|void|merge``: corrections, seen before they count."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, option, together
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.api.models.changes import ChangeSet
    from agon.cli.generated.call import Call
    from agon.cli.shared.tables import Output
    from agon.client import Api

_MAX_MOVES_DRAWN: Final = 25


@dataclass(frozen=True, kw_only=True)
class _Change:
    """How a command changes a contest: the options that all of them have."""

    dry_run: bool
    yes: bool
    form: str
    target: Target

    def __call__(self, contest: str, kind: str, params: Mapping[str, Any], reason: str) -> None:
        """Propose a change set and show its dry run; then apply or cancel it."""
        from agon.api.models.changes import ChangeSetCreate
        from agon.cli.shared.output import working

        request = ChangeSetCreate.model_validate({"kind": kind, "params": params, "reason": reason})
        with self.target.open(create=False) as api:
            proposed = api.changes.propose(contest, request)
            try:
                with working("dry run"):
                    tried = api.changes.dry_run(contest, proposed.id)
                if self.form == TABLE:
                    draw_change(tried)
                confirmed = not self.dry_run and (self.yes or _ask_confirmation(contest))
                step = api.changes.apply if confirmed else api.changes.cancel
                changed = step(contest, proposed.id)
            except BaseException:
                _cancel(api, contest, proposed.id)
                raise
        if self.form == "json":
            deliver_json(lists.plain_values(changed))
        undo = (
            f"applied as {changed.id}; undo: "
            f"agon contest rollback {contest} {changed.id} --reason …"
        )
        click.echo(undo if confirmed else "nothing was changed", err=True)


_change_options = together(
    "change",
    _Change,
    option("--dry-run", is_flag=True, help="Show which ranks would change; change nothing."),
    arguments.yes,
    parameters.form(TABLE, "json"),
    target,
)
"""Adds ``--dry-run``, ``--yes``, ``--format`` and the target; they arrive as ``change``."""


@click.command("rescore", cls=Command)
@arguments.contest
@parameters.edition_option
@parameters.overrides_option
@option(
    "--reason",
    metavar="R",
    default="rescored",
    show_default=True,
    help="The reason; stored in the ledger permanently.",
)
@_change_options
def rescore(
    contest: str,
    *,
    edition: str | None,
    overrides: dict[str, str],
    reason: str,
    change: _Change,
) -> None:
    """Score ID under other rules: show the moves, confirm, apply.

    Without --edition the edition in force stays; rules that --set does not override have the
    edition's values.

      agon contest rescore spring --edition 0.2 --dry-run
      agon contest rescore spring --set self_feedback=ignore --reason 'as announced' --yes
    """
    params: dict[str, Any] = {"overrides": overrides}
    if edition is not None:
        params["edition"] = edition
    change(contest, "rules", params, reason)


@click.command("void", cls=Command)
@arguments.contest
@option(
    "--record",
    "records",
    multiple=True,
    metavar="KEY",
    help="A record: key (votes/m7/j3), external id or position; may be repeated.",
)
@option(
    "--person",
    "people",
    multiple=True,
    metavar="P",
    help="All records of or about this id; may be repeated.",
)
@arguments.reason_required
@_change_options
def void(
    contest: str,
    *,
    records: tuple[str, ...],
    people: tuple[str, ...],
    reason: str,
    change: _Change,
) -> None:
    """Void records of ID; they stay in the ledger without effect.

    Shows the moves, asks for confirmation and applies. agon contest rollback undoes it.

      agon contest void spring --record votes/m7/j3 --reason 'cast by mistake'
      agon contest void spring --person mallory --reason 'case 12' --dry-run
    """
    if not records and not people:
        raise click.UsageError("no records to void; give --record KEY or --person P")
    params = {"records": list(records), "people": list(people)}
    change(contest, "void", params, reason)


@click.command("merge", cls=Command)
@arguments.contest
@click.argument("duplicate", metavar="DUPLICATE")
@click.argument("into", metavar="INTO")
@arguments.reason_required
@_change_options
def merge(
    contest: str,
    duplicate: str,
    into: str,
    *,
    reason: str,
    change: _Change,
) -> None:
    """Merge two ids in ID that are one person: records of DUPLICATE become records of INTO.

    What relates the two to each other is void. agon contest rollback undoes it. The account of
    DUPLICATE stays; agon contest withdraw ends it here. What was submitted in extra time counts;
    extra time or attempts that are left are given to INTO by agon contest extend.

      agon contest merge spring ada2 ada --reason 'signed up twice' --dry-run
      agon contest merge spring ada2 ada --reason 'signed up twice' --yes
    """
    change(contest, "merge", {"duplicate": duplicate, "into": into}, reason)


def changes(call: "Call") -> None:
    """Print the change sets of a contest, or one of them: in JSON the object itself."""
    result = call.execute()
    if not call.shows_one:
        call.print(result)
    elif call.form == TABLE:
        draw_change(result, call.output)
    else:
        deliver_json(lists.plain_values(result), call.output)


def _ask_confirmation(contest: str) -> bool:
    """Return whether the user confirms; without a terminal, require --yes."""
    if not sys.stdin.isatty():
        raise click.UsageError(
            "a change cannot be confirmed without a terminal; give --yes or --dry-run"
        )
    return click.confirm(f"Change {contest}?", err=True)


def _cancel(api: "Api", contest: str, change: str) -> None:
    """Cancel a proposed change set, if that is still possible."""
    from contextlib import suppress

    from agon.errors import AgonError

    with suppress(AgonError):
        api.changes.cancel(contest, change)


def draw_change(change: "ChangeSet", output: Path | None = None) -> None:
    """Draw a change set with the moves on each board."""
    from agon.cli.shared.tables import Output, cell

    out = Output(output)
    out.line(f"change set {change.id} · {change.kind} · {change.state}", style="bold")
    out.line(f"reason: {change.reason}")
    for name, value in change.params.items():
        if value not in (None, [], {}, ""):
            out.line(f"{name}: {cell(value)}")
    if change.failed is not None:
        out.line(f"its dry run failed: {change.failed}", style="red")
    for board, report in ((change.report or {}).get("boards") or {}).items():
        _draw_board(out, board, report)
    out.deliver()


def _draw_board(out: "Output", board: str, report: Mapping[str, Any]) -> None:
    from agon.cli.shared.tables import TableColumn, number, signed_text

    unscorable = report.get("unscorable")
    if unscorable:
        text = "; ".join(f"{side}, it cannot be scored: {why}" for side, why in unscorable.items())
        out.line(f"{board}: {text}")
        return
    summary, moves = report["summary"], report["moves"]
    if not (summary["moved"] or report["entered"] or report["dropped"]):
        out.line(f"{board}: no moves")
        return
    out.line(
        f"{board}: {summary['moved']:,} of {summary['compared']:,} move, "
        f"{len(report['entered']):,} enter, {len(report['dropped']):,} drop off",
        style="bold",
    )
    drawn = moves[:_MAX_MOVES_DRAWN]
    if drawn:
        out.table(
            [
                TableColumn("id", [move["id"] for move in drawn]),
                TableColumn(
                    "rank",
                    [f"{move['rank_before']} → {move['rank_after']}" for move in drawn],
                    right=True,
                ),
                TableColumn(
                    "score before", [number(move["score_before"]) for move in drawn], right=True
                ),
                TableColumn(
                    "score after", [number(move["score_after"]) for move in drawn], right=True
                ),
                TableColumn(
                    "change",
                    [signed_text(move["score_after"] - move["score_before"]) for move in drawn],
                    right=True,
                ),
            ],
            needed=5,
        )
    if len(moves) > len(drawn):
        out.line(f"{len(moves) - len(drawn):,} smaller moves; --format json has them")
    for group in ("entered", "dropped"):
        for move in report[group][:5]:
            why = f" ({move['reason']})" if move.get("reason") else ""
            out.line(f"  {group}: {move['id']}{why}")
