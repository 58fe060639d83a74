"""``agon cases``: cases about findings and disputes, with all their steps."""

from typing import TYPE_CHECKING

import click

from agon.cli.generated.commands import add_generated
from agon.cli.shared import lists
from agon.cli.shared.commands import Group

if TYPE_CHECKING:
    from agon.api.models.cases import Case


@click.group("cases", cls=Group)
def command() -> None:
    """Handle findings and disputes as cases: open, note, decide, appeal, close.

    A decision is an entry of the ledger and changes no score by itself; a change set does (agon
    contest void), which the decision can name.

      agon cases open spring --about j3 --title 'Votes in a second' --text 'question sent'
      agon cases decide spring CASE --decision 'votes void' --reason 'logs' --change CHANGE
      agon cases appeal spring CASE --text 'the network was slow'
    """


add_generated(command)


def draw_case(case: "Case") -> None:
    """Print a case with its steps."""
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
