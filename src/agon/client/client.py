"""The API as functions: over HTTP (:class:`Client`), or in this process (``agon.client.local``)."""

import time
from collections.abc import Callable
from importlib import import_module
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
    from agon.api.operations.members import Members
    from agon.api.operations.problems import Problems
    from agon.api.operations.records import Records
    from agon.api.operations.rounds import Rounds
    from agon.api.operations.snapshots import Snapshots
    from agon.api.operations.submissions import Submissions
    from agon.api.operations.webhooks import Webhooks
    from agon.api.operations.work import Work
    from agon.client.jobs import HttpJobSource


class _Noun:
    """An attribute of :class:`Api`: a class of operations, imported when it is used first."""

    def __init__(self, path: str) -> None:
        self._module, _, self._class = path.partition(".")

    def __set_name__(self, owner: type["Api"], name: str) -> None:
        self._name = name

    def __get__(self, api: "Api", owner: type["Api"]) -> Any:
        module = import_module(f"agon.api.operations.{self._module}")
        # The instance's attribute is found before this one from then on.
        noun = vars(api)[self._name] = getattr(module, self._class)(api.transport)
        return noun


def _noun(path: str) -> Any:
    """Return an attribute whose type is that of its annotation."""
    return _Noun(path)


class Api:
    """The nouns of the API; their methods are the operations of :mod:`agon.api.operations`.

    Nouns are imported when they are used first, because a command needs few of them.

    Args:
        transport: executes operations.
    """

    access: "Access" = _noun("access.Access")
    analysis: "Analysis" = _noun("analysis.Analysis")
    boards: "Boards" = _noun("boards.Boards")
    bots: "Bots" = _noun("bots.Bots")
    rounds: "Rounds" = _noun("rounds.Rounds")
    work: "Work" = _noun("work.Work")
    cases: "Cases" = _noun("cases.Cases")
    changes: "Changes" = _noun("changes.Changes")
    contests: "Contests" = _noun("contests.Contests")
    events: "Events" = _noun("events.Events")
    integrity: "Integrity" = _noun("cases.Integrity")
    invitations: "Invitations" = _noun("invitations.Invitations")
    jobs: "Jobs" = _noun("jobs.Jobs")
    judges: "Judges" = _noun("judges.Judges")
    ledgers: "Ledgers" = _noun("ledgers.Ledgers")
    members: "Members" = _noun("members.Members")
    problems: "Problems" = _noun("problems.Problems")
    records: "Records" = _noun("records.Records")
    prompts: "Prompts" = _noun("bots.Prompts")
    snapshots: "Snapshots" = _noun("snapshots.Snapshots")
    submissions: "Submissions" = _noun("submissions.Submissions")
    webhooks: "Webhooks" = _noun("webhooks.Webhooks")

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def call(self, operation: "Operation[Any, Any]", /, *arguments: Any, **keywords: Any) -> Any:
        """Execute an operation, with the arguments of its noun's method."""
        return self.transport.call(operation, *arguments, **keywords)

    def close(self) -> None:
        """Close the connections or the database."""
        self.transport.close()

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
        sleep: waits a number of seconds; a true result, such as that of ``Event.wait``, ends the
            repeating of a request.

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
