"""What is stored of a generated command: its help text, options and output."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

FILE: Final = Path(__file__).with_name("commands.json")

MAX_DRAWN_ROWS: Final = 50
"""Rows of a table whose list has no end (``top`` is -1)."""

Place: TypeAlias = Literal["path", "query", "body", "own", "before", "one"]


@dataclass(frozen=True, kw_only=True)
class Field:
    """A parameter or a field of an operation, as an argument or an option.

    Attributes:
        name: its name in the operation.
        place: where the operation takes it; own: it is the command's own; before: another operation
            is executed first, with it; one: another operation is executed instead, with it.
        flags: the option's names; empty: an argument.
        type: text, integer, number, time or time-or-none, flag, switch, settings, discipline,
            edition, or contest (an id).
        choices: the values it can have; empty: any.
        least, most: bounds; above: a bound that is excluded.
        multiple: whether it can be given several times.
        required: whether it has to be given.
        default: where it is not given.
        metavar: what stands for its value.
        help: what it is.
        switch: a flag's values of the field, without it and with it.
    """

    name: str
    place: Place
    flags: str = ""
    type: str = "text"
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    multiple: bool = False
    required: bool = False
    default: Any = None
    metavar: str = ""
    help: str = ""
    switch: tuple[Any, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A generated command.

    Attributes:
        name: the words after ``agon``.
        operation: the module and the function of the operation.
        help: the help text.
        fields: arguments and options.
        request: the module and the class of the body; empty: there is none.
        shows: the class of the result, or of a list's items.
        formats: the values of ``--format``; empty: no such option.
        before, one: the module and the function of the operation of each such option, by its name.
        rows, columns, blank, top, fixed, any_of, says, note, once, creates: as in
            :class:`agon.api.command.Command`.
    """

    name: str
    operation: str
    help: str
    fields: Sequence[Field] = ()
    request: str = ""
    shows: str = ""
    formats: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    one: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    columns: tuple[str, ...] = ()
    blank: Mapping[str, str] = field(default_factory=dict)
    top: int = 0
    fixed: Mapping[str, Any] = field(default_factory=dict)
    any_of: tuple[str, ...] = ()
    says: str = ""
    note: str = ""
    once: str = ""
    creates: bool = False


@cache
def specifications() -> Mapping[str, Specification]:
    """Return the generated commands by their names."""
    stored = json.loads(FILE.read_bytes())
    return {
        values["name"]: Specification(
            **values | {"fields": [Field(**each) for each in values["fields"]]}
        )
        for values in stored
    }


def plain(value: Specification | Field) -> dict[str, Any]:
    """Return a specification as JSON values, without those that are the default."""
    values = {
        each.name: getattr(value, each.name)
        for each in fields(value)
        if getattr(value, each.name) not in (each.default, (), {})
    }
    if isinstance(value, Specification):
        values["fields"] = [plain(each) for each in value.fields]
    return values
