"""Cache the replicas of recently used contests in this process's memory."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from agon.entities.contests import Contest
from agon.errors import AgonError

if TYPE_CHECKING:
    from agon.app.replay.replica import ContestReplica
    from agon.records.raw import MemoryEngine
    from agon.store.session import Store


class ReplicaCache:
    """The replicas of contests that were used last, each lent to one thread at a time.

    Args:
        size: number of replicas kept; one more discards the one not used for longest.
        engine: opens the engine of a replica; None: each starts an instance of DuckDB, which
            returns its memory when the replica is discarded.
    """

    def __init__(
        self, *, size: int = 8, engine: "Callable[[], MemoryEngine] | None" = None
    ) -> None:
        self._size = size
        self._engine = engine
        self._replicas: OrderedDict[str, tuple[ContestReplica, Lock]] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lend(self, contest_id: str) -> Iterator["ContestReplica"]:
        """Lend a contest's replica as it is; other threads that ask for it wait.

        After an unexpected error the replica is discarded, and the next borrower reads the ledger
        again. Agon's own errors (an unknown id, rules that cannot be scored) leave it intact.
        """
        replica, lock = self._replica(contest_id)
        with lock:
            try:
                yield replica
            except AgonError:
                if replica.seq == 0:  # nothing is lost, and the contest may not exist
                    self.discard(contest_id)
                raise
            except BaseException:
                self.discard(contest_id)
                raise

    @contextmanager
    def current(self, store: "Store", contest: Contest) -> Iterator["ContestReplica"]:
        """Lend a contest's replica after reading the newest entries of a store."""
        with self.lend(contest.id) as replica:
            with store.read() as session:
                replica.read(session, contest)
            yield replica

    def discard(self, contest_id: str) -> None:
        """Discard the replica of a contest, if there is one."""
        with self._lock:
            self._replicas.pop(contest_id, None)

    def close(self) -> None:
        """Discard and close all replicas but those that are lent; for a process that ends."""
        with self._lock:
            replicas, self._replicas = self._replicas, OrderedDict()
        for replica, lock in replicas.values():
            if lock.acquire(blocking=False):
                replica.close()
                lock.release()

    def _replica(self, contest_id: str) -> tuple["ContestReplica", Lock]:
        from agon.app.replay.replica import ContestReplica  # loads DuckDB and NumPy

        with self._lock:
            if contest_id not in self._replicas:
                engine = None if self._engine is None else self._engine()
                self._replicas[contest_id] = (ContestReplica(contest_id, engine=engine), Lock())
            self._replicas.move_to_end(contest_id)
            # A thread that has borrowed a discarded one can go on with it.
            while len(self._replicas) > self._size:
                self._replicas.popitem(last=False)
            return self._replicas[contest_id]
