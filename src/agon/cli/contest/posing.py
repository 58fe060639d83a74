"""``agon contest problems|publish|reveal|submit|submissions``: problems, programs, verdicts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from agon.cli import listing, parameters
from agon.cli.contest import arguments
from agon.cli.helping import Command, option
from agon.cli.output import TABLE, deliver
from agon.cli.places import Place, place

_COLUMNS = ("id", "title", "N_check", "freeze_started_at", "revealed")
_SENT: Final = ("id", "user", "verdict", "terms_matched", "at", "problem")
_TERMS_FOR_PEOPLE: Final = 5
_ONCE: Final = ("source", "agent", "user_id", "problem_id", "created_at")


@click.command("problems", cls=Command)
@arguments.contest
@option("--problem", metavar="P", help="Only this one, with its answer once it is revealed.")
@listing.form
@parameters.output
@place
def problems(
    contest: str, *, problem: str | None, form: str, output: Path | None, place: Place
) -> None:
    """List the problems of ID; --format json has the disclosed terms, which solvers work from.

    Source and terms are shown once they are revealed.

      agon contest problems autumn
      agon contest problems autumn --problem 4f6c…
      agon contest problems autumn --format json --output problems.json
    """
    with place.open(create=False) as house:
        if problem is None:
            found = [listing.plainly(one) for one in house.problems.list(contest)]
        else:
            found = [listing.plainly(house.problems.get(contest, problem))]
    if problem is not None and form == TABLE:
        _draw_problem(found[0], output)
        return
    listing.print_rows(found, form=form, name="problems", columns=_COLUMNS, output=output)


@click.command("publish", cls=Command)
@arguments.contest
@click.argument("package", metavar="PACKAGE", type=click.Path(path_type=Path))
@parameters.form(TABLE, "json")
@place
def publish(contest: str, package: Path, *, form: str, place: Place) -> None:
    """Have the setter in PACKAGE go through its gate and publish its problem in ID.

    PACKAGE holds problem.json and setter.py, as for agon dojo publish. A worker runs the setter;
    the problem is there when it has passed. The problem's id and the job's are printed.

      agon contest publish autumn primes/
    """
    from agon.app.dojo.problems import read_problem

    problem = read_problem(package)
    sent = {**problem.declared(), "source": problem.source.decode()}
    from agon.api.models.submissions import ProblemCreate

    with place.open(create=False) as house:
        done = house.problems.publish(contest, ProblemCreate(package=sent))
    if form == "json":
        _deliver({"problem": done.id, "job": listing.plainly(done.job)})
        return
    click.echo(done.id)
    click.echo(
        f"job {done.job.id} is {done.job.state}; agon jobs list --contest {contest} tells of it",
        err=True,
    )


@click.command("reveal", cls=Command)
@arguments.contest
@click.argument("problem", metavar="PROBLEM")
@place
def reveal(contest: str, problem: str, *, place: Place) -> None:
    """Let everybody see source and terms of PROBLEM; it has to be past its freeze.

    From then on everybody can verify the problem's hash and judge again.

      agon contest reveal autumn 4f6c…
    """
    with place.open(create=False) as house:
        house.problems.reveal(contest, problem)
    click.echo(f"{problem} is revealed")


@click.command("submit", cls=Command)
@arguments.contest
@click.argument(
    "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@option("--problem", required=True, metavar="P", help="The problem's id.")
@option("--user", metavar="U", help="Whose it is (default: the token's user).")
@option("--tag", metavar="T", help="The method's tag.")
@option("--notes", metavar="N", help="For people.")
@parameters.form(TABLE, "json")
@place
def submit(
    contest: str,
    file: Path,
    *,
    problem: str,
    user: str | None,
    tag: str | None,
    notes: str | None,
    form: str,
    place: Place,
) -> None:
    """Send the solver in FILE to a problem of ID; a worker judges it.

    The submission's id is printed; agon contest submissions shows its verdict when its turn has
    come. Beside a database, --user says whose it is.

      agon contest submit autumn solver.py --problem 4f6c… --server https://agon.example
    """
    from agon.api.models.submissions import SubmissionCreate
    from agon.errors import Unreadable

    try:
        source = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is no UTF-8 text; save it as UTF-8") from None
    content = {"source": source, "method_tag": tag, "notes": notes}
    with place.open(create=False) as house:
        request = SubmissionCreate(
            content={name: value for name, value in content.items() if value is not None},
            problem=problem,
            user=user,
        )
        done = house.submissions.create(contest, request)
    if form == "json":
        _deliver(listing.plainly(done))
        return
    click.echo(done.id)
    for job in done.jobs:
        click.echo(f"job {job.id} is {job.state}", err=True)
    click.echo(f"its verdict: agon contest submissions {contest} {done.id}", err=True)


@click.command("submissions", cls=Command)
@arguments.contest
@click.argument("submission", metavar="[SUBMISSION]", required=False)
@listing.form
@parameters.output
@place
def submissions(
    contest: str, submission: str | None, *, form: str, output: Path | None, place: Place
) -> None:
    """List what was sent to ID to be judged, oldest first, or show one with its program.

    Organisers see all, participants their own.

      agon contest submissions autumn
      agon contest submissions autumn 01a2… --format json
    """
    with place.open(create=False) as house:
        if submission is None:
            found = [listing.plainly(one) for one in house.submissions.list(contest)]
        else:
            found = [listing.plainly(house.submissions.get(contest, submission))]
    if submission is None or form != TABLE:
        rows = [_judged(one) for one in found] if form == TABLE else found
        listing.print_rows(rows, form=form, name="submissions", columns=_SENT, output=output)
        return
    from agon.cli.drawing import Paper

    paper = Paper(output)
    for name, value in _judged(found[0]).items():
        if value not in (None, ""):
            paper.line(f"{name.replace('_', ' ')}: {listing.told(value)}")
    if source := found[0]["content"].get("source"):
        paper.line("")
        paper.line(source.rstrip("\n"))
    paper.deliver()


def _draw_problem(told: Mapping[str, Any], output: Path | None) -> None:
    """Draw a problem line by line: a table of ids this long has no room for the rest."""
    from agon.cli.drawing import Paper

    paper = Paper(output)
    for name in (*_COLUMNS, "interface", "setter_user_id"):
        if told.get(name) is not None:
            paper.line(f"{name.replace('_', ' ')}: {listing.told(told[name])}")
    terms = "  ".join(f"a_{one['n']} = {one['a']}" for one in told["disclosed"][:_TERMS_FOR_PEOPLE])
    paper.line(f"{terms}  …; --format json has all that are disclosed")
    paper.deliver()


def _judged(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission in one row with what was recorded of it; else it still waits."""
    sent = {name: told[name] for name in ("id", "user", "at", "problem")}
    row = told["records"][0] if told["records"] else {"verdict": "not judged yet"}
    first = {name: row[name] for name in ("verdict", "reason", "terms_matched") if name in row}
    return sent | first | {name: row[name] for name in row if name not in (*sent, *_ONCE)}


def _deliver(told: dict[str, Any]) -> None:
    from agon.cli.formats import json_chunks

    deliver(json_chunks(told), None)
