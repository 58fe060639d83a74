"""The API of a server as functions."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from agon.client.remote.access import RemoteAccess
from agon.client.remote.boards import RemoteBoards
from agon.client.remote.cases import RemoteCases
from agon.client.remote.changes import RemoteChanges, RemoteIntegrity
from agon.client.remote.contests import RemoteContests
from agon.client.remote.events import RemoteEvents
from agon.client.remote.jobs import RemoteJobs, RemoteSource
from agon.client.remote.ledgers import RemoteLedgers
from agon.client.remote.problems import RemoteProblems, RemoteSubmissions
from agon.client.remote.records import PORTION, RemoteRecords
from agon.client.remote.webhooks import RemoteWebhooks
from agon.client.wire import Wire


class Client:
    """Ask a server; an :class:`agon.client.ports.House` over HTTP.

    What the server refuses is raised as the error it is there (``NotFound``, ``Conflict``, …).
    Requests are repeated when a connection is lost or the server is busy, and what was done is
    not done again.

    Args:
        url: the server's address.
        token: as it was shown, ``agon_…``; None: what everybody may see.
        timeout: seconds without a byte after which a request is lost.
        patience: seconds in which a request is repeated.
        portion: bytes of one request in which records are sent.
        told: called with the bytes of records sent so far.
        transport: how bytes travel (of httpx2); for tests.
        sleep: how to wait.

    Attributes:
        contests, records, problems, submissions, boards, changes, integrity, ledgers, access, jobs,
            cases, webhooks: the nouns of the API.
        events: what happens, as it happens.

    Raises:
        Unreadable: the address or the token is none.

    Example:
        >>> client = Client("http://127.0.0.1:8080", token="agon_kept-in-a-file")
        >>> client.url
        'http://127.0.0.1:8080'
        >>> client.close()

        ::

            with Client("https://agon.example", token=token) as client:
                client.contests.create(NewContest(id="spring", discipline="arena", title="Spring"))
                client.records.add("spring", [b'{"table":"owners","row":{"id":"ada"}}'])
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
        portion: int = PORTION,
        told: Callable[[int], object] = lambda _: None,
        transport: Any = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._wire = Wire(
            url, token=token, timeout=timeout, patience=patience, transport=transport, sleep=sleep
        )
        self.contests = RemoteContests(self._wire)
        self.records = RemoteRecords(self._wire, portion=portion, told=told)
        self.problems = RemoteProblems(self._wire)
        self.submissions = RemoteSubmissions(self._wire)
        self.boards = RemoteBoards(self._wire)
        self.changes = RemoteChanges(self._wire, sleep=sleep)
        self.integrity = RemoteIntegrity(self._wire, sleep=sleep)
        self.cases = RemoteCases(self._wire)
        self.ledgers = RemoteLedgers(self._wire)
        self.access = RemoteAccess(self._wire)
        self.jobs = RemoteJobs(self._wire)
        self.webhooks = RemoteWebhooks(self._wire)
        self.events = RemoteEvents(self._wire)

    @property
    def url(self) -> str:
        """The server's address."""
        return self._wire.url

    def job_source(
        self, *, worker: str, wait: Callable[[float], object] = time.sleep
    ) -> RemoteSource:
        """Return what gives a worker its jobs; the token has to be of role worker or operator."""
        return RemoteSource(self._wire, worker=worker, wait=wait)

    def close(self) -> None:
        """Let go of the connections."""
        self._wire.close()

    def __enter__(self) -> Self:
        """Return the client; the block's end closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
