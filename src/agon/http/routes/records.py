"""Answer for records: take them in in bulk, list them."""

from io import BytesIO
from typing import Annotated, Any

import orjson
from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.contests.ingest.ndjson import Lines
from agon.app.contests.ingest.records import ImportSummary, record
from agon.disciplines import discipline
from agon.entities.contests import StoredEntry
from agon.errors import NotFound, did_you_mean
from agon.http.auth import caller_of, sees
from agon.http.bodies import media_type, raise_status, spooled
from agon.http.models.contests import RecordedTold, RecordPage, RecordTold
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.routes.common import WRITES, Serves, new_router, refusals

router = new_router("records")

NDJSON_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
_ROW: dict[str, Any] = {"type": "object", "additionalProperties": True}
_ENVELOPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "table": {"type": "string"},
        "row": _ROW,
        "external_id": {"type": ["string", "null"], "maxLength": 500},
    },
    "required": ["table", "row"],
    "additionalProperties": False,
}
_EXAMPLE = '{"table":"users","row":{"id":"ada"},"external_id":"u-1"}\n'


def body_of(schema: dict[str, Any], example: str) -> dict[str, Any]:
    """Describe a body of one JSON object, or of many, one a line."""
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/x-ndjson": {"schema": {"type": "string"}, "example": example},
                "application/json": {"schema": schema},
            },
        }
    }


Table = Annotated[
    str | None,
    Query(pattern=r"^[a-z_]{1,60}$", description="The table of all lines, which are bare rows."),
]
Replace = Annotated[
    bool, Query(description="Whether a record supersedes the one with the same key.")
]
DryRun = Annotated[bool, Query(description="Look only; enter nothing.")]


@router.post("/contests/{contest}/records", operation_id="addRecords", summary="Add records",
             status_code=201, responses=refusals(*WRITES) | {200: {"model": RecordedTold,
             "description": "Nothing is new: all were there, or it was a dry run."}},
             openapi_extra=body_of(_ENVELOPE, _EXAMPLE))  # fmt: skip
async def add_records(
    request: Request,
    response: Response,
    view: Annotated[View, sees("records.add")],
    service: Serves,
    table: Table = None,
    replace: Replace = False,  # noqa: FBT002 (FastAPI reads it from the query, by name)
    dry_run: DryRun = False,  # noqa: FBT002 (as above)
) -> RecordedTold:
    """Add records, one JSON object a line: all of them or none.

    A record that is there already, just so, is not entered again, so a request can be repeated.
    """
    return await taken(
        request, response, service, view, table=table, replace=replace, dry_run=dry_run
    )


async def taken(
    request: Request,
    response: Response,
    service: Serves,
    view: View,
    *,
    table: str | None,
    replace: bool = False,
    dry_run: bool = False,
) -> RecordedTold:
    """Take a body of records in. It is read to its end before the ledger is locked."""
    kind = media_type(request.headers)
    if kind not in NDJSON_TYPES | {"application/json"}:
        raise_status(415, "send application/x-ndjson (an object a line) or application/json")
    body = await spooled(request)
    caller = caller_of(request)

    def work() -> ImportSummary:
        with body:
            lines = BytesIO(_on_one_line(body.read())) if kind == "application/json" else body
            return record(
                service,
                view.contest.id,
                Lines(lines, table=table),
                by=caller,
                replace=replace,
                dry_run=dry_run,
            )

    done = await run_in_threadpool(work)
    if dry_run or not (done.added or done.replaced):
        response.status_code = 200
    return RecordedTold.model_validate(done)


@router.get("/contests/{contest}/records", operation_id="listRecords", summary="Records")
def list_records(
    request: Request,
    response: Response,
    view: Annotated[View, sees("records.read")],
    service: Serves,
    table: Annotated[str, Query(pattern=r"^[a-z_]{1,60}$", description="Which table.")],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> RecordPage:
    """List a table's records as they were entered, superseded and voided ones among them."""
    known = {one.name for one in discipline(view.contest.discipline).schema}
    if table not in known:
        raise NotFound(f"there is no table {table!r}: {did_you_mean(table, known)}")
    return listed(request, response, service, view, table, limit=limit, cursor=cursor)


def listed(
    request: Request,
    response: Response,
    service: Serves,
    view: View,
    table: str,
    *,
    limit: int,
    cursor: str | None,
) -> RecordPage:
    """List a page of a table's records, no later than the caller may see."""
    with service.store.read() as session:
        found = session.entries.rows(
            view.contest.no,
            table,
            after=after(cursor, kind=int) or 0,
            until=view.until,
            limit=limit + 1,
        )
    page = page_of(found, limit=limit, key=lambda one: one.seq, shown=record_told)
    return RecordPage(**linked(request, response, page))


def record_told(entry: StoredEntry) -> RecordTold:
    """Tell an entry that holds a record."""
    line = orjson.loads(entry.line)
    return RecordTold(
        seq=entry.seq,
        at=line["at"],
        by=line["by"],
        kind=line["kind"],
        external_id=line["external_id"],
        table=line["body"]["table"],
        row=line["body"]["row"],
    )


def _on_one_line(body: bytes) -> bytes:
    """Bring one JSON value onto one line; what is no JSON is left for the reader to refuse.

    So is what is nested so deeply that it can be read and not written.
    """
    try:
        return orjson.dumps(orjson.loads(body))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return body.replace(b"\n", b" ").replace(b"\r", b" ")
