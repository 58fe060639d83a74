"""Types of the parameters of operations, with their constraints and descriptions."""

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from agon.api.operation import HEADER
from agon.errors import Unreadable


def _split(values: Any) -> Any:
    """Split texts of a list at their commas; other values stay, for the type to reject."""
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        return values
    return [text for each in values for part in each.split(",") if (text := part.strip())]


Split: Final = BeforeValidator(_split)
"""A list of which a parameter may give several items, with commas between, besides repeating."""

DisciplineName = Annotated[str, Field(max_length=40, pattern=r"^[a-z-]+$")]
"""The name of a discipline, which a package may bring."""

ContestPath = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9-]{1,62}$",
        description="The contest's id.",
        examples=["spring-2026"],
    ),
]
"""The id of the contest in a path."""

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
"""An id that the service made."""

FreeId = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]
"""An id that was chosen by someone else."""

Limit = Annotated[int, Field(ge=1, le=500, description="Maximum number of items.", examples=[50])]
"""Items of a page."""

Cursor = Annotated[
    str | None,
    Field(
        max_length=4200,
        pattern=r"^[A-Za-z0-9_-]*$",
        description="Where the page begins, as an earlier page returned it.",
    ),
]
"""The beginning of a page; opaque to clients."""

BoardName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=550,
        pattern=r"^[^\x00]+$",
        description="The board's name.",
        examples=["user-score"],
    ),
]
"""The name of a board in a path."""

ParticipantId = Annotated[
    FreeId, Field(description="The participant's id on the board.", examples=["ada"])
]
"""A participant in a path."""

AsOf = Annotated[
    str | None,
    Field(
        max_length=64,
        pattern=r"^[^\x00]+$",
        description="A position of the ledger (digits) or a time (ISO 8601).",
        examples=["1200", "2026-11-21T10:00:00Z"],
    ),
]
"""The state of a board that is wanted."""

IfMatch = Annotated[
    str | None,
    HEADER,
    Field(
        max_length=1000,
        description="The ETag of the version that the change is made to, or several; *: any.",
        examples=['"3f0c8a51b2d94e67"'],
    ),
]
"""The versions of a resource that a change is made to."""

_TAG: Final = re.compile(r'(W/)?"([^"]*)"')


def stated_versions(if_match: str) -> frozenset[str] | None:
    """Return the versions that ``If-Match`` names; None: any. A weak tag names none.

    Raises:
        Unreadable: it is not a list of ETags.

    Example:
        >>> sorted(stated_versions('"a1", "b2", W/"c3"') or ())
        ['a1', 'b2']
        >>> stated_versions("*") is None
        True
    """
    if if_match.strip() == "*":
        return None
    tags = [tag.strip() for tag in if_match.split(",")]
    matched = [_TAG.fullmatch(tag) for tag in tags]
    if not all(matched):
        raise Unreadable(f"If-Match is {if_match!r}; send the ETag of the response you read, in "
                         "double quotes")  # fmt: skip
    return frozenset(tag[2] for tag in matched if tag is not None and not tag[1])
