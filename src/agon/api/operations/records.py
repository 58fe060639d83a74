"""Records: add them in bulk, list them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from agon.api.models.base import Page
from agon.api.models.records import ImportSummary, Record
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.parameters import FreeId
from agon.api.transport import Noun, RecordOptions
from agon.disciplines import discipline
from agon.entities.contests import ExistingEntry, StoredEntry
from agon.errors import NotFound, Unreadable, did_you_mean
from agon.kernel.text.plain_json import InvalidJson, write_json
from agon.ledger.keys import escape_part

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
           cost="bodies", records="sent",
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
    ignore: Annotated[
        str,
        Field(
            max_length=4_000,
            description="Keys of rows that are not read, with commas between them; `table.key` is "
            "a key of one table.",
            examples=["notes,users.handel"],
        ),
    ] = "",
) -> ImportSummary:
    """Add records, one JSON object a line: all of them or none.

    A record that is already stored with the same content is not added again, so a request can be
    repeated. Rows without a key are compared by content, and equal ones are counted within each
    request: who splits a file with equal rows into several requests gives each row an
    `external_id`, or the second of two equal rows counts as `repeated` and is not added. The
    client and the command line do so. In a live contest, what a protocol owns is a conflict:
    propose a change set instead.

    Names are compared without case, `_` and `-`: `uploaderId` is `uploader_id`. The notes of the
    response say which names and values were read in another spelling, and list keys that are not
    used; the warnings name values that look like others, or like none. Both are empty where
    everything was exact. A key that is near to a column which its row does not have is an error
    unless it is ignored.
    """
    raise NotImplementedError


@operation("GET", "/contests/{contest}/records", id="listRecords", permission="records.read",
           cost="quick", summary="List records", page_size=100)  # fmt: skip
def list_records(
    ctx: ContestContext,
    page: PageRequest,
    *,
    table: TableName,
    record: Annotated[
        FreeId | None,
        Field(description="Only the record with this id; of a key of several columns: m7/j3."),
    ] = None,
) -> Page[Record]:
    """Return the records of a table in ledger order, with superseded and voided ones."""
    tables = {table.name for table in discipline(ctx.contest.discipline).schema}
    if table not in tables:
        raise NotFound(f"there is no table {table!r}: {did_you_mean(table, tables)}")
    if record is not None:
        return _only(ctx, page, table, record)
    return records_page(ctx, page, table)


class Records(Noun):
    """Records of a contest."""

    list = list_records

    def add(
        self,
        contest: str,
        records: Iterable[bytes | Mapping[str, Any]],
        *,
        table: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
        ignore: Iterable[str] = (),
    ) -> ImportSummary:
        """Add records that are given as dicts or as NDJSON.

        Over HTTP a long stream is sent in several requests; each is added completely or not at
        all, and sending the whole stream again adds only what is missing.

        Args:
            contest: the contest's id.
            records: dicts ``{"table", "row", "external_id"?}``, or the bytes of such lines, cut
                anywhere.
            table: the table of all records, which are then rows without an envelope.
            replace: whether a record supersedes one with the same key.
            dry_run: validate only; add nothing.
            ignore: names of keys that are not read, such as ``notes`` or ``users.notes``.

        Raises:
            InvalidRecords: with all errors (over HTTP as Unreadable).
            Conflict: keys or external ids are there with other content, or the contest is final.
            Unreadable: a record is of another type, or a value in it has no JSON form.
        """
        options = RecordOptions(table=table, replace=replace, dry_run=dry_run, ignore=tuple(ignore))
        return self.transport.add_records(contest, encode_ndjson(records), options)


def ignored_names(listed: str) -> tuple[str, ...]:
    """Return the names of a list with commas between them.

    Example:
        >>> ignored_names("notes, users.handel")
        ('notes', 'users.handel')
    """
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def encode_ndjson(records: Iterable[bytes | Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield records as NDJSON: dicts as lines, bytes as they are."""
    if isinstance(records, bytes | str | Mapping):
        raise Unreadable(
            f"expected a list of dicts or of bytes, got {type(records).__name__}; put it in a list"
        )
    for number, record in enumerate(records, 1):
        if isinstance(record, bytes):
            yield record
        elif isinstance(record, Mapping):
            yield _line(dict(record), number)
        else:
            raise Unreadable(
                f"record {number}: expected a dict or bytes, got {type(record).__name__}; "
                'write {"table": …, "row": {…}}, or the row alone with table='
            )


def _line(record: dict[str, Any], number: int) -> bytes:
    """Return a record as a line of JSON; NaN and infinities, which would be null, are errors."""
    try:
        line = write_json(record)
        if b"null" in line:
            json.dumps(record, allow_nan=False, default=str)
    except InvalidJson as error:
        raise Unreadable(f"record {number} {error}") from None
    except ValueError:
        raise Unreadable(
            f"record {number} has a number that is not finite; give None for a missing value"
        ) from None
    return line + b"\n"


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


def _only(ctx: ContestContext, page: PageRequest, table: str, record: str) -> Page[Record]:
    """Return the record with an id, as it was stored last; no item: there is none."""
    keys = [f"{table}/{record}", f"{table}/{escape_part(record)}"]
    with ctx.service.store.read() as session:
        existing = session.entries.existing(ctx.contest.no, records=keys, until=ctx.view.until)
    entries = list(existing.values())[: page.sought]
    return page.page(entries, key=lambda entry: entry.seq, item=_record)


def _record(entry: StoredEntry | ExistingEntry) -> Record:
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
