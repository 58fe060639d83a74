"""Records: add them in bulk, list them."""

from collections.abc import Iterable
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from agon.api.models.base import Page
from agon.api.models.records import ImportSummary, Record
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.transport import Noun
from agon.disciplines import discipline
from agon.entities.contests import StoredEntry
from agon.errors import NotFound, did_you_mean

_ROW: Final[dict[str, Any]] = {"type": "object", "additionalProperties": True}
_RECORD: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "table": {"type": "string"},
        "row": _ROW,
        "external_id": {"type": ["string", "null"], "maxLength": 500},
    },
    "required": ["table", "row"],
    "additionalProperties": False,
}
_EXAMPLE: Final = '{"table":"users","row":{"id":"ada"},"external_id":"u-1"}\n'

TableName = Annotated[str, Field(pattern=r"^[a-z_]{1,60}$", description="The table.")]


def ndjson_body(schema: dict[str, Any], example: str) -> dict[str, Any]:
    """Return the OpenAPI content of a body of one JSON object, or of one a line."""
    return {
        "application/x-ndjson": {"schema": {"type": "string"}, "example": example},
        "application/json": {"schema": schema},
    }


@operation("POST", "/contests/{contest}/records", id="addRecords", permission="records.add",
           summary="Add records", status=201, raw=True, body=ndjson_body(_RECORD, _EXAMPLE),
           also={200: "Nothing was added: every record was there, or dry run."})  # fmt: skip
def add_records(
    ctx: ContestContext,
    *,
    table: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z_]{1,60}$",
            description="The table of all lines, which are rows without an envelope.",
        ),
    ] = None,
    replace: Annotated[
        bool, Field(description="Whether a record supersedes the one with the same key.")
    ] = False,
    dry_run: Annotated[bool, Field(description="Validate only; add nothing.")] = False,
) -> ImportSummary:
    """Add records, one JSON object a line: all of them or none.

    A record that is already stored with the same content is not added again, so a request can be
    repeated.
    """
    raise NotImplementedError


@operation("GET", "/contests/{contest}/records", id="listRecords", permission="records.read",
           summary="List records", page_size=100)  # fmt: skip
def list_records(ctx: ContestContext, page: PageRequest, *, table: TableName) -> Page[Record]:
    """Return the records of a table in ledger order, with superseded and voided ones."""
    tables = {table.name for table in discipline(ctx.contest.discipline).schema}
    if table not in tables:
        raise NotFound(f"there is no table {table!r}: {did_you_mean(table, tables)}")
    return records_page(ctx, page, table)


class Records(Noun):
    """Records of a contest."""

    list = list_records

    def add(
        self,
        contest: str,
        chunks: Iterable[bytes],
        *,
        table: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> ImportSummary:
        """Add records that are given as NDJSON.

        Over HTTP a long stream is sent in several requests; each is added completely or not at
        all, and sending the whole stream again adds only what is missing.

        Args:
            contest: the contest's id.
            chunks: the bytes, cut anywhere: lines ``{"table", "row", "external_id"?}``.
            table: the table of all lines, which are then rows without an envelope.
            replace: whether a record supersedes one with the same key.
            dry_run: validate only; add nothing.

        Raises:
            InvalidRecords: with all errors (over HTTP as Unreadable).
            Conflict: keys or external ids are there with other content, or the contest is final.
        """
        return self.transport.add_records(
            contest, chunks, table=table, replace=replace, dry_run=dry_run
        )


def records_page(ctx: ContestContext, page: PageRequest, table: str) -> Page[Record]:
    """Return a page of a table's records, as far as the caller may see."""
    with ctx.service.store.read() as session:
        entries = session.entries.rows(
            ctx.contest.no,
            table,
            after=page.after(int) or 0,
            until=ctx.view.until,
            limit=page.sought,
        )
    return page.page(entries, key=lambda entry: entry.seq, item=_record)


def _record(entry: StoredEntry) -> Record:
    line = orjson.loads(entry.line)
    return Record(
        seq=entry.seq,
        at=line["at"],
        by=line["by"],
        kind=line["kind"],
        external_id=line["external_id"],
        table=line["body"]["table"],
        row=line["body"]["row"],
    )
