"""Convert between rows and entities: times are microseconds, values of several parts JSON text.

Which column is what, the entity's annotations say: ``datetime`` is a time, a tuple or a mapping is
JSON, and everything else is stored as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sqlalchemy import Row

from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import json_text, parse_json

T = TypeVar("T")

_Convert = Callable[[Any], Any]


def columns_of(entity: Any) -> dict[str, Any]:
    """Return the columns of an entity, each named as its field.

    Example:
        >>> from dataclasses import dataclass
        >>> from datetime import UTC
        >>> @dataclass
        ... class Note:
        ...     at: datetime
        ...     tags: tuple[str, ...]
        >>> columns_of(Note(at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), tags=("a",)))
        {'at': 1000000, 'tags': '["a"]'}
    """
    converts = _converts(type(entity))  # type: ignore[arg-type]  # classes are hashable
    values: dict[str, Any] = {}
    for name, content in vars(entity).items():
        both = converts[name]
        values[name] = content if both is None or content is None else both[0](content)
    return values


def entity_of(kind: type[T], row: Row[Any], **others: Any) -> T:
    """Return the entity of a row, and of values that the row does not have."""
    return entity_of_values(kind, row, row._fields, **others)


def entity_of_values(
    kind: type[T], row: Sequence[Any], columns: tuple[str, ...], **others: Any
) -> T:
    """Return the entity of the values of some columns, and of others.

    Columns that are no fields of the entity are left out.
    """
    values = {
        name: row[at] if read is None or row[at] is None else read(row[at])
        for at, name, read in _readers(kind, columns)  # type: ignore[arg-type]  # classes are hashable
    }
    return kind(**values, **others)


@cache
def _readers(kind: type, columns: tuple[str, ...]) -> tuple[tuple[int, str, _Convert | None], ...]:
    """Return place, name and conversion of the columns that are fields of an entity."""
    converts = _converts(kind)
    return tuple(
        (at, name, None if (both := converts[name]) is None else both[1])
        for at, name in enumerate(columns)
        if name in converts
    )


@cache
def _converts(kind: type) -> Mapping[str, tuple[_Convert, _Convert] | None]:
    """Return how each field of an entity is written and read; None: it is stored as it is."""
    hints = get_type_hints(kind)
    names: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # every kind is a dataclass
    return {name: _convert(hints[name]) for name in names}


def _convert(annotation: Any) -> tuple[_Convert, _Convert] | None:
    # An optional field is a union, whose first part is what is stored.
    is_union = isinstance(annotation, UnionType) or get_origin(annotation) is Union
    stated = get_args(annotation)[0] if is_union else annotation
    if stated is datetime:
        return to_micros, from_micros
    if stated is bool:
        return bool, bool  # SQLite's driver returns a number
    origin = get_origin(stated)
    if isinstance(origin, type) and issubclass(origin, (tuple, Mapping)):
        return json_text, _parse
    return None


def _parse(text: str) -> Any:
    parsed = parse_json(text)
    return tuple(parsed) if isinstance(parsed, list) else parsed
