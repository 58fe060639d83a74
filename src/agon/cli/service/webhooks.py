"""``agon webhooks``: where a contest's events are sent, and whether they arrive."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.generated.commands import add_generated
from agon.cli.shared import lists
from agon.cli.shared.commands import Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agon.cli.generated.call import Call


@click.group("webhooks", cls=Group)
def command() -> None:
    """Manage the webhooks of a contest and show their deliveries.

      agon webhooks add spring https://example.org/agon --event snapshot-published
      agon webhooks test spring WEBHOOK
      agon webhooks deliveries spring WEBHOOK

    Every message is signed; how receivers check it, and when it is retried, is described in the
    documentation (methods, Webhooks).
    """


add_generated(command)


def change(call: "Call") -> None:
    """Change a webhook; ``--all-events`` is a list without a kind."""
    if call.values["all_events"]:
        if call.values["events"]:
            raise click.UsageError("--event and --all-events exclude each other; give one of them")
        call = call.where(events=[])
    call.print(call.execute())


def draw_deliveries(
    rows: "Sequence[Mapping[str, Any]]", columns: "Sequence[str]", output: Path | None
) -> None:
    """Draw deliveries, and below them the errors, which are too long for a table."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    drawn = [_with_last_result(row) for row in rows]
    lists.add_rows(out, drawn, columns=columns, empty="no deliveries yet")
    for row in drawn:
        if row["error"]:
            out.line(f"{row['id']}: {row['error']}", style="red")
    out.deliver()


def _with_last_result(row: "Mapping[str, Any]") -> dict[str, Any]:
    """Return a delivery's row with the number of attempts and the last one's result."""
    last = row["attempts"][-1] if row["attempts"] else {}
    return {
        **row,
        "attempts": len(row["attempts"]),
        "answer": f"{last['status']} in {last['ms']} ms" if "status" in last else None,
        "error": last.get("error"),
    }
