"""``agon jobs``: the jobs and the queue of the service."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.generated.commands import add_generated
from agon.cli.shared import lists
from agon.cli.shared.commands import Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agon.api.models.jobs import Job, Queue

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


add_generated(command)


def with_cause(row: dict[str, Any]) -> dict[str, Any]:
    """Return a job's row with the cause of its last failure."""
    return row | {"cause": row["causes"][-1]["cause"] if row["causes"] else None}


def draw_jobs(
    rows: "Sequence[Mapping[str, Any]]", columns: "Sequence[str]", output: Path | None
) -> None:
    """Draw jobs, and below them the causes of failures, which are too long for a table."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    lists.add_rows(out, rows, columns=columns, empty="no jobs")
    for row in rows:
        if row["state"] == "failed":
            out.line(f"{row['id']}: {row['cause']}", style="red")
    if any(row["state"] == "failed" for row in rows):
        out.line("agon jobs retry ID queues a job again; agon jobs show ID lists all causes")
    out.deliver()


def draw_job(job: "Job") -> None:
    """Print what is known of a job."""
    from agon.cli.shared.tables import Output

    row = lists.plain_values(job)
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
        time = lists.format_value(failure["at"])
        out.line(f"{time} {failure['worker'] or ''}: {failure['cause']}", style="red")
    out.deliver()


def draw_queue(view: "Queue") -> None:
    """Print the number of jobs by kind and state, and the workers."""
    from agon.cli.shared.tables import Output, TableColumn

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
                TableColumn(
                    name, [str(getattr(count, name)) for count in view.counts], right=name == "jobs"
                )
                for name in ("kind", "state", "jobs")
            ]
        )
    for count in view.workers:
        out.line(f"worker {count.name}: {', '.join(count.kinds)}")
    out.deliver()
