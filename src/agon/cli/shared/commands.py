"""Click commands, groups and options with the conventions of this command line.

Help texts are wrapped; indented examples keep their lines. An option can be set by an environment
variable named after it.
"""

import os
import re
from collections.abc import Callable, Iterator
from functools import partial, wraps
from inspect import cleandoc, signature
from typing import Any

import click

Function = Callable[..., Any]
"""A function that becomes a command; decorators add its options."""

_EXAMPLES = re.compile(r"\n\n(?= {2})")
_SURE = 0.75  # how similar a command of another group has to be to be suggested
_ANNUL = ("agon contest annul", "agon contest edit")
_SYNONYMS = {
    "ban": ("agon contest withdraw",),
    "cancel": _ANNUL,
    "close": ("agon contest freeze", "agon contest finalize"),
    "delete": _ANNUL,
    "end": ("agon contest freeze", "agon contest finalize"),
    "remove": _ANNUL,
    "undo": ("agon contest rollback", "agon contest unfinalize"),
}  # what other tools call it; a ledger is not deleted
_OPTIONS = {"--interval": "--ci", "--override": "--set", "--overrides": "--set", "--rule": "--set"}
"""Options by what the library calls their arguments, which no option is similar to."""
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; for the library's name of an option, suggest the option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            option = _OPTIONS.get(unknown.option_name)
            if option in {name for parameter in self.params for name in parameter.opts}:
                # As for commands: Click keeps of given names those that are similar.
                vars(unknown)["possibilities"] = [option]
            raise

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown name, suggest the closest ones of all groups."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand:
            unknown = click.NoSuchCommand(args[0], ctx=ctx)
            # Click keeps of given names those that are similar; a path is similar to nothing.
            vars(unknown)["possibilities"] = _suggestions(ctx, self, args[0])
            raise unknown from None


def _suggestions(ctx: click.Context, group: Group, name: str) -> list[str]:
    """Return the commands that may be meant: of this name elsewhere, or close to it.

    The last word of a path is what users remember; the group is what they forget.
    """
    from difflib import get_close_matches

    root = ctx.find_root()
    own = group.list_commands(ctx)
    paths = list(_paths(root.command, root, "agon"))
    words = name.replace("-", " ").replace("_", " ").split()
    same = [path for path in paths if words and path.split()[-len(words) :] == words]
    close = get_close_matches(name, own)
    meant = list(_SYNONYMS.get(words[-1], ())) if words else []
    if same or meant or close:
        return same or meant or close
    last = {path.rpartition(" ")[2]: path for path in paths}
    return [last[word] for word in get_close_matches(name, last, n=1, cutoff=_SURE)]


def _paths(command: click.Command, ctx: click.Context, path: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield path
        return
    for name in command.list_commands(ctx):
        if (below := command.get_command(ctx, name)) is not None:
            yield from _paths(below, ctx, f"{path} {name}")


class Option(click.Option):
    """An option that can also be set by ``AGON_<COMMAND>_<OPTION>``."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the typed value.

        Raises:
            BadParameter: for what is no number, with the numbers that are right.
        """
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            if (expected := _numbers(self.type)) and not _is_number(self.type, value):
                text = f"expected {expected}, got {value!r}"
                raise click.BadParameter(text, ctx=ctx, param=self) from None
            raise

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the variable's value; None when it is not set, or empty."""
        variable = self.opts[0].lstrip("-").replace("-", "_").upper()
        return os.environ.get(f"{ctx.auto_envvar_prefix}_{variable}") or None


def _numbers(kind: click.ParamType[Any]) -> str | None:
    """Return the numbers that an option can have, in words; None: it is no number.

    Example:
        >>> _numbers(click.IntRange(1, 500)), _numbers(click.FloatRange(min=0, min_open=True))
        ('a whole number from 1 to 500', 'a number above 0')
    """
    if not isinstance(kind, (click.types.IntParamType, click.types.FloatParamType)):
        return None
    number = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    if least is None:
        return number if most is None else f"{number} up to {most:,}"
    lower = "above" if getattr(kind, "min_open", False) else "from"
    if most is None:
        return f"{number} {lower} {least:,}" + ("" if lower == "above" else " on")
    return f"{number} {lower} {least:,} {'up ' if lower == 'above' else ''}to {most:,}"


def _is_number(kind: click.ParamType[Any], value: Any) -> bool:
    try:
        (int if isinstance(kind, click.types.IntParamType) else float)(value)
    except (TypeError, ValueError):
        return False
    return True


option = partial(click.option, cls=Option)


def all_options(
    options: tuple[Callable[[Function], Function], ...], function: Function
) -> Function:
    """Add options to a command, in their order."""
    for decorator in reversed(options):
        function = decorator(function)
    return function


def together(
    name: str, make: Callable[..., Any], *options: Callable[[Function], Function]
) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, which receives them as one value.

    Args:
        name: the parameter of the command.
        make: returns the value; its parameters are those of the options.
        options: the options, in their order.

    Example:
        >>> @together("z", complex, option("--real"), option("--imag"))
        ... def command(*, z: complex, digits: int) -> str:
        ...     return f"{z:.{digits}f}"
        >>> command(real=1.5, imag=2, digits=1)
        '1.5+2.0j'
    """
    names = tuple(signature(make).parameters)

    def add(function: Function) -> Function:
        @wraps(function)
        def call(*arguments: Any, **values: Any) -> Any:
            value = make(**{each: values.pop(each) for each in names})
            return function(*arguments, **{name: value}, **values)

        return all_options(options, call)

    return add
