"""Records, and signed heads of ledgers."""

from datetime import datetime

from pydantic import Field

from agon.api.models.base import Resource
from agon.entities import ledgers


class ImportSummary(Resource, ledgers.ImportSummary, hide=("seqs",)):
    """How many records were added."""


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


class LogEntry(Resource, ledgers.LogEntry):
    """An entry of a ledger in words."""


class Event(Resource):
    """An event of a contest; a stream resumes after its id."""

    id: str
    contest: str
    seq: int
    at: datetime
    kind: str
    body: dict[str, object]
