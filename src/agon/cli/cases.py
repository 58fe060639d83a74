"""``agon cases``: cases about findings and disputes, with all their steps."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.contest import arguments
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.api.models.cases import Case

_LISTED: Final = ("id", "state", "opened_at", "title", "subjects")
_case = click.argument("case", metavar="CASE")
_text = option("--text", required=True, metavar="T", help="Text of the step; stored in the case.")
_form = parameters.form(TABLE, "json")


@click.group("cases", cls=Group)
def command() -> None:
    """Handle findings and disputes as cases: open, note, decide, appeal, close.

    A decision is an entry of the ledger and changes no score by itself; a change set does (agon
    contest void), which the decision can name.

      agon cases open spring --about j3 --title 'Votes in a second' --text 'question sent'
      agon cases decide spring CASE --decision 'votes void' --reason 'logs' --change CHANGE
      agon cases appeal spring CASE --text 'the network was slow'
    """


@command.command("list", cls=Command)
@arguments.contest
@lists.form
@parameters.output
@target
def list_(contest: str, *, form: str, output: Path | None, target: Target) -> None:
    """List the cases of ID, oldest first.

    Only organizers can list cases.

      agon cases list spring
    """
    with target.open(create=False) as api:
        rows = [lists.plain_values(case) for case in api.cases.list(contest)]
    lists.print_rows(rows, form=form, name="cases", columns=_LISTED, output=output)


@command.command("show", cls=Command)
@arguments.contest
@_case
@_form
@target
def show(contest: str, case: str, *, form: str, target: Target) -> None:
    """Show CASE of ID with every step: time, author, kind and text.

    agon cases list shows the ids.

      agon cases show spring CASE
    """
    with target.open(create=False) as api:
        _print(api.cases.get(contest, case), form)


@command.command("open", cls=Command)
@arguments.contest
@_text
@option("--title", metavar="T", help="Title (default: the finding's message).")
@option(
    "--about",
    "subjects",
    multiple=True,
    metavar="P",
    help="A subject of the case; may be repeated.",
)
@option(
    "--finding",
    type=click.IntRange(min=0),
    metavar="N",
    help="Index of a finding in agon contest findings, from 0.",
)
@_form
@target
def open_(
    contest: str,
    *,
    text: str,
    title: str | None,
    subjects: tuple[str, ...],
    finding: int | None,
    form: str,
    target: Target,
) -> None:
    """Open a case in ID, from a finding or by hand.

    The case stores the finding as it is now; later scans do not change it.

      agon cases open spring --finding 0 --text 'question sent'
      agon cases open spring --about j3 --title 'Disputed votes' --text 'ada complained'
    """
    if title is None and finding is None:
        raise click.UsageError("a case needs a subject; give --title T or --finding N")
    from agon.api.models.cases import CaseCreate

    with target.open(create=False) as api:
        case = api.cases.open(
            contest, CaseCreate(text=text, title=title, subjects=subjects, finding=finding)
        )
    _print(case, form)


@command.command("note", cls=Command)
@arguments.contest
@_case
@_text
@_form
@target
def note(contest: str, case: str, *, text: str, form: str, target: Target) -> None:
    """Add a note to CASE of ID.

    Nothing can be added to a closed case.

      agon cases note spring CASE --text 'j3 has answered'
    """
    from agon.api.models.cases import NoteRequest

    with target.open(create=False) as api:
        _print(api.cases.add_note(contest, case, NoteRequest(text=text)), form)


@command.command("decide", cls=Command)
@arguments.contest
@_case
@option("--decision", required=True, metavar="D", help="The decision, in a few words.")
@option("--reason", required=True, metavar="R", help="The reason; stored in the case permanently.")
@option("--change", metavar="CHANGE", help="The change set that applies the decision.")
@_form
@target
def decide(
    contest: str,
    case: str,
    *,
    decision: str,
    reason: str,
    change: str | None,
    form: str,
    target: Target,
) -> None:
    """Decide CASE of ID; the decision is entered into the ledger.

    Only a change set changes scores: apply it first and name it here.

      agon cases decide spring CASE --decision dismissed --reason 'a slow network'
      agon cases decide spring CASE --decision 'votes void' --reason logs --change CHANGE
    """
    from agon.api.models.cases import DecisionRequest

    with target.open(create=False) as api:
        done = api.cases.decide(
            contest, case, DecisionRequest(decision=decision, reason=reason, change=change)
        )
    _print(done, form)


@command.command("appeal", cls=Command)
@arguments.contest
@_case
@_text
@_form
@target
def appeal(contest: str, case: str, *, text: str, form: str, target: Target) -> None:
    """Appeal against the decision of CASE of ID.

    The subjects of the case can appeal with their own tokens, and organizers for them; the case is
    then decided again.

      agon cases appeal spring CASE --text 'the network was slow'
    """
    from agon.api.models.cases import NoteRequest

    with target.open(create=False) as api:
        _print(api.cases.appeal(contest, case, NoteRequest(text=text)), form)


@command.command("close", cls=Command)
@arguments.contest
@_case
@_text
@_form
@target
def close(contest: str, case: str, *, text: str, form: str, target: Target) -> None:
    """Close CASE of ID; nothing can be added to it afterwards.

    Later facts need a new case.

      agon cases close spring CASE --text 'no appeal came'
    """
    from agon.api.models.cases import NoteRequest

    with target.open(create=False) as api:
        _print(api.cases.close(contest, case, NoteRequest(text=text)), form)


def _print(case: "Case", form: str) -> None:
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        deliver(json_chunks(lists.plain_values(case)), None)
        return
    from agon.cli.shared.tables import Output, names_text

    out = Output()
    out.line(f"case {case.id} · {case.state}", style="bold")
    out.line(case.title)
    if case.subjects:
        out.line(f"about: {names_text(case.subjects, most=20)}")
    for step in case.steps:
        decision = f" {step['decision']}:" if step.get("decision") else ""
        change = f" (change set {step['change']})" if step.get("change") else ""
        when = lists.format_value(step["at"])
        out.line(f"{when} {step['by']} {step['kind']}:{decision} {step['text']}{change}")
    out.deliver()
