"""Watching: word of a commit comes within milliseconds, and never is one missed."""

import time
from pathlib import Path
from threading import Event, Timer

from agon.store import open_store
from agon.store.watching import Watch
from conftest import Postgresql


def commit(url: str, *, paused: bool) -> None:
    """Store something from a session of its own."""
    store = open_store(url)
    with store.write() as session:
        session.queue.pause(paused=paused)
    store.close()


def test_a_commit_ends_the_wait(tmp_path: Path) -> None:
    """An idle worker hears of a job long before it would look by itself."""
    url = f"sqlite:///{tmp_path}/agon.db"
    commit(url, paused=False)
    watch = Watch(url)
    watch.wait(0)
    Timer(0.1, commit, (url,), {"paused": True}).start()
    began = time.monotonic()
    assert watch.wait(20)
    assert time.monotonic() - began < 10
    watch.close()


def test_a_commit_between_two_waits_is_not_missed(tmp_path: Path) -> None:
    """While a worker was busy, its next job came."""
    url = f"sqlite:///{tmp_path}/agon.db"
    commit(url, paused=False)
    watch = Watch(url)
    watch.wait(0)
    commit(url, paused=True)
    assert watch.wait(0)
    assert not watch.wait(0)
    watch.close()


def test_a_stop_ends_the_wait(tmp_path: Path) -> None:
    """SIGTERM must not wait for the next job."""
    url = f"sqlite:///{tmp_path}/agon.db"
    commit(url, paused=False)
    stopping = Event()
    watch = Watch(url, pause=stopping.wait)
    watch.wait(0)
    Timer(0.05, stopping.set).start()
    began = time.monotonic()
    assert not watch.wait(20)
    assert time.monotonic() - began < 10
    watch.close()


def test_postgresql_is_looked_at_ten_times_a_second(postgresql: Postgresql) -> None:
    """There is no cheap word of commits there; a tenth of a second is soon enough."""
    naps: list[float] = []
    watch = Watch(postgresql.address(), pause=naps.append)
    assert watch.wait(5)
    assert naps == [0.1]
    watch.close()
