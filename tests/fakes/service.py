"""A service on a new SQLite file, with a clock that tests control."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from agon.app.replay.replica_cache import ReplicaCache
from agon.app.service import Service, SigningKey
from agon.entities.access import Caller, Everywhere
from agon.records.raw import MemoryEngine
from agon.store import open_store
from agon.store.migrations import upgrade

ORGANISER = Caller(name="user:olga", user="olga", role="organiser", contests=Everywhere.ALL)
OPERATOR = Caller(name="user:root", user="root", role="operator", contests=Everywhere.ALL)
JUDGE = Caller(name="user:judy", user="judy", role="judge", contests=Everywhere.ALL)
PARTICIPANT = Caller(name="user:ada", user="ada", role="participant", contests=Everywhere.ALL)
VIEWER = Caller(name="user:vera", user="vera", role="viewer", contests=Everywhere.ALL)
WORKER = Caller(name="user:walt", user="walt", role="worker", contests=Everywhere.ALL)


@dataclass
class Clock:
    """A clock that advances by a second with each call."""

    at: datetime = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    step: timedelta = field(default=timedelta(seconds=1))

    def __call__(self) -> datetime:
        """Return the time and advance the clock."""
        self.at += self.step
        return self.at


def service_at(
    folder: Path, *, clock: Clock | None = None, url: str | None = None, first_id: int = 1
) -> Service:
    """Open a service on a separate database; the caller closes its store."""
    if url is None and not (folder / "agon.db").exists():
        (folder / "agon.db").write_bytes(_empty_database())
    numbers = count(first_id)
    return Service(
        store=open_store(url or f"sqlite:///{folder}/agon.db"),
        clock=clock or Clock(),
        new_id=lambda: f"id{next(numbers):06}",
        signer=SigningKey(bytes(range(32))),
        replicas=ReplicaCache(
            engine=partial(MemoryEngine, shared=True)
        ),  # starting one takes 20 ms
        network_key=b"k" * 32,
    )


@cache
def _empty_database() -> bytes:
    """Return an SQLite file with all tables and no rows, which is copied faster than created."""
    with TemporaryDirectory() as folder:
        upgrade(f"sqlite:///{folder}/agon.db")
        return (Path(folder) / "agon.db").read_bytes()
