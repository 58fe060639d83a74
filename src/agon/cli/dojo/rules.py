"""``agon dojo rules``: what a program may use, before it is written."""

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver


@click.command("rules", cls=Command)
@parameters.edition_option
@parameters.overrides_option
@parameters.form(TABLE, "json")
def show_rules(*, edition: str | None, overrides: dict[str, str], form: str) -> None:
    """Show what a program may import and use: modules, names, versions, limits.

    The versions are those of this installation; a judge elsewhere records its own with each
    verdict. All rules of an edition, with their reasons: agon rules show dojo/0.2.

      agon dojo rules
      agon dojo rules --edition 0.2 --format json
    """
    from agon.app.dojo.conditions import conditions, sentences
    from agon.app.dojo.inspection import rules_in_force

    found = conditions(rules_in_force(edition, overrides))
    if form == "json":
        from agon.cli.shared.formats import json_text

        deliver([json_text(found).encode() + b"\n"], None)
        return
    for heading, text in sentences(found):
        click.echo(f"{heading}: {text}")
