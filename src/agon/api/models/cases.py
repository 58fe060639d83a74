"""Findings and cases."""

from typing import Any

from pydantic import ConfigDict, Field

from agon.api.models.base import Name, PlainText, RecordId, Request, Resource, Text
from agon.entities import contests


class Findings(Resource):
    """The findings of the last integrity scan, most severe first."""

    seq: int = Field(description="Position of the ledger that was scanned; 0: never.")
    items: tuple[dict[str, Any], ...]


class CaseCreate(Request):
    """A new case; it has a title, or that of a finding."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {
                    "required": ["title"],
                    "properties": {"title": {"type": "string", "pattern": r"\S"}},
                },
                {"required": ["finding"], "properties": {"finding": {"type": "integer"}}},
            ]
        }
    )

    text: Text = Field(description="Why it is opened.")
    title: Name | None = None
    subjects: tuple[RecordId, ...] = Field(default=(), max_length=1000)
    finding: int | None = Field(
        default=None, ge=0, le=1 << 31, description="Index of a finding of the last scan, from 0."
    )


class NoteRequest(Request):
    """A text for a case."""

    text: Text


class DecisionRequest(Request):
    """The decision of a case."""

    decision: Name
    reason: Text
    change: PlainText | None = Field(
        default=None, max_length=100, description="The change set by which it takes effect."
    )


class Case(Resource, contests.Case, hide=("contest_no",)):
    """A case with all its steps."""
