"""How a client executes operations: over HTTP, or with direct access to the database."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agon.api.models.bots import PromptSummary
from agon.api.models.changes import ChangeSet
from agon.api.models.contests import Contest
from agon.api.models.records import Event, ImportSummary
from agon.api.operation import Executor, OperationSet
from agon.entities.arena import PrivateTable


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """How the records of a stream are added.

    Attributes:
        table: the table of all lines, which are then bare rows; None: each line names its own.
        replace: whether a record supersedes one with the same key.
        dry_run: validate only; add nothing.
        ignore: names of keys that are not read.
    """

    table: str | None
    replace: bool
    dry_run: bool
    ignore: tuple[str, ...]


class Transport(Executor):
    """Execute operations.

    :meth:`call` executes all that are a request and a response; the other methods are those that
    stream, or wait for a job.
    """

    @abstractmethod
    def add_records(
        self, contest: str, chunks: Iterable[bytes], options: RecordOptions
    ) -> ImportSummary:
        """Add the records of an NDJSON stream."""

    @abstractmethod
    def add_prompts(
        self, contest: str, chunks: Iterable[bytes], *, table: PrivateTable
    ) -> PromptSummary:
        """Add the rows of an NDJSON stream to a private table of an arena."""

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


class Noun(OperationSet):
    """The operations of one noun, as methods of a client."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.transport = transport
