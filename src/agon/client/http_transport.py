"""Execute operations over HTTP: requests and responses follow from their descriptions."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from agon.api.models.bots import PromptSummary
from agon.api.models.changes import ChangeSet
from agon.api.models.contests import Contest
from agon.api.models.records import Event, ImportSummary
from agon.api.operation import Operation
from agon.api.pages import MAX_LIMIT
from agon.api.transport import RecordOptions, Transport
from agon.client import archives, events, uploads
from agon.client.connection import Connection
from agon.entities.arena import PrivateTable
from agon.errors import Conflict, Unavailable

if TYPE_CHECKING:
    from agon.api.models.jobs import Job

TIMEOUT_S: Final = 300.0
"""Maximum time to wait for a job of the server's workers."""

_PAUSE_S: Final = 0.2


class HttpTransport(Transport):
    """Execute operations over HTTP.

    Args:
        connection: the connection to the server.
        chunk: maximum number of bytes of a request with records.
        progress: called with the number of bytes of records sent so far.
        sleep: waits a number of seconds.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        chunk: int,
        progress: Callable[[int], object],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.connection = connection
        self._chunk = chunk
        self._progress = progress
        self._sleep = sleep

    def call(self, operation: Operation[Any, Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Send the request of an operation and return its response."""
        values = operation.bind(arguments, keywords)
        if operation.is_paged:
            return self._pages(operation, values)
        return self._send(operation, values)

    def _pages(self, operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Iterator[Any]:
        cursor = None
        while True:
            page = self._send(operation, arguments, limit=MAX_LIMIT, cursor=cursor)
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def _send(
        self, operation: Operation[Any, Any], arguments: Mapping[str, Any], **query: Any
    ) -> Any:
        values: dict[str, Any] = {"contest": arguments.get("contest")}
        headers: dict[str, str] = {}
        body = None
        for parameter in operation.parameters:
            value = arguments[parameter.name]
            if parameter.kind == "path":
                values[parameter.alias] = value
            elif parameter.kind == "query":
                query[parameter.alias] = value
            elif parameter.kind == "queries":
                query |= value.model_dump(mode="json")
            elif parameter.kind == "header":
                headers |= {} if value is None else {parameter.alias: value}
            elif isinstance(value, BaseModel):
                body = value.model_dump(mode="json", exclude_unset=True)
        path = [
            str(values[part[1:-1]]) if part.startswith("{") else part
            for part in operation.path.strip("/").split("/")
        ]
        if operation.changes:
            response = self.connection.send(
                operation.method, *path, body=body, headers=headers, **query
            )
        else:
            response = self.connection.get(*path, **query)
        try:
            return _adapter(operation).validate_python(response)
        except ValidationError as error:
            raise Unavailable(
                f"the response to {operation.id} is not one of this version of the API: "
                f"{error.errors()[0]['msg']}; is that an agon server?"
            ) from None

    def add_records(
        self, contest: str, chunks: Iterable[bytes], options: RecordOptions
    ) -> ImportSummary:
        """Send records in chunks of complete lines; each is added completely or not at all."""
        return uploads.add_records(
            self.connection,
            contest,
            chunks,
            query={
                "table": options.table,
                "replace": options.replace,
                "dry_run": options.dry_run,
                "ignore": ",".join(options.ignore) or None,
            },
            chunk=self._chunk,
            progress=self._progress,
        )

    def add_prompts(
        self, contest: str, chunks: Iterable[bytes], *, table: PrivateTable
    ) -> PromptSummary:
        """Send rows of a private table in chunks of complete lines."""
        saved = 0
        for content in uploads.line_chunks(chunks, size=self._chunk):
            response = self.connection.send(
                "POST", "contests", contest, table.replace("_", "-"), content=content,
                kind=uploads.NDJSON,
            )  # fmt: skip
            saved += PromptSummary.model_validate(response).saved
        return PromptSummary(saved=saved)

    def export_ledger(self, contest: str, folder: Path) -> None:
        """Write a contest's ledger as a new directory."""
        archives.export_ledger(self.connection, contest, folder)

    def import_ledger(self, folder: Path, *, contest: str | None) -> Contest:
        """Import a ledger's directory."""
        return archives.import_ledger(self.connection, folder, contest=contest)

    def dry_run(self, contest: str, change: str) -> ChangeSet:
        """Wait for the dry run of a change set, which a worker of the server does.

        Raises:
            Conflict: the dry run failed, with the cause.
            Unavailable: it takes longer than :data:`TIMEOUT_S`.
        """
        from agon.api.operations.changes import get_change

        waited = 0.0
        while True:
            change_set: ChangeSet = self.call(get_change, contest, change)
            if change_set.dry_run_at is not None or change_set.state != "proposed":
                return change_set
            if change_set.failed is not None:
                raise Conflict(change_set.failed)
            if waited >= TIMEOUT_S:
                raise Unavailable(
                    f"change set {change} waits for its dry run; see with agon jobs queue whether "
                    "a worker is running, then propose it again"
                )
            self._sleep(_PAUSE_S)
            waited += _PAUSE_S

    def scan(self, contest: str) -> None:
        """Wait for an integrity scan, which a worker of the server does.

        Raises:
            Unavailable: it takes too long, or the scan failed, with the cause.
        """
        from agon.api.operations.cases import start_scan
        from agon.api.operations.jobs import get_job

        waited = 0.0
        job: Job = self.call(start_scan, contest)
        while job.state in {"queued", "leased"} and waited < TIMEOUT_S:
            self._sleep(_PAUSE_S)
            waited += _PAUSE_S
            job = self.call(get_job, job.id)
        if job.state != "done":
            cause = job.causes[-1].cause if job.causes else "it waits; is a worker running?"
            raise Unavailable(f"{contest} was not scanned: {cause}")

    def events(self, contest: str, since: str | None) -> Iterator[Event]:
        """Yield events as they happen; a lost connection is resumed."""
        return events.follow(self.connection, contest, since=since)

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()


@cache
def _adapter(operation: Operation[Any, Any]) -> TypeAdapter[Any]:
    return TypeAdapter(operation.returns)
