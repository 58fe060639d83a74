"""How a client executes operations: over HTTP, or with direct access to the database."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agon.api.models.changes import ChangeSet
from agon.api.models.contests import Contest
from agon.api.models.records import Event, ImportSummary

if TYPE_CHECKING:
    from agon.api.operation import Operation


class Transport(ABC):
    """Execute operations.

    :meth:`call` executes all that are a request and a response; the other methods are those that
    stream, or wait for a job.
    """

    @abstractmethod
    def call(self, operation: "Operation[Any, Any]", /, *arguments: Any, **keywords: Any) -> Any:
        """Execute an operation; one that returns pages yields the items of all pages.

        Raises:
            AgonError: the operation's own error.
            Unavailable: the service cannot be reached.
        """

    @abstractmethod
    def add_records(
        self,
        contest: str,
        chunks: Iterable[bytes],
        *,
        table: str | None,
        replace: bool,
        dry_run: bool,
    ) -> ImportSummary:
        """Add the records of an NDJSON stream."""

    @abstractmethod
    def export_ledger(self, contest: str, folder: Path) -> None:
        """Write a contest's ledger as a new directory."""

    @abstractmethod
    def import_ledger(self, folder: Path, *, contest: str | None) -> Contest:
        """Import a ledger's directory."""

    @abstractmethod
    def dry_run(self, contest: str, change: str) -> ChangeSet:
        """Return a change set after its dry run."""

    @abstractmethod
    def scan(self, contest: str) -> None:
        """Scan the newest records for findings."""

    @abstractmethod
    def events(self, contest: str, since: str | None) -> Iterator[Event]:
        """Yield events as they happen."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""


class Noun:
    """The operations of one noun, as methods of a client."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
