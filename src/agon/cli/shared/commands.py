"""Click commands, groups and options with the conventions of this command line.

Help is shown as it is written: paragraphs are wrapped, indented examples are kept. An option is
found in the environment under the name it is typed by.
"""

import os
import re
from functools import partial
from inspect import cleandoc

import click

_EXAMPLES = re.compile(r"\n\n(?= {2})")
_KEEP = "\b\n"  # Click does not rewrap a paragraph that begins with it


def _text(command: click.Command) -> str:
    return _EXAMPLES.sub(f"\n\n{_KEEP}", cleandoc(command.help or ""))


class Command(click.Command):
    """Show a command's help with its examples."""

    def format_help_text(
        self,
        ctx: click.Context,  # noqa: ARG002 (Click's signature)
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help text."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_text(self))


class Group(Command, click.Group):
    """Show a group's help with its examples; its commands show theirs."""

    command_class = Command


class Option(click.Option):
    """Take an option's value from ``AGON_<COMMAND>_<OPTION>`` when it is not typed."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the variable's value; None when it is not set, or empty."""
        spelt = self.opts[0].lstrip("-").replace("-", "_").upper()
        return os.environ.get(f"{ctx.auto_envvar_prefix}_{spelt}") or None


option = partial(click.option, cls=Option)
