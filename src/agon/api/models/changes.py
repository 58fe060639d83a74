"""Change sets."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from agon.api.models.base import JsonObject, Reason, Request, Resource
from agon.entities import contests


def _params(kind: str, *required: str, **properties: Any) -> dict[str, Any]:
    """Return the JSON schema of a change of a kind."""
    params = {"type": "object", "required": list(required), "properties": properties}
    return {"properties": {"kind": {"const": kind}, "params": params}}


_NAMES: Final = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
_ROWS: Final = {"type": "array", "minItems": 1, "items": {"type": "object"}}
_NAME: Final = {"type": "string", "minLength": 1}


class ChangeSetCreate(Request):
    """A proposed change."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                _params("rules", edition=_NAME, overrides={"type": "object"}),
                _params("void", "records", records=_NAMES),
                _params("void", "people", people=_NAMES),
                _params("adjustment", "board", "id", "points", board=_NAME, id=_NAME,
                        points={"type": "number", "minimum": -1e12, "maximum": 1e12}),
                _params("rejudge", problem=_NAME, submissions=_NAMES),
                _params("correction", "table", "rows", table=_NAME, rows=_ROWS),
                _params("merge", "duplicate", "into", duplicate=_NAME, into=_NAME),
            ]
        }
    )  # fmt: skip

    kind: Literal["rules", "void", "rejudge", "adjustment", "correction", "merge"]
    params: JsonObject
    reason: Reason


class ApplyRequest(Request):
    """How to apply a change set."""

    reason: Reason | None = Field(default=None, description="null: as proposed.")
    even_if_moved: bool = Field(
        default=False, description="Even if the ledger has grown since the dry run."
    )


class ChangeSet(Resource, contests.Change, hide=("contest_no",)):
    """A change set with the report of its dry run."""

    failed: str | None = Field(
        default=None, description="Why its dry run failed; only of a single change set."
    )

    def moves(self, board: str) -> Iterator[Mapping[str, Any]]:
        """Yield the participants that move on a board, the largest moves first."""
        yield from ((self.report or {}).get("boards", {}).get(board, {})).get("moves", ())
