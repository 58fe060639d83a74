"""Hold what routes have in common: the prefix, the ways to the parts, documented refusals."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request

from agon.app.service import Service
from agon.http.models.base import Problem
from agon.http.problems import MEDIA_TYPE
from agon.http.serving import Serving, serving

PREFIX: Final = "/api/v1"

_MEANINGS: Final = {
    400: "The body is not what its type says.",
    401: "A token is needed, or the one shown is not valid.",
    403: "The token does not cover this.",
    404: "There is no such thing, or none the caller may see.",
    405: "The address has other methods.",
    408: "The body came too slowly.",
    409: "It contradicts what is there.",
    413: "The body is too large.",
    415: "The body is of another type.",
    422: "Something is wrong with the request; every fault is listed.",
    429: "Too many requests.",
    500: "A fault of ours.",
    503: "A needed part is out of reach for now.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document refusals: those any route may meet, and the ones given."""
    wanted = sorted({401, 403, 404, 409, 422, 429, 500, 503, *statuses})
    return {
        status: {
            "description": _MEANINGS[status],
            "model": Problem,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in wanted
    }


WRITES: Final = (400, 408, 409, 413, 415)
"""Refusals of routes that take bodies."""


def new_router(tag: str) -> APIRouter:
    """Make the router of one noun."""
    return APIRouter(prefix=PREFIX, tags=[tag], responses=refusals())


def service_of(request: Request) -> Service:
    """Return what the use cases work with."""
    return serving(request).service


Serves = Annotated[Service, Depends(service_of)]
Parts = Annotated[Serving, Depends(serving)]

Participant = Annotated[
    str,
    Path(
        alias="id",
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]+$",
        description="The participant's id on the board.",
        examples=["ada"],
    ),
]

Board = Annotated[
    str,
    Path(min_length=1, max_length=200, pattern=r"^[^\x00]+$", description="The board's name.",
         examples=["user-score"]),
]  # fmt: skip


def text_of(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Document an answer that is text of a kind of its own."""
    return {200: {"content": {media_type: {"schema": {"type": "string"}}}}}
