"""``agon contest create|edit|show``: contests and their details."""

from typing import TYPE_CHECKING

import click

from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agon.api.models.boards import BoardProof
    from agon.api.models.contests import Contest, Finalization
    from agon.api.models.records import LedgerHead
    from agon.cli.generated.call import Call

_SHOWN_CHANGES = ("description", "names", "title", "visibility")


def create(call: "Call") -> None:
    """Create a contest, and open it unless it stays a draft."""
    call = call.where(title=call.values["title"] or call.values["id"])
    with call.target.open() as api:
        created = call.execute_at(api)
        if not call.values["draft"]:
            created = api.contests.open(created.id)
    call.print(created)


def edit(call: "Call") -> None:
    """Edit a contest, and print what is not in its line."""
    call.print(call.execute())
    if call.form == TABLE:
        for name in _SHOWN_CHANGES:
            if call.values[name] is not None:
                echo(f"{name}: {call.values[name]}")


@click.command("show", cls=Command)
@arguments.contest
@parameters.form(TABLE, "json")
@target
def show(contest: str, *, form: str, target: Target) -> None:
    """Show a contest: its rules, its ledger and its boards.

    Each board is listed with its hash and the position it was made at.

      agon contest show spring
    """
    with target.open(create=False) as api:
        details, boards = api.contests.get(contest), api.boards.list(contest).items
        head = api.ledgers.head(contest)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        value = {
            **lists.plain_values(details),
            "head": lists.plain_values(head),
            "published": [lists.plain_values(board) for board in boards],
        }
        deliver(json_chunks(value), None)
        return
    _draw(details, head, boards)


def _draw(details: "Contest", head: "LedgerHead", boards: "Sequence[BoardProof]") -> None:
    """Print what is stated of a contest, and its boards as a table."""
    from agon.cli.shared.tables import Output, TableColumn, cell

    out = Output()
    out.line(
        f"{details.id} · {details.title} · {details.discipline} · {details.state}", style="bold"
    )
    if details.description:
        out.line(details.description)
    facts = {
        "edition": details.edition,
        "overrides": ", ".join(f"{key}={value}" for key, value in details.overrides.items()),
        "visibility": details.visibility,
        "names": details.names or "",
        "series": "" if details.series is None else f"{details.series}, season {details.season}",
        "created": _time(details.created_at),
        "starts": _time(details.starts_at),
        "ends": _time(details.ends_at),
        "ledger": f"{details.seq:,} entries",
        "frozen at": cell(details.frozen_at),
        "final at": cell(details.finalized_at),
        "void at": cell(details.voided_at),
        "void because": details.void_reason or "",
        "head": f"{head.head_sha256} at entry {head.seq:,}",
        "signed by": head.public_key,
    }
    for name, fact in facts.items():
        if fact:
            out.line(f"{name}: {fact}")
    if boards:
        out.table(
            [
                TableColumn("board", [board.board for board in boards]),
                TableColumn("rows", [f"{board.rows_total:,}" for board in boards], right=True),
                TableColumn(
                    "unscored", [f"{board.unscored_total:,}" for board in boards], right=True
                ),
                TableColumn("at", [str(board.seq) for board in boards], right=True),
                TableColumn("sha256", [board.board_sha256 for board in boards]),
            ]
        )
    out.deliver()


def _time(at: "datetime | None") -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def draw_contest(details: "Contest") -> None:
    """Print a contest in a line."""
    parts = [details.id, details.discipline, details.state, details.edition, f"entry {details.seq}"]
    times = {"starts": details.starts_at, "ends": details.ends_at}
    parts += [f"{name} {_time(time)}" for name, time in times.items() if time is not None]
    click.echo(" · ".join(parts))


def draw_pending(pending: "Finalization") -> None:
    """Print what is open before a final result, a line each, and how long it can be undone."""
    counts = {
        "submissions without a verdict": pending.submissions,
        "rounds that are not settled": len(pending.rounds),
        "cases not decided": pending.cases,
        "change sets proposed and not applied": pending.changes,
        "webhooks that are sent the result at once": pending.webhooks,
    }
    for name, count in counts.items():
        listed = f" ({', '.join(pending.rounds)})" if name.startswith("rounds") and count else ""
        click.echo(f"{count:,} {name}{listed}")
    if pending.undo_until is not None:
        click.echo(f"it can be undone until {_time(pending.undo_until)}")
    elif pending.obstacle:
        click.echo(f"it cannot be undone: {pending.obstacle}")
