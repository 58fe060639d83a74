"""Lay the ground of all forms: how requests and answers treat what they do not know."""

from datetime import datetime
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


class Asked(BaseModel):
    """Hold a request's body; unknown fields are refused, so that no typing error is ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=1_000_000)


class Told(BaseModel):
    """Hold an answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Fault(Told):
    """Tell one thing that is wrong with a request."""

    pointer: str = Field(description="Where: a JSON pointer into the body, or /query/name.")
    detail: str = Field(description="What is wrong, and what would be right.")


class Problem(Told):
    """Say why a request was refused, and what to do (RFC 9457)."""

    type: str = Field(examples=["urn:agon:problem:not-found"])
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="One fact and the remedy.")
    code: str = Field(description="Programs branch on it; it never changes.")
    instance: str | None = Field(default=None, description="Names this occurrence in the log.")
    errors: list[Fault] = Field(description="Every fault at its place.")
    total: int | None = Field(default=None, description="How many faults, when not all are shown.")


def _plain(value: Any) -> Any:
    try:
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("write plain JSON: whole numbers of 64 bits, text in UTF-8") from None
    return value


def _no_nul(value: str) -> str:
    if "\x00" in value:
        raise ValueError("leave out the character NUL; nothing can be stored with it")
    return value


PlainText = Annotated[str, AfterValidator(_no_nul)]
"""Text that every database can store."""

Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2000),
    AfterValidator(_no_nul),
    Field(description="Why, for everybody to read later."),
]
"""Why something is done; it stands in the ledger for ever."""

PlainObject = Annotated[dict[str, Any], AfterValidator(_plain)]
"""An object of JSON that can be written down again just so."""

Moment = datetime
"""A time, UTC."""
