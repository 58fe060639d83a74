"""Execute operations with direct access to the database, in this process."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from agon.api.authorization import authorize
from agon.api.models.bots import PromptSummary
from agon.api.models.changes import ChangeSet
from agon.api.models.contests import Contest
from agon.api.models.records import Event, ImportSummary
from agon.api.operation import ContestContext, Operation
from agon.api.pages import MAX_LIMIT, PageRequest
from agon.api.transport import RecordOptions, Transport
from agon.app.access.permissions import LOCAL
from agon.app.service import Service
from agon.client.client import Api
from agon.entities.access import Caller
from agon.entities.arena import PrivateTable
from agon.errors import Unavailable

_PUBLISHES: Final = frozenset({"applyChangeSet", "rollBackChangeSet"})
"""Operations that change boards: they are published immediately, without a worker."""

_PAGE: Final = 100


class Local(Api):
    """The API with direct access to a database.

    Changes of boards are published immediately, so that no worker is needed.

    Args:
        service: database, clock and settings; its database is closed with this.
        by: the caller; by default one with all permissions.
        allow_private: the setting ``webhook_allow_private``.
    """

    def __init__(
        self, service: Service, *, by: Caller = LOCAL, allow_private: bool = False
    ) -> None:
        super().__init__(LocalTransport(service, by, allow_private=allow_private))


class LocalTransport(Transport):
    """Execute operations in this process.

    Args:
        service: database, clock and settings.
        by: the caller.
        allow_private: the setting ``webhook_allow_private``.
        rebuilds: whether board rows that are no longer stored are rebuilt, which can take minutes;
            if not, :class:`~agon.app.contests.boards.stored_rows.NotStored` is raised.
    """

    def __init__(
        self, service: Service, by: Caller, *, allow_private: bool = False, rebuilds: bool = True
    ) -> None:
        self._service = service
        self._by = by
        self._allow_private = allow_private
        self._rebuilds = rebuilds

    def call(self, operation: Operation[Any, Any], /, *arguments: Any, **keywords: Any) -> Any:
        """Check the caller's permission and execute the operation's function."""
        values = operation.bind(arguments, keywords)
        contest = values.pop("contest") if operation.of_contest else None
        context = authorize(
            operation,
            self._service,
            self._by,
            contest=contest,
            allow_private=self._allow_private,
        )
        if operation.is_paged:
            return self._pages(operation, context, values)
        result = self._execute(operation, context, values)
        if operation.id in _PUBLISHES and contest is not None:
            self._publish(contest)
        return result

    def _pages(
        self, operation: Operation[Any, Any], context: Any, values: dict[str, Any]
    ) -> Iterator[Any]:
        cursor = None
        while True:
            page = self._execute(operation, context, values, PageRequest(MAX_LIMIT, cursor))
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def _execute(
        self, operation: Operation[Any, Any], context: Any, values: dict[str, Any], *page: Any
    ) -> Any:
        """Execute a function; board rows that are no longer stored are rebuilt first."""
        try:
            return operation.function(context, *page, **values)
        except Exception as missing:
            from agon.app.contests.boards.stored_rows import NotStored

            if not self._rebuilds or not isinstance(missing, NotStored):
                raise
            from agon.app.contests.boards.publish import rebuild

            contest = context.contest.id
            rebuild(self._service, contest, seq=missing.seq, board=missing.board)
            return operation.function(context, *page, **values)

    def add_records(
        self, contest: str, chunks: Iterable[bytes], options: RecordOptions
    ) -> ImportSummary:
        """Add the records of a stream, all of them or none, and publish."""
        from agon.api.operations.records import add_records
        from agon.app.contests.ingest.ndjson import read_ndjson
        from agon.app.contests.ingest.openness import require_open
        from agon.app.contests.ingest.records import record

        context = self._context(add_records, contest)
        # Check before a long stream is read in vain.
        with self._service.store.read() as session:
            require_open(self._service, session, context.contest, self._by)
        rows = read_ndjson(chunks, table=options.table)
        try:
            summary = record(
                self._service,
                contest,
                rows,
                by=self._by,
                replace=options.replace,
                dry_run=options.dry_run,
                ignore=options.ignore,
            )
        finally:
            rows.close()
        if not options.dry_run and (summary.added or summary.replaced):
            self._publish(contest)
        return ImportSummary.model_validate(summary)

    def add_prompts(
        self, contest: str, chunks: Iterable[bytes], *, table: PrivateTable
    ) -> PromptSummary:
        """Add the rows of a stream to a private table, all of them or none."""
        from agon.api.operations.bots import add_prompts
        from agon.app.arena.live.private_tables import save_rows
        from agon.app.contests.ingest.ndjson import read_ndjson

        self._context(add_prompts, contest)
        rows = read_ndjson(chunks, table=table)
        try:
            return PromptSummary(
                saved=save_rows(self._service, contest, table, rows, by=self._by.name)
            )
        finally:
            rows.close()

    def export_ledger(self, contest: str, folder: Path) -> None:
        """Write a contest's ledger as a new directory."""
        from agon.api.operations.ledgers import export_contest
        from agon.app.contests.lifecycle import transfer

        self._context(export_contest, contest)
        transfer.export(self._service, contest, folder)

    def import_ledger(self, folder: Path, *, contest: str | None) -> Contest:
        """Import a ledger's directory and publish."""
        from agon.api.operations.contest_resources import visible_to_staff
        from agon.api.operations.ledgers import import_contest
        from agon.app.arena.imported_rounds import check_rounds
        from agon.app.contests.lifecycle import transfer

        authorize(import_contest, self._service, self._by)
        imported = transfer.import_contest(
            self._service, folder, by=self._by, id=contest, further=check_rounds
        )
        self._publish(imported.id)
        return visible_to_staff(self._service, imported)

    def dry_run(self, contest: str, change: str) -> ChangeSet:
        """Run the dry run of a change set.

        Raises:
            Unavailable: it is a rejudge whose programs still have to run.
        """
        from agon.api.operations.changes import get_change, propose_change
        from agon.app.contests.changes import change_sets

        self._context(propose_change, contest)
        change_set: ChangeSet = self.call(get_change, contest, change)
        if change_set.dry_run_at is None and change_set.state == "proposed":
            stored = change_sets.dry_run(self._service, contest, change)
            change_set = ChangeSet.model_validate(stored)
            self._cancel_queued_dry_run(contest, change)
        if change_set.dry_run_at is None and change_set.state == "proposed":
            raise Unavailable(
                f"change set {change} waits for its programs' runs; start agon worker, try again"
            )
        return change_set

    def scan(self, contest: str) -> None:
        """Scan the newest records for findings."""
        from agon.api.operations.cases import start_scan
        from agon.app.arena.report import round_findings
        from agon.app.contests.cases.findings import scan

        self._context(start_scan, contest)
        scan(self._service, contest, further=round_findings)

    def events(self, contest: str, since: str | None) -> Iterator[Event]:  # noqa: ARG002 (streamed by a server only)
        """Raise Unavailable: events are streamed by a server.

        Raises:
            Unavailable: always.
        """
        raise Unavailable(
            f"the events of {contest} are streamed by a server; start agon serve and connect to it"
        )

    def close(self) -> None:
        """Close the database."""
        self._service.store.close()

    def _context(self, operation: Operation[Any, Any], contest: str) -> ContestContext:
        context = authorize(operation, self._service, self._by, contest=contest)
        assert isinstance(context, ContestContext)  # noqa: S101 (a contest was named)
        return context

    def _publish(self, contest: str) -> None:
        from agon.app.arena.published_robustness import store_robustness
        from agon.app.contests.boards.publish import publish

        publish(self._service, contest)
        store_robustness(self._service, contest)

    def _cancel_queued_dry_run(self, contest: str, change: str) -> None:
        """Cancel the queued job of a dry run that was done here; a leased job continues."""
        with self._service.store.write() as session:
            queued = session.queue.page(
                contest_no=session.contests.get(contest).no,
                states=("queued",),
                kinds=("dry-run",),
                limit=_PAGE,
            )
            for job in queued:
                if job.payload.get("change") == change:
                    session.queue.cancel(job.id, now=self._service.clock())
