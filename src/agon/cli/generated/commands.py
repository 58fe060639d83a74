"""Click commands that are made from their specifications."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import click

from agon.cli.generated.specification import MAX_DRAWN_ROWS, Field, Specification, specifications
from agon.cli.shared import arguments, lists, parameters
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.target import target

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_SHARED: Final[Mapping[str, Decorator]] = {
    "contest": arguments.contest,
    "edition": parameters.edition_option,
    "settings": parameters.overrides_option,
}
"""Parameters that other commands have, too."""


def add_generated(group: Group) -> None:
    """Add the generated commands below a group, by their names."""
    for name, specification in specifications().items():
        if name.rpartition(" ")[0] == group.name:
            group.add_command(generated_command(specification))


def generated_command(specification: Specification) -> click.Command:
    """Make a Click command of a specification; its call is sent to the operation."""
    own = [field.name for field in specification.fields]

    def function(**values: Any) -> None:
        from agon.cli.generated.call import Call

        fields = {each: values.pop(each) for each in own}
        Call(specification, fields, **values).run()

    for decorate in reversed(list(_parameters(specification))):
        function = decorate(function)
    name = specification.name.rpartition(" ")[2]
    # click drops the indent that all lines but the first share: of two lines, the example's.
    return click.command(name, cls=Command, help=f"\n{specification.help}")(function)


def _parameters(specification: Specification) -> Iterator[Decorator]:
    yield from map(_parameter, specification.fields)
    if specification.top:
        yield _top(specification.top)
    if specification.once:
        yield arguments.secret_file
    if specification.columns:
        yield lists.form
        yield parameters.output
    elif specification.formats:
        yield parameters.form(*specification.formats)
    yield target


def _parameter(field: Field) -> Decorator:
    if field.type in _SHARED:
        return _SHARED[field.type]
    if not field.flags:
        return click.argument(field.name, metavar=field.metavar, required=field.required)
    if field.type == "flag":
        return option(field.flags, field.name, is_flag=True, help=field.help)
    if field.type == "switch":
        return option(field.flags, field.name, default=None, help=field.help)
    return option(
        field.flags,
        field.name,
        type=_type(field),
        multiple=field.multiple,
        required=field.required,
        default=field.default,
        show_default=field.default not in (None, ""),
        metavar=field.metavar or None,
        help=field.help,
    )


def _type(field: Field) -> Any:
    if field.choices:
        return click.Choice(field.choices)
    if field.type == "discipline":
        return parameters.DisciplineName()
    if field.type in {"integer", "number"}:
        ranged: Any = click.IntRange if field.type == "integer" else click.FloatRange
        least = field.least if field.above is None else field.above
        return ranged(least, field.most, min_open=field.above is not None)
    return str


def _top(default: int) -> Decorator:
    if default > 0:
        shown: dict[str, Any] = {"default": default, "show_default": True, "help": "The newest N."}
    else:
        shown = {"help": f"The newest N (default: all; as a table {MAX_DRAWN_ROWS})."}
    return option("--top", type=click.IntRange(min=1), metavar="N", **shown)
