"""Base classes and field types of all requests and resources."""

import re
from copy import copy
from dataclasses import fields, is_dataclass
from datetime import datetime
from inspect import get_annotations, getdoc
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    TypeVar,
    dataclass_transform,
)

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from agon.kernel.text.plain_json import unstorable
from agon.kernel.times import in_utc, zone_fault

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

T = TypeVar("T")


class Request(BaseModel):
    """The body of a request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1_000_000)


class Query(BaseModel):
    """The query parameters of a request, as one value; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
class Resource(BaseModel, frozen=True):
    """A response; clients ignore fields that a newer server adds.

    A resource that shows an entity has its dataclass as second base. Its fields are those of the
    entity, all required, each described by the section ``Attributes:`` of the entity's docstring or
    of its base's; a field that is declared again is as declared. ``hide`` names those that are not
    returned.

    Raises:
        TypeError: ``hide`` names no field of the entity, or not one that the entity's own text
            leaves out (``repr=False``), as it does secrets.

    Example:
        >>> from dataclasses import dataclass, field
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Door:
        ...     '''A door.
        ...
        ...     Attributes:
        ...         width: in centimeters.
        ...     '''
        ...
        ...     width: int
        ...     key: bytes = field(repr=False)
        >>> class DoorResource(Resource, Door, hide=("key",)):
        ...     '''A door, without its key.'''
        >>> DoorResource.model_validate(Door(width=90, key=b"secret"))
        DoorResource(width=90)
        >>> DoorResource.model_fields["width"].description
        'In centimeters.'
    """

    model_config = ConfigDict(extra="ignore", from_attributes=True)

    def __init_subclass__(cls, *, hide: tuple[str, ...] = (), **options: Any) -> None:
        """Declare the fields of an entity, before Pydantic collects those of the class."""
        super().__init_subclass__(**options)
        own = get_annotations(cls)
        inherited: dict[str, FieldInfo] = {}
        unknown = set(hide)
        for base in cls.__bases__:
            has_entity = is_dataclass(base)
            if has_entity and issubclass(base, Resource):
                inherited |= {name: copy(info) for name, info in base.model_fields.items()}
            elif is_dataclass(base):  # an entity
                described = _described_attributes(base)
                for field in fields(base):
                    if field.name in hide:
                        # Pydantic collects annotations of all bases, but none of a class variable.
                        own[field.name] = ClassVar[Any]
                        unknown.discard(field.name)
                    elif not field.repr and field.name not in own:
                        raise TypeError(f"{cls.__name__} has to hide the secret {field.name}")
                    else:
                        inherited[field.name] = Field(description=described.get(field.name))
        if unknown:
            raise TypeError(f"{cls.__name__} hides {sorted(unknown)}, which no entity of it has")
        cls.__annotations__ = own
        for name, info in inherited.items():
            if name not in own:
                # Otherwise the default of the dataclass, an attribute of it, would be taken.
                setattr(cls, name, info)


_ATTRIBUTE: Final = re.compile(r"^ {4}(\w+(?:, \w+)*): (.+(?:\n {5,}.+)*)", re.MULTILINE)


def _described_attributes(entity: type) -> dict[str, str]:
    """Return what an entity's docstring says of each attribute, as a sentence about JSON."""
    described: dict[str, str] = {}
    for base in reversed(entity.__mro__):  # the entity last: its own words hold
        _, _, section = (getdoc(base) or "").partition("Attributes:\n")
        for names, text in _ATTRIBUTE.findall(section.partition("\n\n")[0]):
            sentence = re.sub(r"\bNone\b", "null", " ".join(text.split())).replace("``", "`")
            described |= dict.fromkeys(names.split(", "), sentence[0].upper() + sentence[1:])
    return described


class Page(Resource, Generic[T]):
    """A page of a list."""

    items: tuple[T, ...]
    next: str | None = Field(description="Cursor of the next page; null on the last.")


class Items(Resource, Generic[T]):
    """A complete list."""

    items: tuple[T, ...]


class RequestError(Resource):
    """What is wrong with one field of a request."""

    pointer: str = Field(description="Where: a JSON pointer into the body, or /query/name.")
    detail: str = Field(description="What is wrong, and what would be right.")


class ProblemDetails(Resource):
    """Why a request failed, and what to do (RFC 9457)."""

    type: str = Field(examples=["urn:agon:problem:not-found"])
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="The fact and the remedy.")
    code: str = Field(description="A stable identifier for programs.")
    instance: str | None = Field(default=None, description="The request's id; the log has it too.")
    errors: tuple[RequestError, ...] = Field(description="Every error with its position.")
    total: int | None = Field(
        default=None, description="Number of errors, when not all are listed."
    )


def _storable_json(value: Any) -> Any:
    try:
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("expected plain JSON: integers of 64 bits, text in UTF-8") from None
    return value


def _storable(value: str) -> str:
    if (fault := unstorable(value)) is not None:
        raise ValueError("; ".join(fault))
    return value


PlainText = Annotated[str, AfterValidator(_storable)]
"""Text that every database can store."""

Text = Annotated[PlainText, StringConstraints(min_length=1, max_length=10_000)]
"""Text of a note or a decision."""

Name = Annotated[PlainText, StringConstraints(min_length=1, max_length=200)]
"""An id or a title that is free text."""

RecordId = Annotated[PlainText, StringConstraints(min_length=1, max_length=500)]
"""An id that records may have."""

BoardName = Annotated[PlainText, StringConstraints(min_length=1, max_length=550)]
"""The name of a board, which may end with an id."""

ExternalId = Annotated[PlainText, StringConstraints(min_length=1, max_length=500)]
"""The sender's own id."""

ContestId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")]
"""A contest's id, or a series's."""

Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2000),
    AfterValidator(_storable),
    Field(description="Why; it is stored in the ledger, where everyone can read it."),
]
"""Why something is done; it is stored in the ledger."""


def _utc(value: datetime) -> datetime:
    try:
        return in_utc(value)
    except OverflowError:
        raise ValueError("expected a time in the years 1 to 9999 in UTC") from None


def _zoned(value: Any) -> Any:
    if isinstance(value, str) and (fault := zone_fault(value)) is not None:
        raise ValueError(fault)
    return value


Time = Annotated[datetime, BeforeValidator(_zoned), AfterValidator(_utc)]
"""A time, kept in UTC; a time of day has a zone, and a date is its beginning in UTC."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_storable_json)]
"""A JSON object that can be stored and returned unchanged."""


class ReasonRequest(Request):
    """A reason."""

    reason: Reason
