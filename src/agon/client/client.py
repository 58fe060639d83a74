"""The API as functions: over HTTP (:class:`Client`), or in this process (``agon.client.local``)."""

import time
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from agon.api.transport import Transport

if TYPE_CHECKING:
    from agon.api.operation import Operation
    from agon.api.operations.access import Access
    from agon.api.operations.analysis import Analysis
    from agon.api.operations.boards import Boards
    from agon.api.operations.bots import Bots, Prompts
    from agon.api.operations.cases import Cases, Integrity
    from agon.api.operations.changes import Changes
    from agon.api.operations.contests import Contests
    from agon.api.operations.events import Events
    from agon.api.operations.invitations import Invitations
    from agon.api.operations.jobs import Jobs
    from agon.api.operations.judges import Judges
    from agon.api.operations.ledgers import Ledgers
    from agon.api.operations.problems import Problems
    from agon.api.operations.records import Records
    from agon.api.operations.rounds import Rounds
    from agon.api.operations.snapshots import Snapshots
    from agon.api.operations.submissions import Submissions
    from agon.api.operations.webhooks import Webhooks
    from agon.api.operations.work import Work
    from agon.client.jobs import HttpJobSource


class Api:
    """The nouns of the API; their methods are the operations of :mod:`agon.api.operations`.

    Nouns are imported when they are used first, because a command needs few of them.

    Args:
        transport: executes operations.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def call(self, operation: "Operation[Any, Any]", /, *arguments: Any, **keywords: Any) -> Any:
        """Execute an operation, with the arguments of its noun's method."""
        return self._transport.call(operation, *arguments, **keywords)

    @cached_property
    def access(self) -> "Access":
        """The caller, users and tokens."""
        from agon.api.operations.access import Access

        return Access(self._transport)

    @cached_property
    def analysis(self) -> "Analysis":
        """What published boards show beyond their rows."""
        from agon.api.operations.analysis import Analysis

        return Analysis(self._transport)

    @cached_property
    def boards(self) -> "Boards":
        """Published boards."""
        from agon.api.operations.boards import Boards

        return Boards(self._transport)

    @cached_property
    def bots(self) -> "Bots":
        """Bots of arenas."""
        from agon.api.operations.bots import Bots

        return Bots(self._transport)

    @cached_property
    def rounds(self) -> "Rounds":
        """Rounds of arenas and their matches."""
        from agon.api.operations.rounds import Rounds

        return Rounds(self._transport)

    @cached_property
    def work(self) -> "Work":
        """Work of bots and judges that ask for it."""
        from agon.api.operations.work import Work

        return Work(self._transport)

    @cached_property
    def cases(self) -> "Cases":
        """Cases about findings and disputes."""
        from agon.api.operations.cases import Cases

        return Cases(self._transport)

    @cached_property
    def changes(self) -> "Changes":
        """Change sets."""
        from agon.api.operations.changes import Changes

        return Changes(self._transport)

    @cached_property
    def contests(self) -> "Contests":
        """Contests."""
        from agon.api.operations.contests import Contests

        return Contests(self._transport)

    @cached_property
    def events(self) -> "Events":
        """Events of contests."""
        from agon.api.operations.events import Events

        return Events(self._transport)

    @cached_property
    def integrity(self) -> "Integrity":
        """Findings of integrity scans."""
        from agon.api.operations.cases import Integrity

        return Integrity(self._transport)

    @cached_property
    def invitations(self) -> "Invitations":
        """Invitations to contests."""
        from agon.api.operations.invitations import Invitations

        return Invitations(self._transport)

    @cached_property
    def jobs(self) -> "Jobs":
        """Jobs and the queue."""
        from agon.api.operations.jobs import Jobs

        return Jobs(self._transport)

    @cached_property
    def judges(self) -> "Judges":
        """Model judges of the server."""
        from agon.api.operations.judges import Judges

        return Judges(self._transport)

    @cached_property
    def ledgers(self) -> "Ledgers":
        """Ledgers."""
        from agon.api.operations.ledgers import Ledgers

        return Ledgers(self._transport)

    @cached_property
    def problems(self) -> "Problems":
        """Problems of dojo contests."""
        from agon.api.operations.problems import Problems

        return Problems(self._transport)

    @cached_property
    def records(self) -> "Records":
        """Records."""
        from agon.api.operations.records import Records

        return Records(self._transport)

    @cached_property
    def prompts(self) -> "Prompts":
        """Prompts of arenas, and people's answers to them."""
        from agon.api.operations.bots import Prompts

        return Prompts(self._transport)

    @cached_property
    def snapshots(self) -> "Snapshots":
        """Snapshots of boards, and participants."""
        from agon.api.operations.snapshots import Snapshots

        return Snapshots(self._transport)

    @cached_property
    def submissions(self) -> "Submissions":
        """Submissions, votes and matches."""
        from agon.api.operations.submissions import Submissions

        return Submissions(self._transport)

    @cached_property
    def webhooks(self) -> "Webhooks":
        """Webhooks and their deliveries."""
        from agon.api.operations.webhooks import Webhooks

        return Webhooks(self._transport)

    def close(self) -> None:
        """Close the connections or the database."""
        self._transport.close()

    def __enter__(self) -> Self:
        """Return the API; the end of the block closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Client(Api):
    """The API of a server.

    Errors of the server are raised as the classes they have there (``NotFound``, ``Conflict``, …).
    Requests are repeated when a connection is lost or the server is busy; a repeated request
    changes nothing twice.

    Args:
        url: the server's URL.
        token: ``agon_…``; None: an anonymous client.
        timeout: seconds without a byte after which a request is lost.
        patience: seconds during which a request is repeated.
        chunk: maximum number of bytes of a request with records; None: 16 MiB.
        progress: called with the number of bytes of records sent so far.
        transport: of httpx2; for tests.
        sleep: waits a number of seconds.

    Raises:
        Unreadable: the URL or the token is invalid.

    Example:
        >>> client = Client("http://127.0.0.1:8080", token="agon_stored-in-a-file")
        >>> client.url
        'http://127.0.0.1:8080'
        >>> client.close()

        ::

            with Client("https://agon.example", token=token) as client:
                client.contests.create(
                    ContestCreate(id="spring", discipline="arena", title="Spring")
                )
                client.records.add("spring", [{"id": "ada"}], table="owners")
                for row in client.boards.page("spring").rows:
                    print(row["rank"], row["id"], row["score"])
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        patience: float = 30.0,
        chunk: int | None = None,
        progress: Callable[[int], object] = lambda _: None,
        transport: Any = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        from agon.client.connection import Connection
        from agon.client.http_transport import HttpTransport
        from agon.client.uploads import MAX_CHUNK

        self._connection = Connection(
            url, token=token, timeout=timeout, patience=patience, transport=transport, sleep=sleep
        )
        size = MAX_CHUNK if chunk is None else chunk
        http = HttpTransport(self._connection, chunk=size, progress=progress, sleep=sleep)
        super().__init__(http)

    @property
    def url(self) -> str:
        """The server's URL."""
        return self._connection.url

    def job_source(
        self, *, worker: str, wait: Callable[[float], object] = time.sleep
    ) -> "HttpJobSource":
        """Return the source of a worker's jobs; the token's role is worker or operator."""
        from agon.client.jobs import HttpJobSource

        return HttpJobSource(self.jobs, worker=worker, wait=wait)
