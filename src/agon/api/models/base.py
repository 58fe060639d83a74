"""Base classes and field types of all requests and resources."""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from agon.kernel.plain_text import unstorable
from agon.kernel.times import in_utc

T = TypeVar("T")


class Request(BaseModel):
    """The body of a request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1_000_000)


class Query(BaseModel):
    """The query parameters of a request, as one value; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Resource(BaseModel):
    """A response; clients ignore fields that a newer server adds."""

    model_config = ConfigDict(extra="ignore", frozen=True, from_attributes=True)


class Page(Resource, Generic[T]):
    """A page of a list."""

    items: tuple[T, ...]
    next: str | None = Field(description="Cursor of the next page; null on the last.")


class Items(Resource, Generic[T]):
    """A complete list."""

    items: tuple[T, ...]


class RequestError(Resource):
    """One error of a request."""

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


Time = Annotated[datetime, AfterValidator(_utc)]
"""A time in UTC; without a zone it is taken as UTC."""

JsonObject = Annotated[dict[str, Any], AfterValidator(_storable_json)]
"""A JSON object that can be stored and returned unchanged."""


class ReasonRequest(Request):
    """A reason."""

    reason: Reason
