"""``agon cases``: findings and disputes that somebody looks into, step by step."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli import listing, parameters
from agon.cli.contest import arguments
from agon.cli.helping import Command, Group, option
from agon.cli.output import TABLE, deliver
from agon.cli.places import Place, place

if TYPE_CHECKING:
    from agon.api.models.cases import Case

_LISTED: Final = ("id", "state", "opened_at", "title", "subjects")
_case = click.argument("case", metavar="CASE")
_text = option("--text", required=True, metavar="T", help="What is said; it stays in the case.")
_form = parameters.form(TABLE, "json")


@click.group("cases", cls=Group)
def command() -> None:
    """Look into findings and disputes: open a case, note, decide, appeal, close.

    People decide. A decision is an entry of the ledger and moves no score by itself; what does is
    a change set (agon contest void), which the decision may name.

      agon cases open spring --about j3 --title 'Votes in a second' --text 'asked them'
      agon cases decide spring CASE --decision 'votes void' --reason 'logs' --change CHANGE
      agon cases appeal spring CASE --text 'the network was slow'
    """


@command.command("list", cls=Command)
@arguments.contest
@listing.form
@parameters.output
@place
def list_(contest: str, *, form: str, output: Path | None, place: Place) -> None:
    """List the cases of ID, oldest first.

    They are for organisers.

      agon cases list spring
    """
    with place.open(create=False) as house:
        rows = [listing.plainly(one) for one in house.cases.list(contest)]
    listing.print_rows(rows, form=form, name="cases", columns=_LISTED, output=output)


@command.command("show", cls=Command)
@arguments.contest
@_case
@_form
@place
def show(contest: str, case: str, *, form: str, place: Place) -> None:
    """Show CASE of ID with every step: who said and decided what, and when.

    agon cases list tells the ids.

      agon cases show spring CASE
    """
    with place.open(create=False) as house:
        _print(house.cases.get(contest, case), form)


@command.command("open", cls=Command)
@arguments.contest
@_text
@option("--title", metavar="T", help="What it is about (default: the finding's message).")
@option("--about", "subjects", multiple=True, metavar="P", help="Whom; may be repeated.")
@option(
    "--finding",
    type=click.IntRange(min=0),
    metavar="N",
    help="Place of a finding in agon contest findings, from 0.",
)
@_form
@place
def open_(
    contest: str,
    *,
    text: str,
    title: str | None,
    subjects: tuple[str, ...],
    finding: int | None,
    form: str,
    place: Place,
) -> None:
    """Open a case in ID, from a finding or by hand.

    A finding stays in the case as it is now, whatever a later look finds.

      agon cases open spring --finding 0 --text 'to be asked'
      agon cases open spring --about j3 --title 'Disputed votes' --text 'ada complained'
    """
    if title is None and finding is None:
        raise click.UsageError("say what it is about: --title T, or --finding N")
    from agon.api.models.cases import CaseCreate

    with place.open(create=False) as house:
        made = house.cases.open(
            contest, CaseCreate(text=text, title=title, subjects=subjects, finding=finding)
        )
    _print(made, form)


@command.command("note", cls=Command)
@arguments.contest
@_case
@_text
@_form
@place
def note(contest: str, case: str, *, text: str, form: str, place: Place) -> None:
    """Add a note to CASE of ID.

    A closed case takes none.

      agon cases note spring CASE --text 'j3 has answered'
    """
    from agon.api.models.cases import NoteRequest

    with place.open(create=False) as house:
        _print(house.cases.add_note(contest, case, NoteRequest(text=text)), form)


@command.command("decide", cls=Command)
@arguments.contest
@_case
@option("--decision", required=True, metavar="D", help="What is decided, in few words.")
@option("--reason", required=True, metavar="R", help="Why; it stands in the case for ever.")
@option("--change", metavar="CHANGE", help="The change set by which it takes effect, if it does.")
@_form
@place
def decide(
    contest: str,
    case: str,
    *,
    decision: str,
    reason: str,
    change: str | None,
    form: str,
    place: Place,
) -> None:
    """Decide CASE of ID; the decision is entered into the ledger.

    Scores move by a change set alone: apply it first, and name it.

      agon cases decide spring CASE --decision dismissed --reason 'a slow network'
      agon cases decide spring CASE --decision 'votes void' --reason logs --change CHANGE
    """
    from agon.api.models.cases import DecisionRequest

    with place.open(create=False) as house:
        done = house.cases.decide(
            contest, case, DecisionRequest(decision=decision, reason=reason, change=change)
        )
    _print(done, form)


@command.command("appeal", cls=Command)
@arguments.contest
@_case
@_text
@_form
@place
def appeal(contest: str, case: str, *, text: str, form: str, place: Place) -> None:
    """Appeal against the decision of CASE of ID.

    Those the case is about may, with a token of their own, and organisers for them; then it is
    decided anew.

      agon cases appeal spring CASE --text 'the network was slow'
    """
    from agon.api.models.cases import NoteRequest

    with place.open(create=False) as house:
        _print(house.cases.appeal(contest, case, NoteRequest(text=text)), form)


@command.command("close", cls=Command)
@arguments.contest
@_case
@_text
@_form
@place
def close(contest: str, case: str, *, text: str, form: str, place: Place) -> None:
    """Close CASE of ID; nothing is added to it any more.

    What comes later is another case.

      agon cases close spring CASE --text 'no appeal came'
    """
    from agon.api.models.cases import NoteRequest

    with place.open(create=False) as house:
        _print(house.cases.close(contest, case, NoteRequest(text=text)), form)


def _print(told: "Case", form: str) -> None:
    if form == "json":
        from agon.cli.formats import json_chunks

        deliver(json_chunks(listing.plainly(told)), None)
        return
    from agon.cli.drawing import Paper, listed

    paper = Paper()
    paper.line(f"case {told.id} · {told.state}", style="bold")
    paper.line(told.title)
    if told.subjects:
        paper.line(f"about: {listed(told.subjects, most=20)}")
    for step in told.steps:
        decision = f" {step['decision']}:" if step.get("decision") else ""
        change = f" (change set {step['change']})" if step.get("change") else ""
        when = listing.told(step["at"])
        paper.line(f"{when} {step['by']} {step['kind']}:{decision} {step['text']}{change}")
    paper.deliver()
