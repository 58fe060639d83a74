"""``agon jobs``: the jobs and the queue of the service."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.target import Target, target

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
    """List, cancel and retry jobs of the service; pause and resume its queue.

    Failed jobs are shown with their cause and can be retried.

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
@lists.form
@parameters.output
@target
def list_(
    *,
    contest: str | None,
    state: str | None,
    top: int,
    form: str,
    output: Path | None,
    target: Target,
) -> None:
    """List jobs, newest first.

    Each with its position in the queue and, if it failed, the last cause.

      agon jobs list --contest spring --state failed
    """
    from itertools import islice

    with target.open(create=False) as api:
        jobs = api.jobs.list(contest=contest, state=cast("JobState | None", state))
        rows = [lists.plain_values(job) for job in islice(jobs, top)]
    for row in rows:
        row["cause"] = row["causes"][-1]["cause"] if row["causes"] else None
    if form == TABLE:
        _draw_list(rows, output)
    else:
        lists.print_rows(rows, form=form, name="jobs", columns=_LISTED, output=output)


@command.command("show", cls=Command)
@click.argument("job", metavar="ID")
@parameters.form(TABLE, "json")
@target
def show(job: str, *, form: str, target: Target) -> None:
    """Show the job ID: state, position in the queue, and the causes of failed attempts.

    agon jobs retry queues a failed job again.

      agon jobs show 0193…
    """
    with target.open(create=False) as api:
        view = api.jobs.get(job)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(view)), None)
        return
    _draw_job(lists.plain_values(view))


@command.command("retry", cls=Command)
@click.argument("job", metavar="ID")
@target
def retry(job: str, *, target: Target) -> None:
    """Queue the failed or cancelled job ID again.

    A job that is queued or leased is a conflict.

      agon jobs retry 0193…
    """
    with target.open(create=False) as api:
        click.echo(f"{job} is {api.jobs.retry(job).state}")


@command.command("cancel", cls=Command)
@click.argument("job", metavar="ID")
@target
def cancel(job: str, *, target: Target) -> None:
    """Cancel the job ID; its worker stops.

    No result of it is stored.

      agon jobs cancel 0193…
    """
    with target.open(create=False) as api:
        click.echo(f"{job} is {api.jobs.cancel(job).state}")


@command.command("queue", cls=Command)
@parameters.form(TABLE, "json")
@target
def queue(*, form: str, target: Target) -> None:
    """Show the queue: number of jobs by kind and state, and the workers.

    Workers are listed if they were active within a minute.

      agon jobs queue
    """
    with target.open(create=False) as api:
        _print(api.jobs.queue(), form)


@command.command("pause", cls=Command)
@parameters.form(TABLE, "json")
@target
def pause(*, form: str, target: Target) -> None:
    """Pause the queue: no more jobs are claimed; jobs in progress are finished.

    A paused queue without leased jobs is drained.

      agon jobs pause
    """
    from agon.api.models.jobs import QueueUpdate

    with target.open(create=False) as api:
        _print(api.jobs.set_queue(QueueUpdate(paused=True)), form)


@command.command("resume", cls=Command)
@parameters.form(TABLE, "json")
@target
def resume(*, form: str, target: Target) -> None:
    """Resume the queue: jobs are claimed again.

    Workers notice within a second.

      agon jobs resume
    """
    from agon.api.models.jobs import QueueUpdate

    with target.open(create=False) as api:
        _print(api.jobs.set_queue(QueueUpdate(paused=False)), form)


def _draw_list(rows: list[dict[str, Any]], output: Path | None) -> None:
    """Draw jobs, and below them the causes of failures, which are too long for a table."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    lists.add_rows(out, rows, columns=_LISTED, empty="no jobs")
    for row in rows:
        if row["state"] == "failed":
            out.line(f"{row['id']}: {row['cause']}", style="red")
    if any(row["state"] == "failed" for row in rows):
        out.line("agon jobs retry ID queues a job again; agon jobs show ID lists all causes")
    out.deliver()


def _draw_job(row: dict[str, Any]) -> None:
    from agon.cli.shared.tables import Output

    out = Output()
    out.line(f"job {row['id']}", style="bold")
    for name in _ABOUT:
        if row[name] is not None:
            out.line(f"{name.replace('_', ' ')}: {lists.format_value(row[name])}")
    out.line(f"attempts: {row['attempts']} of {row['max_attempts']} at most")
    if row["progress"] is not None and row["state"] == "leased":
        out.line(f"progress: {row['progress']:.0%}")
    if row["position"] is not None:
        eta = row["eta_seconds"]
        wait = "" if eta is None else f", about {eta:,.0f} s"
        out.line(f"before it in the queue: {row['position']}{wait}")
    for failure in row["causes"]:
        at = lists.format_value(failure["at"])
        out.line(f"{at} {failure['worker'] or ''}: {failure['cause']}", style="red")
    out.deliver()


def _print(view: "Queue", form: str) -> None:
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(view)), None)
        return
    from agon.cli.shared.tables import Column, Output

    out = Output()
    drained = " (drained: agon jobs resume continues)" if view.leased == 0 else ""
    state = (
        f"paused, {view.leased} leased{drained}"
        if view.paused
        else (f"running, {view.leased} leased")
    )
    out.line(state, style="bold")
    if view.counts:
        out.table(
            [
                Column(
                    name, [str(getattr(count, name)) for count in view.counts], right=name == "jobs"
                )
                for name in ("kind", "state", "jobs")
            ]
        )
    for count in view.workers:
        out.line(f"worker {count.name}: {', '.join(count.kinds)}")
    out.deliver()
