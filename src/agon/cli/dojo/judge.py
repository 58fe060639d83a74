"""``agon dojo judge`` and ``rejudge``: verdicts that become records."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.dojo import arguments
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.dojo.judge import JudgeSummary, JudgingProgress
    from agon.app.dojo.rejudge import RejudgeSummary
    from agon.app.files import FileIssue

_PROGRESS_INTERVAL_S = 2.0
_MAX_SHOWN = 20

_jobs = option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many programs run at a time (default: one for each processor).",
)


@click.command("judge", cls=Command)
@click.argument("problem", metavar="PROBLEM_DIR", type=click.Path(path_type=Path))
@click.argument("submissions", metavar="SUBMISSIONS_DIR", type=click.Path(path_type=Path))
@option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The season's folder; it may hold other problems, or a part of this one's verdicts.",
)
@_jobs
@arguments.mode
@parameters.edition_option
@parameters.overrides_option
@parameters.form(TABLE, "json")
def judge_submissions(  # one parameter for each option
    problem: Path,
    submissions: Path,
    *,
    out: Path,
    jobs: int | None,
    mode: Any,
    edition: str | None,
    overrides: dict[str, str],
    form: str,
) -> None:
    """Judge submissions to a problem; DIR can then be scored.

    PROBLEM_DIR holds problem.json and setter.py. SUBMISSIONS_DIR holds USER/SUBMISSION/solver.py,
    and optionally solution.json (method_tag, notes) and submission.json (created_at; without it,
    when solver.py was last modified). Each submission gets one verdict, stored at once: an
    interrupted run continues where it was, and no program that has a verdict runs again. DIR/ledger
    holds the hidden answers, and the edition whose rules say what programs may import; a folder
    keeps the one it was begun with. Packages that cannot be judged are listed in
    DIR/refused.ndjson.

      agon dojo judge primes/ submissions/ --out season/
      agon dojo judge primes/ submissions/ --out season/ --edition 0.2
      agon score dojo season/
    """
    from agon.app.dojo.judge import judge
    from agon.app.dojo.problems import read_problem
    from agon.wiring import sandbox

    parsed = read_problem(problem)
    with sandbox(mode, workers=jobs) as opened, _show_progress("judged") as progress:
        judged = judge(
            parsed, submissions, out, opened, edition=edition, overrides=overrides,
            progress=progress,
        )  # fmt: skip
    _report(judged, out)
    counts = Counter(str(row["verdict"]) for row in judged.rows)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        summary = {
            "problem_id": judged.problem_id,
            "judged": len(judged.rows),
            "kept": judged.repeated,
            "verdicts": dict(sorted(counts.items())),
            "refused": [str(issue) for issue in judged.issues],
            "to_check": [str(issue) for issue in judged.remarks],
            "after_freeze": list(judged.late),
            "mode": opened.mode,
        }
        deliver(json_chunks(summary), None)
        return
    click.echo(f"problem\t{judged.problem_id}")
    for verdict, count in sorted(counts.items()):
        click.echo(f"{verdict}\t{count}")


@click.command("rejudge", cls=Command)
@click.argument("season", metavar="SEASON", type=click.Path(path_type=Path))
@option("--problem", metavar="ID", help="Only this problem (its id, or how the id begins).")
@option(
    "--apply", "applied", is_flag=True, help="Let the new verdicts count; the ledger keeps the old."
)
@_jobs
@arguments.mode
@parameters.form(TABLE, "json")
def rejudge_season(
    season: Path, *, problem: str | None, applied: bool, jobs: int | None, mode: Any, form: str
) -> None:
    """Run a judged SEASON again as a set and show which verdicts change.

    Nothing counts unless it is applied: then the new verdicts replace the old ones at once, as one
    change set in the season's ledger, which keeps the old ones.

      agon dojo rejudge season/
      agon dojo rejudge season/ --problem 9f86d081 --apply
    """
    from agon.app.dojo.rejudge import rejudge
    from agon.wiring import sandbox

    with sandbox(mode, workers=jobs) as opened, _show_progress("run again") as progress:
        summary = rejudge(season, opened, problem_id=problem, apply=applied, progress=progress)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        changes = [change.to_dict() for change in summary.changes]
        deliver(json_chunks({"runs": summary.runs, "applied": applied, "changes": changes}), None)
    else:
        _draw(summary)
    if summary.change is not None:
        effect = f"applied as change set {summary.change}; the ledger keeps the earlier verdicts"
        click.echo(effect, err=True)
    elif summary.changes:
        click.echo("nothing was changed; --apply lets the new verdicts count", err=True)


@contextmanager
def _show_progress(label: str) -> Iterator[Callable[["JudgingProgress"], None]]:
    """Show progress on stderr: a bar in a terminal, else a line every two seconds."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda now: bar.update(task, completed=now.done, total=now.total)
        return
    last_shown = time.monotonic()

    def show(now: "JudgingProgress") -> None:
        nonlocal last_shown
        if now.done == now.total or time.monotonic() - last_shown >= _PROGRESS_INTERVAL_S:
            last_shown = time.monotonic()
            click.echo(f"{label}: {now.done:,} of {now.total:,}", err=True)

    yield show


def _report(judged: "JudgeSummary", out: Path) -> None:
    """Report on stderr what needs attention."""
    _list(judged.issues, "could not be judged")
    _list(judged.remarks, "to check")
    if judged.late:
        count = f"{len(judged.late):,} came after the freeze"
        click.echo(f"{count}: judged and recorded, left unscored by after_freeze", err=True)
    failed = sum(row["verdict"] == "sandbox_error" for row in judged.rows)
    if failed:
        click.echo(
            f"{failed:,} runs failed in the sandbox itself; the same command repeats them", err=True
        )
    if judged.repeated:
        click.echo(f"{judged.repeated:,} had their verdict already", err=True)
    click.echo(f"wrote {out}; agon score dojo {out} scores it", err=True)


def _list(issues: "tuple[FileIssue, ...]", heading: str) -> None:
    from agon.kernel.text.visible import visible_text

    for issue in issues[:_MAX_SHOWN]:
        click.echo(f"{heading}: {visible_text(str(issue))}", err=True)
    if len(issues) > _MAX_SHOWN:
        click.echo(f"{heading}: {len(issues) - _MAX_SHOWN:,} more", err=True)


def _draw(summary: "RejudgeSummary") -> None:
    from agon.cli.shared.tables import Output, TableColumn

    out = Output()
    out.line(f"{summary.runs:,} runs, {len(summary.changes):,} verdicts change")
    if summary.changes:
        rows = [change.to_dict() for change in summary.changes]
        columns = [
            TableColumn("submission", [row["id"] for row in rows]),
            TableColumn("verdict before", [row["verdict_before"] for row in rows]),
            TableColumn("verdict after", [row["verdict_after"] for row in rows]),
            TableColumn("terms before", [_text(row["terms_matched_before"]) for row in rows]),
            TableColumn("terms after", [_text(row["terms_matched_after"]) for row in rows]),
        ]
        out.table(columns)
    out.deliver()


def _text(value: int | None) -> str:
    return "" if value is None else str(value)
