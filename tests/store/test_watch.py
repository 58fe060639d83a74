"""Watching: word of a commit comes within milliseconds, and never is one missed."""

import time
from collections.abc import Iterator
from datetime import timedelta
from threading import Event, Timer

import pytest

from agon.errors import Unavailable
from agon.store import open_store
from agon.store.watch import Watch
from postgresql_server import Postgresql
from store.factories import later

_MINE = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query = 'LISTEN agon_stored'"


def commit(url: str, *, paused: bool) -> None:
    """Store something from a session of its own."""
    store = open_store(url)
    with store.write() as session:
        session.queue.pause(paused=paused)
    store.close()


@pytest.fixture
def watch(url: str) -> Iterator[Watch]:
    """Watch a database after the notice of its creation."""
    commit(url, paused=False)
    watching = Watch(url)
    assert watching.wait(20)
    yield watching
    watching.close()
    watching.close()


@pytest.mark.exhaustive
def test_a_commit_ends_the_wait(url: str, watch: Watch) -> None:
    """An idle worker is notified of a job long before its next poll."""
    assert not watch.wait(0)
    timer = Timer(0.1, commit, (url,), {"paused": True})
    timer.start()
    began = time.monotonic()
    assert watch.wait(120)
    assert time.monotonic() - began < 60
    timer.join()


@pytest.mark.sample(1)
def test_a_commit_between_two_waits_is_not_missed(url: str, watch: Watch) -> None:
    """While a worker was busy, its next job came."""
    commit(url, paused=True)
    assert watch.wait(20)
    assert not watch.wait(0)


@pytest.mark.exhaustive
def test_a_commit_right_after_another_is_not_missed(url: str, watch: Watch) -> None:
    """Word of the first must not swallow word of the second."""
    for paused in (True, False) * 5:
        commit(url, paused=paused)
        assert watch.wait(20)
    assert not watch.wait(0.1)


@pytest.mark.exhaustive
def test_who_stored_nothing_wakes_nobody(url: str, watch: Watch) -> None:
    """Workers that find no job would keep each other awake for ever."""
    store = open_store(url)
    with store.write() as session:
        assert session.queue.claim(
            ["judge"], worker="w", lease="l", now=later(0), span=timedelta(1)
        ) is None  # fmt: skip
    with store.read() as session:
        session.queue.is_paused()
    with pytest.raises(ZeroDivisionError), store.write() as session:  # noqa: PT012 - it ends the session
        session.queue.pause(paused=True)
        raise ZeroDivisionError
    store.close()
    assert not watch.wait(0.3)


def test_a_stop_ends_the_wait(url: str) -> None:
    """SIGTERM must not wait for the next job."""
    commit(url, paused=False)
    stopping = Event()
    watch = Watch(url, pause=stopping.wait)
    assert watch.wait(20)
    timer = Timer(0.05, stopping.set)
    timer.start()
    began = time.monotonic()
    assert not watch.wait(120)
    assert time.monotonic() - began < 60
    timer.join()
    watch.close()


def test_a_lost_connection_counts_as_news_and_is_made_again(postgresql: Postgresql) -> None:
    """PostgreSQL was restarted; there are no notices of what was stored meanwhile."""
    url = postgresql.service()
    commit(url, paused=False)
    naps: list[float] = []
    watch = Watch(url, pause=naps.append)
    assert watch.wait(20)
    assert not watch.wait(0)
    postgresql.run(f"SELECT pg_terminate_backend(pid) {_MINE}")
    assert watch.wait(20)
    naps.clear()
    assert watch.wait(20)  # not yet: it polls as if there were no notices of commits
    assert naps == [0.1]
    end = time.monotonic() + 20
    while watch.wait(0.1):
        assert time.monotonic() < end, "it listens no more"
        time.sleep(0.05)
    commit(url, paused=True)
    assert watch.wait(20)
    watch.close()


def test_a_server_that_is_not_there_is_looked_at_ten_times_a_second() -> None:
    """The worker reports why it cannot go on; waiting must not raise."""
    url = "postgresql://agon@127.0.0.1:1/agon"
    naps: list[float] = []
    watch = Watch(url, pause=naps.append)
    assert watch.wait(20)
    assert watch.wait(20)
    assert naps == [0.1, 0.1]
    with pytest.raises(Unavailable):
        open_store(url)
    watch.close()
