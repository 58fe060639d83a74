"""Make the reference of the library from signatures and docstrings, as Markdown."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property, reduce
from importlib import import_module
from operator import or_
from textwrap import dedent, indent
from types import GenericAlias, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import numpy.typing as npt
from pydantic import BaseModel

from agon.api.command import without_commands
from agon.api.operation import Operation
from agon.app.analysis.records import RecordsSource

_PATH = re.compile(r"\b(?:[a-z_][a-z0-9_]*\.)+(?=[A-Za-z_])")
_ROLE = re.compile(r":[a-z]+:`[~.]*([^`<]+?)`")
_QUOTED = re.compile(r"(Literal\[[^\]]*\])|(: |-> |\[|, )'([\w\[\], .|]+)'")
_FUNCTION = re.compile(r"<(?:built-in )?function ([\w.<>]+?)(?: at 0x\w+)?>(?=[,)])")
_CONTEST = inspect.Parameter("contest", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
_RECEIVERS = ("self", "cls", "ctx")
_SECTION = re.compile(r"(?m)^(Args|Attributes|Returns|Yields|Raises|Example|Examples):\n")
_ITEM = re.compile(r"(?m)^(?=\S)([\w*, .`]+): +")


def members(argument: str) -> str:
    """Describe members of a module; ``MODULE: NAME, NAME`` or all public ones of ``MODULE``."""
    path, _, names = argument.partition(":")
    module = import_module(path.strip())
    chosen = [name.strip() for name in names.split(",") if name.strip()] or _public(module)
    short = "agon." if path.strip() == "agon" else ""
    return "\n\n".join(
        part for name in chosen for part in _entry(short + name, getattr(module, name))
    )


def _public(module: Any) -> list[str]:
    return [
        name for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        and (inspect.isclass(value) or inspect.isfunction(value))
    ]  # fmt: skip


def _entry(name: str, value: Any) -> Iterator[str]:
    """Yield heading, signature and text of a function or class, then the members of a class."""
    yield f"### `{name}`"
    if inspect.isclass(value) and issubclass(value, BaseModel):
        yield _text(value)
        yield from _fields(value)
        return
    if not inspect.isclass(value) or inspect.isfunction(value.__init__):
        yield f"```text\n{_signature(name, value)}\n```"
    yield _text(value)
    if inspect.isclass(value):
        for member, each in vars(value).items():
            if not member.startswith("_"):
                yield from _member(member, each)


def _member(name: str, value: Any) -> Iterator[str]:
    """Yield a method, a property or an operation of a class as an item."""
    function = value.function if isinstance(value, Operation) else value
    if isinstance(value, (classmethod, staticmethod)):
        function = value.__func__
    if isinstance(value, (property, cached_property)):
        head, function = f"`{name}`", value.fget if isinstance(value, property) else value.func
    elif inspect.isfunction(function):
        head = f"`{_signature(name, function)}`"
    else:
        return
    if inspect.getdoc(function):
        lines = _text(function).split("\n")
        yield indent("\n".join([f"{head}: {lines[0]}", *lines[1:]]), "  ").replace("  ", "- ", 1)


def _fields(model: type[BaseModel]) -> Iterator[str]:
    """Yield a list of a model's fields."""
    lines = []
    for name, field in model.model_fields.items():
        kind = _PATH.sub("", inspect.formatannotation(_plain_type(field.annotation)))
        lines.append(
            f"- `{name}`: `{kind}`" + (f". {field.description}" if field.description else "")
        )
    if lines:
        yield "\n".join(lines)


class _Name(str):
    """The name of a type that is too long to be written out."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _plain_type(annotation: Any) -> Any:
    """Return a type without its constraints."""
    for named, name in ((RecordsSource, "RecordsSource"), (npt.ArrayLike, "ArrayLike")):
        if annotation == named:
            return _Name(name)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _plain_type(arguments[0])
    if origin in {Union, UnionType}:
        return reduce(or_, map(_plain_type, arguments))
    if origin in {tuple, list, dict}:
        return GenericAlias(origin, tuple(map(_plain_type, arguments)))
    return annotation


def _signature(name: str, value: Any) -> str:
    """Return a call with short names of types; an operation takes the contest it is called for."""
    signature = inspect.signature(value)
    shown = [
        each.replace(annotation=_plain_type(each.annotation))
        for each in signature.parameters.values()
        if each.name not in _RECEIVERS
    ]
    if "ContestContext" in str(signature.parameters.get("ctx", "")):
        shown.insert(0, _CONTEST)
    result = _plain_type(signature.return_annotation)
    signature = signature.replace(parameters=shown, return_annotation=result)
    # A quoted type is a name; the quoted values of a Literal are values.
    text = _QUOTED.sub(lambda quoted: quoted[1] or quoted[2] + quoted[3], str(signature))
    text = _FUNCTION.sub(r"\1", text)
    return f"{name}{_PATH.sub('', text)}"


def _text(value: Any) -> str:
    """Return a docstring as Markdown: roles as code, sections as lists, examples as a console."""
    docstring = without_commands(inspect.getdoc(value) or "")
    text = _ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", docstring)
    first, *sections = _SECTION.split(text.replace("``", "`"))
    parts = [_paragraphs(first)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        section, after = _split(body)
        if title.startswith("Example"):
            parts.append(_paragraphs(section))
        elif title in {"Returns", "Yields"}:
            parts.append(f"{title}: {' '.join(section.split())}")
        else:
            parts.append(f"{title}:\n\n{_items(section)}")
        parts.append(_paragraphs(after))
    return "\n\n".join(filter(None, parts))


def _split(body: str) -> tuple[str, str]:
    """Split the indented lines of a section from the text that follows them."""
    lines = body.split("\n")
    ends = (at for at, line in enumerate(lines) if line and not line.startswith(" "))
    end = next(ends, len(lines))
    return dedent("\n".join(lines[:end])), "\n".join(lines[end:])


def _paragraphs(text: str) -> str:
    """Return text with its indented blocks as code."""
    blocks = [block for block in re.split(r"\n\n+", text.strip("\n")) if block.strip()]
    shown = []
    for block in blocks:
        if dedent(block).startswith(">>>") or block.startswith("    "):
            shown.append(f"```text\n{dedent(block)}\n```")
        else:
            shown.append(re.sub(r"::$", ":", dedent(block)))
    return "\n\n".join(shown)


def _items(body: str) -> str:
    """Return the items of a section as a list."""
    items: list[str] = []
    for line in body.split("\n"):
        if line and not line.startswith(" ") and _ITEM.match(line):
            items.append("- " + _ITEM.sub(r"`\1`: ", line, count=1))
        elif line.strip().startswith("* "):
            items.append(f"  {line.strip()}")
        elif line.strip() and items:
            items[-1] += " " + line.strip()
        elif line.strip():
            items.append(f"- {line.strip()}")
    return "\n".join(items)
