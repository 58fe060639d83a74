"""Describe the commands that operations declare: ``python -m agon.cli.generated.description``."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from agon.api.catalog import all_operations
from agon.api.command import Command, Option, command_help
from agon.api.models.base import Items, Page, Resource
from agon.api.operation import Operation, Parameter
from agon.cli.generated.specification import FILE, Field, Place, Specification, plain

_TYPES: Final = {
    bool: "switch", int: "integer", float: "number", datetime: "time", dict: "settings",
}  # fmt: skip
_ROWS: Final = ("table", "json", "ndjson", "csv")


def describe() -> dict[str, Specification]:
    """Return the commands that operations declare, by their names."""
    return {
        command.name: specification(operation, command)
        for operation in all_operations()
        for command in operation.commands
    }


def text() -> str:
    """Return the content of ``commands.json``."""
    commands = [plain(each) for _, each in sorted(describe().items())]
    return json.dumps(commands, indent=1, ensure_ascii=False) + "\n"


def specification(operation: Operation[Any, Any], command: Command) -> Specification:
    """Describe a command: options by the request's fields, columns by the result."""
    shown = operation.returns
    generic = getattr(shown, "__pydantic_generic_metadata__", {})
    is_list = generic.get("origin") in {Page, Items}
    if is_list:
        (shown,) = generic["args"]
    formats: tuple[str, ...] = ()
    if command.columns:
        formats = _ROWS
    elif command.formats or not (command.says or command.once):
        formats = _ROWS[:2]
    body = next((each for each in operation.parameters if each.kind == "body"), None)
    model = None if body is None else _model(body)
    return Specification(
        name=command.name,
        operation=_place_of(operation),
        help=command_help(operation.function, command.name),
        fields=tuple(_fields(operation, command)),
        request="" if model is None else f"{model.__module__}:{model.__qualname__}",
        shows=shown.__name__ if isinstance(shown, type) and issubclass(shown, Resource) else "",
        formats=formats,
        before=_operations_of(command.before),
        one=_operations_of(command.one),
        rows=_rows(operation, command) if command.columns else "",
        columns=command.columns,
        blank=command.blank,
        top=command.top,
        fixed=command.fixed,
        any_of=command.any_of,
        says=command.says,
        note=command.note,
        once=command.once,
        creates=command.creates,
    )


def _place_of(operation: Operation[Any, Any]) -> str:
    """Return the module and the function of an operation."""
    return f"{operation.function.__module__}:{operation.function.__name__}"


def _operation(name: str) -> Operation[Any, Any]:
    """Return the operation with an id."""
    return next(each for each in all_operations() if each.id == name)


def _operations_of(options: Mapping[str, Option]) -> dict[str, str]:
    """Return the module and the function of each option's operation, by the option's name."""
    return {_name_of(option): _place_of(_operation(each)) for each, option in options.items()}


def _name_of(option: Option) -> str:
    return option.flags.lstrip("-").replace("-", "_")


def _rows(operation: Operation[Any, Any], command: Command) -> str:
    return command.rows or operation.path.rpartition("/")[2].replace("-", "_")


def _model(body: Parameter) -> Any:
    return next(iter(get_args(body.annotation)), body.annotation)


def _fields(operation: Operation[Any, Any], command: Command) -> Iterator[Field]:
    """Yield arguments, then options: first those that the command declares, in its order."""
    if operation.of_contest:
        yield Field(name="contest", place="path", type="contest", metavar="ID", required=True)
    options: dict[str, Field] = {}
    for parameter in operation.parameters:
        if parameter.kind == "path":
            metavar = parameter.name.upper() if operation.of_contest else "ID"
            yield Field(name=parameter.name, place="path", metavar=metavar, required=True)
        elif parameter.kind == "body":
            for name, info in _model(parameter).model_fields.items():
                field = _option(name, "body", info, command.options.get(name, Option()))
                options[name] = _of_change(field) if operation.method == "PATCH" else field
        elif parameter.kind == "query":
            info = FieldInfo.from_annotated_attribute(parameter.annotation, parameter.default)
            declared = command.options.get(parameter.name, Option())
            options[parameter.name] = _option(parameter.name, "query", info, declared)
    ordered = {name: options.pop(name) for name in command.options} | options
    for name, option in ordered.items():
        if name not in command.without and name not in command.fixed:
            yield option
    yield from _own_fields(command)


def _own_fields(command: Command) -> Iterator[Field]:
    """Yield the options that are no fields of the operation."""
    places: tuple[tuple[Place, Mapping[str, Option]], ...] = (
        ("before", command.before), ("one", command.one),
    )  # fmt: skip
    for place, options in places:
        for declared in options.values():
            yield Field(name=_name_of(declared), place=place,
                        flags="" if declared.argument else declared.flags,
                        metavar=declared.metavar, help=declared.help)  # fmt: skip
    for name, text in command.flags.items():
        flag = f"--{name.replace('_', '-')}"
        yield Field(name=name, place="own", flags=flag, type="flag", help=text)


def _option(name: str, place: Place, info: FieldInfo, declared: Option) -> Field:
    kinds, metadata = _unwrap(info.annotation)
    metadata += info.metadata
    default = None if info.default is PydanticUndefined else info.default
    choices: tuple[str, ...] = ()
    kind, multiple = kinds[0], False
    if get_origin(kind) is tuple:
        (kind, *_), more = _unwrap(get_args(kind)[0])
        multiple, metadata, default = True, more, None
    if get_origin(kind) is Literal:
        choices = get_args(kind)
    flags = declared.flags or f"--{name.replace('_', '-')}"
    is_flag = (kind is bool and default is False) or declared.switch is not None
    letter = flags.lstrip("-")[0].upper()
    return Field(
        name=name,
        place=place,
        flags="" if declared.argument else flags,
        type="flag" if is_flag else declared.type or _TYPES.get(get_origin(kind) or kind, "text"),
        choices=choices,
        least=_bound(metadata, Ge, "ge"),
        most=_bound(metadata, Le, "le"),
        above=_bound(metadata, Gt, "gt"),
        multiple=multiple,
        required=info.is_required() if declared.required is None else declared.required,
        default=None if is_flag else float(default) if kind is float and default else default,
        metavar=""
        if is_flag or choices or kind is bool
        else declared.metavar or _metavar(kind, letter),
        help=declared.help or info.description or "",
        switch=declared.switch,
    )


def _of_change(field: Field) -> Field:
    """Return a field of a change: what is not given stays as it is, a time can be removed."""
    kind = "time-or-none" if field.type == "time" else field.type
    return replace(field, type=kind, default=None)


def _metavar(kind: Any, letter: str) -> str:
    return "N" if kind in {int, float} else letter


def _unwrap(annotation: Any) -> tuple[list[Any], list[Any]]:
    """Return the types of an annotation without None, and the constraints on them."""
    if get_origin(annotation) is Annotated:
        kinds, metadata = _unwrap(get_args(annotation)[0])
        return kinds, [*metadata, *get_args(annotation)[1:]]
    if get_origin(annotation) in {Union, UnionType}:
        kinds, metadata = [], []
        for each in get_args(annotation):
            if each is not type(None):
                more, constraints = _unwrap(each)
                kinds, metadata = [*kinds, *more], [*metadata, *constraints]
        return kinds, metadata
    return [annotation], []


def _bound(metadata: list[Any], kind: type, name: str) -> float | None:
    return next((getattr(each, name) for each in metadata if isinstance(each, kind)), None)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
