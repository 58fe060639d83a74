"""Print the run of an agent that was submitted to a contest, and the details of a trial."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agon.api.models.submissions import TrialDetails, TrialPart, TrialRun


def draw_run(run: "TrialRun") -> None:
    """Print how far a run is, and a table of its trials."""
    from agon.cli.shared import lists
    from agon.cli.shared.tables import echo
    from agon.kernel.text.captions import count_text

    counts = "".join(f", {count:,} {result}" for result, count in run.counts.items())
    total = count_text(run.total, "trial")
    echo(f"{run.ended:,} of {total} ended{counts}; {run.seconds:g} s together")
    columns = ("task", "result", "reason", "rewards", "agent_network", "seconds", "tokens")
    rows = [
        {
            **lists.plain_values(trial),
            "result": trial.result or trial.state,
            "rewards": " · ".join(f"{key} {value:g}" for key, value in trial.rewards.items()),
        }
        for trial in run.trials
    ]
    lists.print_rows(rows, form="table", name="trials", columns=columns, output=None)


def draw_details(details: "TrialDetails") -> None:
    """Print what happened in a trial, each text below what wrote it."""
    for part in details.parts:
        _draw_part(part)


def _draw_part(part: "TrialPart") -> None:
    from agon.cli.shared.tables import echo

    title = f"step {part.name}: {part.result}" if part.name else part.result
    echo(f"{title}: {part.reason}" if part.reason else title)
    for line in (*part.facts, *(f"note: {note}" for note in part.notes)):
        echo(line)
    for step in part.steps:
        echo(f"\n{step.number} · {step.source}")
        for text in (step.text, *(f"$ {call}" for call in step.calls), *step.outputs):
            if text.strip():
                echo(text)
    for printed in part.printed:
        echo(f"\n{printed.name}")
        echo(printed.text)
