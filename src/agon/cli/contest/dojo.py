"""``agon contest publish|submit``, and how problems, programs and verdicts are drawn."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.dojo.arguments import show_understood
from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.client import Api

_PROBLEM_FIELDS: Final = (
    "id", "slug", "title", "N_check", "first_index", "freeze_started_at", "revealed", "interface",
    "setter_user_id", "feedback",
)  # fmt: skip
_MAX_TERMS_SHOWN: Final = 5
_POLL_S: Final = 1.0
_MAX_WAIT_S: Final = 600
_ONCE: Final = ("source", "agent", "user_id", "problem_id", "created_at")


@click.command("publish", cls=Command)
@arguments.contest
@click.argument("package", metavar="PACKAGE", type=click.Path(path_type=Path))
@parameters.form(TABLE, "json")
@target
def publish(contest: str, package: Path, *, form: str, target: Target) -> None:
    """Validate the setter in PACKAGE and publish its problem in ID.

    PACKAGE contains problem.json and setter.py, as for agon dojo publish. A worker runs the setter;
    the problem is published when it is valid. The ids of the problem and of the job are printed.

      agon contest publish autumn primes/
    """
    from agon.app.dojo.problems import read_problem

    problem = read_problem(package)
    package_fields = {**problem.declaration(), "source": problem.source.decode()}
    from agon.api.models.submissions import ProblemCreate

    with target.open(create=False) as api:
        receipt = api.problems.publish(contest, ProblemCreate(package=package_fields))
    if form == "json":
        deliver_json({"problem": receipt.id, "job": lists.plain_values(receipt.job)})
        return
    click.echo(receipt.id)
    show_understood(problem)
    click.echo(
        f"job {receipt.job.id} is {receipt.job.state}; agon jobs list --contest {contest} shows it",
        err=True,
    )


@click.command("submit", cls=Command)
@arguments.contest
@click.argument(
    "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@option("--problem", required=True, metavar="P", help="The problem's id or slug.")
@option("--user", metavar="U", help="The submission's author (default: the token's user).")
@option("--tag", metavar="T", help="The method's tag.")
@option("--notes", metavar="N", help="Free text.")
@option("--wait", is_flag=True, help="Wait for the verdict, at most 10 minutes.")
@parameters.form(TABLE, "json")
@target
def submit(  # noqa: PLR0913 (a parameter for each option)
    contest: str,
    file: Path,
    *,
    problem: str,
    user: str | None,
    tag: str | None,
    notes: str | None,
    wait: bool,
    form: str,
    target: Target,
) -> None:
    """Send the solver in FILE to a problem of ID; a worker judges it.

    The submission's id is printed; agon contest submissions shows its verdict when it is judged.
    With direct access to a database, --user is required. --wait prints the verdict as well; without
    one after 10 minutes the exit code is 5.

      agon contest submit autumn solver.py --problem 4f6c… --server https://agon.example
    """
    from agon.api.models.submissions import SubmissionCreate
    from agon.errors import Unreadable

    try:
        source = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is not UTF-8 text; save it as UTF-8") from None
    content = {"source": source, "method_tag": tag, "notes": notes}
    with target.open(create=False) as api:
        request = SubmissionCreate(
            content={name: value for name, value in content.items() if value is not None},
            problem=problem,
            user=user,
        )
        receipt = api.submissions.create(contest, request)
        outcome = _wait_for_verdict(api, contest, receipt.id) if wait else None
    if form == "json":
        deliver_json(lists.plain_values(receipt) if outcome is None else outcome)
        return
    click.echo(receipt.id)
    if outcome is not None:
        row = _submission_row(outcome)
        echo(f"{row['verdict']}: {row['reason']}" if row.get("reason") else row["verdict"])
        return
    for job in receipt.jobs:
        click.echo(f"job {job.id} is {job.state}", err=True)
    click.echo(f"its verdict: agon contest submissions {contest} {receipt.id}", err=True)


def draw_submissions(
    listed: Sequence[Mapping[str, Any]], columns: Sequence[str], output: Path | None
) -> None:
    """Draw submissions with their recorded verdicts."""
    rows = list(map(_submission_row, listed))
    lists.draw_rows(rows, columns=columns, output=output, empty="no submissions")


def draw_submission(fields: Mapping[str, Any], output: Path | None) -> None:
    """Draw a submission in lines, and its program."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    for name, value in _submission_row(fields).items():
        if value not in (None, ""):
            out.line(f"{name.replace('_', ' ')}: {lists.format_value(value)}")
    if source := fields["content"].get("source"):
        out.line("")
        out.line(source.rstrip("\n"))
    out.deliver()


def _wait_for_verdict(api: "Api", contest: str, submission: str) -> dict[str, Any]:
    """Return a submission with its verdict.

    Raises:
        Unavailable: it has none after :data:`_MAX_WAIT_S` seconds.
    """
    from agon.errors import Unavailable

    for _ in range(int(_MAX_WAIT_S / _POLL_S)):
        fields: dict[str, Any] = lists.plain_values(api.submissions.get(contest, submission))
        if fields["records"]:
            return fields
        time.sleep(_POLL_S)
    raise Unavailable(
        f"{submission} is sent and has no verdict after {_MAX_WAIT_S} seconds; look later: "
        f"agon contest submissions {contest} {submission}"
    )


def draw_problem(fields: Mapping[str, Any], output: Path | None) -> None:
    """Draw a problem in lines: its ids are too long for a table."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    for name in _PROBLEM_FIELDS:
        if fields.get(name) is not None:
            out.line(f"{name.replace('_', ' ')}: {lists.format_value(fields[name])}")
    if (most := fields.get("max_submissions")) is not None:
        made = fields.get("submissions")
        out.line(f"max submissions: {most:,}" + ("" if made is None else f", {made:,} made"))
    disclosed = fields["disclosed"][:_MAX_TERMS_SHOWN]
    terms = "  ".join(f"a_{term['n']} = {term['a']}" for term in disclosed)
    out.line(f"{terms}  …; --format json has all disclosed terms")
    out.deliver()


def _submission_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission as a row with its recorded verdict, if it has one."""
    submission_fields = {name: fields[name] for name in ("id", "user", "at", "problem")}
    row = fields["records"][0] if fields["records"] else {"verdict": "not judged yet"}
    first = {name: row[name] for name in ("verdict", "reason", "terms_matched") if name in row}
    return (
        submission_fields
        | first
        | {name: row[name] for name in row if name not in (*submission_fields, *_ONCE)}
    )
