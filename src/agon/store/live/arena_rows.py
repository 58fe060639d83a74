"""Convert between rows of live arenas and their entities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeVar

from sqlalchemy import Row

from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import json_text, parse_json

T = TypeVar("T")

_JSON: Final = frozenset({"body", "result", "recent_prompts", "recent_templates", "states",
                               "summary"})  # fmt: skip
"""Columns with JSON text."""


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """What became of a result that was handed in.

    Attributes:
        is_stored: whether the work had none before.
        is_last: whether it is stored, and no other work of the round waits.
    """

    is_stored: bool
    is_last: bool


def columns_of(value: Any) -> dict[str, Any]:
    """Return the columns of an entity: times as microseconds, values of JSON columns as text."""
    values: dict[str, Any] = {}
    for name, content in vars(value).items():
        if name in _JSON:
            values[name] = None if content is None else json_text(content)
        else:
            values[name] = to_micros(content) if isinstance(content, datetime) else content
    return values


def entity_of(kind: type[T], row: Row[Any], **others: Any) -> T:
    """Return the entity of a row, and of values that the row does not have."""
    return entity_of_values(kind, row, row._fields, **others)


def entity_of_values(
    kind: type[T], row: Sequence[Any], columns: tuple[str, ...], **others: Any
) -> T:
    """Return the entity of the values of some columns, and of others."""
    values = {
        name: row[index] if read is None or row[index] is None else read(row[index])
        for index, name, read in _readers(kind, columns)  # type: ignore[arg-type]  # classes are hashable
    }
    return kind(**values, **others)


@cache
def _readers(
    kind: type, columns: tuple[str, ...]
) -> tuple[tuple[int, str, Callable[[Any], Any] | None], ...]:
    """Return place, name and conversion of the columns that are fields of an entity."""
    readers: list[tuple[int, str, Callable[[Any], Any] | None]] = []
    fields: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # every kind is a dataclass
    for index, name in enumerate(columns):
        if name not in fields:
            continue
        read: Callable[[Any], Any] | None = None
        if name in _JSON:
            read = _json_value
        elif name.endswith(("_at", "_until")) or name == "deadline":
            read = from_micros
        elif fields[name].type is bool:  # SQLite's driver returns a number
            read = bool
        readers.append((index, name, read))
    return tuple(readers)


def _json_value(text: str) -> Any:
    parsed = parse_json(text)
    return tuple(parsed) if isinstance(parsed, list) else parsed
