"""A house beside its database: the use cases, called by whoever has the database itself."""

from types import TracebackType
from typing import Self

from agon.app.access.permissions import LOCAL
from agon.app.service import Service
from agon.client.local.access import LocalAccess
from agon.client.local.boards import LocalBoards
from agon.client.local.cases import LocalCases
from agon.client.local.changes import LocalChanges, LocalIntegrity
from agon.client.local.contests import LocalContests, LocalRecords
from agon.client.local.jobs import LocalJobs
from agon.client.local.ledgers import LocalLedgers
from agon.client.local.problems import LocalProblems, LocalSubmissions
from agon.client.local.webhooks import LocalWebhooks
from agon.entities.access import Caller


class Local:
    """Ask a house in this process; an :class:`agon.client.ports.House`.

    What changes a board publishes it at once, so that it is there without a worker.

    Args:
        service: what the use cases work with; its store is closed with this.
        by: who asks; by default whoever has the database may do everything.
        allow_private: the setting ``webhook_allow_private``.
    """

    def __init__(
        self, service: Service, *, by: Caller = LOCAL, allow_private: bool = False
    ) -> None:
        self._service = service
        self.contests = LocalContests(service, by)
        self.records = LocalRecords(service, by)
        self.problems = LocalProblems(service, by)
        self.submissions = LocalSubmissions(service, by)
        self.boards = LocalBoards(service, by)
        self.changes = LocalChanges(service, by)
        self.integrity = LocalIntegrity(service, by)
        self.cases = LocalCases(service, by)
        self.ledgers = LocalLedgers(service, by)
        self.access = LocalAccess(service, by)
        self.jobs = LocalJobs(service)
        self.webhooks = LocalWebhooks(service, by, allow_private=allow_private)

    def close(self) -> None:
        """Let go of the database."""
        self._service.store.close()

    def __enter__(self) -> Self:
        """Return the house; the block's end closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
