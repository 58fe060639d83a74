"""How an operation is a command of the command line: what its fields do not say.

Names, types, choices, bounds, defaults and help texts of options are those of the operation's
fields and parameters, as in OpenAPI. The help text of the command is in the docstring of the
operation, below a line ``$ agon NAME``.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

_HELP: Final = re.compile(r"^\$ agon (.+)\n((?:\n| {4}.*(?:\n|\Z))+)", re.MULTILINE)


@dataclass(frozen=True)
class Option:
    """How a field is given on the command line, where it differs from what the field says.

    Attributes:
        flags: the option's names, such as ``--event``; empty: the field's name. Of an argument that
            is no field, its name.
        help: its help text; empty: the field's description.
        metavar: what stands for its value; empty: the first letter of the name.
        type: ``discipline``, ``edition``, ``settings`` (``key=value``) or empty.
        required: whether the command requires it; None: as the field does.
        argument: whether it is given by its position.
        switch: a flag's values of the field, without it and with it.
    """

    flags: str = ""
    _: KW_ONLY
    help: str = ""
    metavar: str = ""
    type: str = ""
    switch: tuple[Any, Any] | None = None
    required: bool | None = None
    argument: bool = False


@dataclass(frozen=True)
class Command:
    """A command that executes an operation.

    Attributes:
        name: the words after ``agon``.
        columns: of the table of a list, in their order.
        rows: the list's key in JSON; empty: the last word of the path.
        blank: what a column shows instead of an empty list.
        top: the default of ``--top``; 0: the list has no such option, -1: all rows.
        options: what differs, by the field's name; these options come first, in this order.
        flags: help texts of flags that are no fields, by their names; a handler reads them.
        before: by an operation's id the option that executes it first: the value is its last
            placeholder.
        one: by an operation's id the option or argument with which it is executed instead of a
            list: the value, its last placeholder, is the item to show.
        fixed: values of fields that are no options.
        without: parameters that are no options.
        any_of: fields of which one has to be given, and the reason in front of them.
        says: the line it prints; ``{result}`` is the result, other names are parameters; a bool is
            shown by ``{result.active:on|off}``, a list by ``{result.events:what an empty one is}``.
        note: the line on stderr.
        once: the result's field that is shown only once: alone on stdout, or in the file ``--out``.
        formats: whether a command that prints a line has ``--format``.
        creates: whether a missing database is created.
    """

    name: str
    _: KW_ONLY
    columns: tuple[str, ...] = ()
    rows: str = ""
    blank: Mapping[str, str] = field(default_factory=dict)
    top: int = 0
    options: Mapping[str, Option] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, Option] = field(default_factory=dict)
    one: Mapping[str, Option] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    says: str = ""
    note: str = ""
    once: str = ""
    formats: bool = False
    creates: bool = False


def command_help(function: Callable[..., Any], name: str) -> str:
    """Return the help text of a command, from its operation's docstring.

    Raises:
        KeyError: there is none.
    """
    text = inspect.getdoc(function) or ""
    return {each[1]: textwrap.dedent(each[2]).strip("\n") for each in _HELP.finditer(text)}[name]


def without_commands(docstring: str) -> str:
    r"""Return a docstring without the help texts of commands.

    Example:
        >>> without_commands("Return jobs.\n\n$ agon jobs list\n    List jobs.\n")
        'Return jobs.'
    """
    return _HELP.sub("", docstring).rstrip()
