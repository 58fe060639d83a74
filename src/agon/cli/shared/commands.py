"""Click commands, groups and options with the conventions of this command line.

Help texts are wrapped; indented examples keep their lines. An option can be set by an environment
variable named after it.
"""

import os
import re
from functools import partial
from inspect import cleandoc
from typing import Any

import click

_EXAMPLES = re.compile(r"\n\n(?= {2})")
_KEEP = "\b\n"  # Click does not rewrap a paragraph that begins with it


def _text(command: click.Command) -> str:
    return _EXAMPLES.sub(f"\n\n{_KEEP}", cleandoc(command.help or ""))


class Command(click.Command):
    """A command whose help contains examples."""

    def format_help_text(
        self,
        ctx: click.Context,  # noqa: ARG002 (Click's signature)
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help text."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_text(self))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a format that was not given is that of the ending of ``--output``."""
        if {"form", "output"} <= set(ctx.params):
            from agon.cli.shared.output import chosen_form

            form, output = ctx.params["form"], ctx.params["output"]
            if ctx.get_parameter_source("form") is click.core.ParameterSource.DEFAULT:
                form = None
            formats = next(p.type for p in self.params if p.name == "form")
            choices = formats.choices if isinstance(formats, click.Choice) else ()
            ctx.params["form"] = chosen_form(form, output, choices)
        return super().invoke(ctx)


class Group(Command, click.Group):
    """A group of commands whose help contains examples."""

    command_class = Command


class Option(click.Option):
    """An option that can also be set by ``AGON_<COMMAND>_<OPTION>``."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the variable's value; None when it is not set, or empty."""
        variable = self.opts[0].lstrip("-").replace("-", "_").upper()
        return os.environ.get(f"{ctx.auto_envvar_prefix}_{variable}") or None


option = partial(click.option, cls=Option)
