"""``agon webhooks``: where a contest's events are sent, and whether they arrive."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.contest import arguments
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.output import TABLE, deliver_secret, require_new_file
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.api.models.webhooks import Delivery

_LISTED: Final = ("id", "url", "events", "staff", "active", "by")
_DELIVERED: Final = ("id", "state", "attempts", "answer", "created_at")
_MAX_DELIVERIES_DRAWN: Final = 50
_webhook = click.argument("webhook", metavar="WEBHOOK")
_events = option(
    "--event",
    "events",
    multiple=True,
    metavar="KIND",
    help="A kind of event, such as snapshot-published; may be repeated (default: all).",
)


@click.group("webhooks", cls=Group)
def command() -> None:
    """Manage the webhooks of a contest and show their deliveries.

      agon webhooks add spring https://example.org/agon --event snapshot-published
      agon webhooks test spring WEBHOOK
      agon webhooks deliveries spring WEBHOOK

    Every message is signed; how receivers check it, and when it is retried, is described in the
    documentation (methods, Webhooks).
    """


@command.command("list", cls=Command)
@arguments.contest
@lists.form
@parameters.output
@target
def list_(contest: str, *, form: str, output: Path | None, target: Target) -> None:
    """List where the events of ID are sent.

    Secrets cannot be shown again.

      agon webhooks list spring
    """
    with target.open(create=False) as api:
        rows = [lists.plain_values(webhook) for webhook in api.webhooks.list(contest).items]
    if form == TABLE:
        rows = [row | {"events": row["events"] or "all"} for row in rows]
    lists.print_rows(rows, form=form, name="webhooks", columns=_LISTED, output=output)


@command.command("add", cls=Command)
@arguments.contest
@click.argument("url", metavar="URL")
@_events
@option("--public-only", is_flag=True, help="Only public events, when they become public.")
@option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the secret to a new file that only you can read, instead of stdout.",
)
@target
def add(
    contest: str,
    url: str,
    *,
    events: tuple[str, ...],
    public_only: bool,
    out: Path | None,
    target: Target,
) -> None:
    """Send the events of ID to URL; prints the secret they are signed with, this once.

    Without --public-only, organizers' events (findings, submissions, voids) are sent as well.

      agon webhooks add spring https://example.org/agon --out hook.secret
      agon webhooks add spring https://example.org/bot --event snapshot-published --public-only
    """
    if out is not None:
        require_new_file(out)
    from agon.api.models.webhooks import WebhookCreate

    with target.open(create=False) as api:
        request = WebhookCreate(url=url, events=events, staff=not public_only)
        created = api.webhooks.create(contest, request)
    deliver_secret(created.secret, out)
    click.echo(
        f"webhook {created.id} of {contest}; its secret is shown only once. Test it: agon webhooks "
        f"test {contest} {created.id}",
        err=True,
    )


@command.command("change", cls=Command)
@arguments.contest
@_webhook
@option("--on/--off", "active", default=None, help="Switch deliveries on or off.")
@_events
@option("--all-events", is_flag=True, help="Send events of all kinds.")
@target
def change(
    contest: str,
    webhook: str,
    *,
    active: bool | None,
    events: tuple[str, ...],
    all_events: bool,
    target: Target,
) -> None:
    """Disable or enable WEBHOOK of ID, or change its kinds of events.

    Events that occur while it is off are not delivered later.

      agon webhooks change spring WEBHOOK --off
      agon webhooks change spring WEBHOOK --on --event contest-finalised
    """
    if events and all_events:
        raise click.UsageError("--event and --all-events exclude each other; give one of them")
    if active is None and not events and not all_events:
        raise click.UsageError("nothing to change; give --on, --off, --event KIND or --all-events")
    chosen = events if events or all_events else None
    from agon.api.models.webhooks import WebhookUpdate

    with target.open(create=False) as api:
        request = WebhookUpdate(active=active, events=chosen)
        changed = api.webhooks.update(contest, webhook, request)
    kinds = ", ".join(changed.events) or "all kinds"
    click.echo(f"{changed.id} is {'on' if changed.active else 'off'}: {kinds} to {changed.url}")


@command.command("remove", cls=Command)
@arguments.contest
@_webhook
@target
def remove(contest: str, webhook: str, *, target: Target) -> None:
    """Remove WEBHOOK of ID with the log of its deliveries; waiting deliveries are not sent.

    agon webhooks change --off switches it off without removing it.

      agon webhooks remove spring WEBHOOK
    """
    with target.open(create=False) as api:
        api.webhooks.delete(contest, webhook)
    click.echo(f"{webhook} is removed; nothing is sent there any more")


@command.command("deliveries", cls=Command)
@arguments.contest
@_webhook
@option("--top", type=click.IntRange(min=1), metavar="N", help="The newest N (default: all; "
        f"as a table {_MAX_DELIVERIES_DRAWN}).")  # fmt: skip
@lists.form
@parameters.output
@target
def deliveries(
    contest: str, webhook: str, *, top: int | None, form: str, output: Path | None, target: Target
) -> None:
    """List the deliveries to WEBHOOK of ID, newest first, each with its last result.

    --format json has every attempt with status, duration and the beginning of the answer.

      agon webhooks deliveries spring WEBHOOK
      agon webhooks deliveries spring WEBHOOK --format json
    """
    from itertools import islice

    is_table = form == TABLE
    most = top or (_MAX_DELIVERIES_DRAWN if is_table else None)
    with target.open(create=False) as api:
        listed = list(islice(api.webhooks.deliveries(contest, webhook), most))
    if is_table:
        _draw_deliveries([_row(delivery) for delivery in listed], output)
        return
    rows = [lists.plain_values(delivery) for delivery in listed]
    lists.print_rows(rows, form=form, name="deliveries", columns=_DELIVERED, output=output)


@command.command("test", cls=Command)
@arguments.contest
@_webhook
@target
def test(contest: str, webhook: str, *, target: Target) -> None:
    """Send WEBHOOK of ID an event of kind webhook-tested, whatever kinds it is subscribed to.

    A worker sends it; agon webhooks deliveries shows the result.

      agon webhooks test spring WEBHOOK
    """
    with target.open(create=False) as api:
        delivery = api.webhooks.send_test(contest, webhook)
    _print_queued(contest, webhook, delivery)


@command.command("redeliver", cls=Command)
@arguments.contest
@_webhook
@click.argument("delivery", metavar="DELIVERY")
@target
def redeliver(contest: str, webhook: str, delivery: str, *, target: Target) -> None:
    """Send the event of DELIVERY to WEBHOOK of ID again, as a new delivery.

    Use it for deliveries that were given up while the receiver was unavailable.

      agon webhooks redeliver spring WEBHOOK DELIVERY
    """
    with target.open(create=False) as api:
        queued = api.webhooks.redeliver(contest, webhook, delivery)
    _print_queued(contest, webhook, queued)


def _print_queued(contest: str, webhook: str, delivery: "Delivery") -> None:
    click.echo(delivery.id)
    click.echo(
        f"queued; agon webhooks deliveries {contest} {webhook} shows whether it arrived", err=True
    )


def _draw_deliveries(rows: list[dict[str, Any]], output: Path | None) -> None:
    """Draw deliveries, and below them the errors, which are too long for a table."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    lists.add_rows(out, rows, columns=_DELIVERED, empty="no deliveries yet")
    for row in rows:
        if row["error"]:
            out.line(f"{row['id']}: {row['error']}", style="red")
    out.deliver()


def _row(delivery: "Delivery") -> dict[str, Any]:
    """Return a delivery as a row: number of attempts, last result."""
    last = delivery.attempts[-1] if delivery.attempts else {}
    return {
        **lists.plain_values(delivery),
        "attempts": len(delivery.attempts),
        "answer": f"{last['status']} in {last['ms']} ms" if "status" in last else None,
        "error": last.get("error"),
    }
