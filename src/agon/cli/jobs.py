"""``agon jobs``: what the service has to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from agon.cli import listing, parameters
from agon.cli.helping import Command, Group, option
from agon.cli.output import TABLE, deliver
from agon.cli.places import Place, place

if TYPE_CHECKING:
    from agon.api.models.jobs import Queue
    from agon.entities.jobs import JobState

_STATES: Final = ("queued", "leased", "done", "failed", "cancelled")
_LISTED: Final = ("id", "kind", "state", "contest", "created_at", "attempts", "position", "worker")
_ABOUT: Final = (
    "kind", "state", "contest", "by", "created_at", "not_before", "started_at", "ended_at",
    "worker",
)  # fmt: skip


@click.group("jobs", cls=Group)
def command() -> None:
    """Look at the service's jobs and its queue; pause it, resume it.

    What failed is told with its cause, and can be tried again.

      agon jobs list --state failed
      agon jobs queue
      agon jobs pause
    """


@command.command("list", cls=Command)
@option("--contest", metavar="C", help="Only of this contest.")
@option("--state", type=click.Choice(_STATES), help="Only those in this state.")
@option(
    "--top",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="The newest N.",
)
@listing.form
@parameters.output
@place
def list_(
    *,
    contest: str | None,
    state: str | None,
    top: int,
    form: str,
    output: Path | None,
    place: Place,
) -> None:
    """List jobs, newest first.

    Each with its place in the queue and, where it failed, the last cause.

      agon jobs list --contest spring --state failed
    """
    from itertools import islice

    with place.open(create=False) as house:
        found = house.jobs.list(contest=contest, state=cast("JobState | None", state))
        rows = [listing.plainly(one) for one in islice(found, top)]
    for row in rows:
        row["cause"] = row["causes"][-1]["cause"] if row["causes"] else None
    if form == TABLE:
        _draw_list(rows, output)
    else:
        listing.print_rows(rows, form=form, name="jobs", columns=_LISTED, output=output)


@command.command("show", cls=Command)
@click.argument("job", metavar="ID")
@parameters.form(TABLE, "json")
@place
def show(job: str, *, form: str, place: Place) -> None:
    """Show the job ID: how far it is, when it is begun, why earlier attempts ended.

    agon jobs retry begins one again that failed.

      agon jobs show 0193…
    """
    with place.open(create=False) as house:
        told = house.jobs.get(job)
    if form == "json":
        from agon.cli.formats import json_chunks

        deliver(json_chunks(listing.plainly(told)), None)
        return
    _draw_job(listing.plainly(told))


@command.command("retry", cls=Command)
@click.argument("job", metavar="ID")
@place
def retry(job: str, *, place: Place) -> None:
    """Queue the job ID, which failed or was cancelled, once more.

    A job that is queued or worked on already is a conflict.

      agon jobs retry 0193…
    """
    with place.open(create=False) as house:
        click.echo(f"{job} is {house.jobs.retry(job).state}")


@command.command("cancel", cls=Command)
@click.argument("job", metavar="ID")
@place
def cancel(job: str, *, place: Place) -> None:
    """Cancel the job ID; who works on it stops.

    What it would have stored is not stored.

      agon jobs cancel 0193…
    """
    with place.open(create=False) as house:
        click.echo(f"{job} is {house.jobs.cancel(job).state}")


@command.command("queue", cls=Command)
@parameters.form(TABLE, "json")
@place
def queue(*, form: str, place: Place) -> None:
    """Show how the queue is: what waits, what is worked on, by whom.

    Workers are those seen within a minute.

      agon jobs queue
    """
    with place.open(create=False) as house:
        _print(house.jobs.queue(), form)


@command.command("pause", cls=Command)
@parameters.form(TABLE, "json")
@place
def pause(*, form: str, place: Place) -> None:
    """Let no more jobs be claimed; those that are worked on are finished.

    A paused queue with none worked on is drained.

      agon jobs pause
    """
    from agon.api.models.jobs import QueueUpdate

    with place.open(create=False) as house:
        _print(house.jobs.set_queue(QueueUpdate(paused=True)), form)


@command.command("resume", cls=Command)
@parameters.form(TABLE, "json")
@place
def resume(*, form: str, place: Place) -> None:
    """Let jobs be claimed again.

    Workers notice within a second.

      agon jobs resume
    """
    from agon.api.models.jobs import QueueUpdate

    with place.open(create=False) as house:
        _print(house.jobs.set_queue(QueueUpdate(paused=False)), form)


def _draw_list(rows: list[dict[str, Any]], output: Path | None) -> None:
    """Draw jobs, each failure's cause on a line below: it says what to do, and is long."""
    from agon.cli.drawing import Paper

    paper = Paper(output)
    listing.add_rows(paper, rows, columns=_LISTED, empty="no jobs")
    for row in rows:
        if row["state"] == "failed":
            paper.line(f"{row['id']}: {row['cause']}", style="red")
    if any(row["state"] == "failed" for row in rows):
        paper.line("agon jobs retry ID begins one again; agon jobs show ID has all causes")
    paper.deliver()


def _draw_job(row: dict[str, Any]) -> None:
    from agon.cli.drawing import Paper

    paper = Paper()
    paper.line(f"job {row['id']}", style="bold")
    for name in _ABOUT:
        if row[name] is not None:
            paper.line(f"{name.replace('_', ' ')}: {listing.told(row[name])}")
    paper.line(f"attempts: {row['attempts']} of {row['max_attempts']} at most")
    if row["progress"] is not None and row["state"] == "leased":
        paper.line(f"progress: {row['progress']:.0%}")
    if row["position"] is not None:
        eta = row["eta_seconds"]
        wait = "" if eta is None else f", about {eta:,.0f} s"
        paper.line(f"before it in the queue: {row['position']}{wait}")
    for one in row["causes"]:
        paper.line(f"{listing.told(one['at'])} {one['worker'] or ''}: {one['cause']}", style="red")
    paper.deliver()


def _print(told: "Queue", form: str) -> None:
    if form == "json":
        from agon.cli.formats import json_chunks

        deliver(json_chunks(listing.plainly(told)), None)
        return
    from agon.cli.drawing import Column, Paper

    paper = Paper()
    drained = " (drained: agon jobs resume lets work go on)" if told.leased == 0 else ""
    state = (
        f"paused, {told.leased} worked on{drained}"
        if told.paused
        else (f"running, {told.leased} worked on")
    )
    paper.line(state, style="bold")
    if told.counts:
        paper.table(
            [
                Column(name, [str(getattr(one, name)) for one in told.counts], right=name == "jobs")
                for name in ("kind", "state", "jobs")
            ]
        )
    for one in told.workers:
        paper.line(f"worker {one.name}: {', '.join(one.kinds)}")
    paper.deliver()
