"""Records, and signed heads of ledgers."""

from datetime import datetime
from typing import Any

from pydantic import Field

from agon.api.models.base import Resource


class ImportSummary(Resource):
    """How many records were added."""

    added: int
    repeated: int = Field(description="Records that were there already with the same content.")
    replaced: int
    first_seq: int | None = Field(default=None, description="Position of the first new entry.")
    last_seq: int | None = Field(default=None, description="Position of the last new entry.")


class Record(Resource):
    """An entry of the ledger that holds a record."""

    seq: int
    at: datetime
    by: str
    kind: str
    external_id: str | None
    table: str
    row: dict[str, object]


class LedgerHead(Resource):
    """The signed head of a ledger."""

    contest: str
    seq: int
    head_sha256: str
    at: str = Field(description="As it was signed: UTC with microseconds.")
    signature: str = Field(description="Ed25519 over the canonical JSON of the four, hex.")
    public_key: str


class LogEntry(Resource):
    """An entry of a ledger in words."""

    seq: int
    at: datetime
    by: str
    kind: str
    text: str = Field(description="What happened.")
    content: dict[str, Any] = Field(description="The fields that the caller may see.")


class Event(Resource):
    """An event of a contest; a stream resumes after its id."""

    id: str
    contest: str
    seq: int
    at: datetime
    kind: str
    body: dict[str, object]
