"""Convert between rows of live arenas and their entities."""

from dataclasses import dataclass
from datetime import datetime
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
    columns = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name
    values = {name: columns[name] for name in kind.__dataclass_fields__ if name in columns}  # type: ignore[attr-defined]  # every kind is a dataclass
    for name, content in values.items():
        if content is None:
            continue
        if name in _JSON:
            parsed = parse_json(content)
            values[name] = tuple(parsed) if isinstance(parsed, list) else parsed
        elif name.endswith(("_at", "_until")) or name == "deadline":
            values[name] = from_micros(content)
    return kind(**values, **others)
