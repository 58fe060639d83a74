"""What callers see of boards is looked up once for each state of the database."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.lifecycle import transitions
from agon.errors import NotFound, Unavailable
from agon.http.board_views import ViewCache, ViewKey
from agon.store.session import Session, Store
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER

SHOWN = ViewKey("spring", "user-score", None, None, ANONYMOUS)


@dataclass
class Counted:
    """Stand for a store that counts reading sessions, and refuses them while it is down."""

    store: Store
    sessions: int = 0
    down: bool = False

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a reading session."""
        self.sessions += 1
        if self.down:
            raise Unavailable("the database is down; start it")
        with self.store.read() as session:
            yield session

    def write(self) -> AbstractContextManager[Session]:
        """Begin a writing session."""
        return self.store.write()

    def close(self) -> None:
        """Close the store."""
        self.store.close()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with a published contest."""
    made = instance_at(tmp_path)
    made.contest(people=2)
    yield made
    made.close()


@pytest.fixture(params=["at once", "in threads"])
def views(request: pytest.FixtureRequest, instance: Instance) -> tuple[ViewCache, Counted]:
    """Give sights of each kind, and what counts their sessions."""
    counted = Counted(instance.service.store)
    service = replace(instance.service, store=counted)  # type: ignore[arg-type]  # counts sessions
    return ViewCache(service, in_threads=request.param == "in threads"), counted


def test_many_who_ask_in_one_state_share_one_look(views: tuple[ViewCache, Counted]) -> None:
    """When a board changes, all its visitors come at once."""
    cache, counted = views

    async def ask() -> list[object]:
        return list(await asyncio.gather(*(cache.load(SHOWN, 1) for _ in range(20))))

    found = asyncio.run(ask())
    assert found[0] is not None
    assert all(one is found[0] for one in found)
    assert counted.sessions == 1
    kept = cache.cached(SHOWN)
    assert kept is not None
    assert kept == (1, found[0])


def test_another_state_is_looked_at_anew(
    views: tuple[ViewCache, Counted], instance: Instance
) -> None:
    """What was kept of an open contest must not be shown once it is frozen."""
    cache, counted = views

    async def ask() -> list[str]:
        before = await cache.load(SHOWN, 1)
        transitions.freeze(instance.service, "spring", by=ORGANISER)
        after = await cache.load(SHOWN, 2)
        assert before is not None
        assert after is not None
        return [before.contest.contest.state, after.contest.contest.state]

    assert asyncio.run(ask()) == ["open", "frozen"]
    assert counted.sessions == 2


def test_what_is_refused_is_asked_again(views: tuple[ViewCache, Counted]) -> None:
    """A database that was down for a moment is not down for ever."""
    cache, counted = views

    async def ask() -> None:
        counted.down = True
        with pytest.raises(Unavailable):
            await cache.load(SHOWN, 1)
        assert cache.cached(SHOWN) is None
        counted.down = False
        with pytest.raises(NotFound):
            await cache.load(SHOWN._replace(contest="nothing"), 1)
        assert await cache.load(SHOWN, 1) is not None

    asyncio.run(ask())


def test_callers_are_told_apart(instance: Instance, views: tuple[ViewCache, Counted]) -> None:
    """An organiser sees behind a freeze; a stranger who comes next must not."""
    cache, _ = views
    transitions.freeze(instance.service, "spring", by=ORGANISER)

    async def ask() -> list[bool]:
        theirs = await cache.load(SHOWN._replace(caller=ORGANISER), 1)
        ours = await cache.load(SHOWN, 1)
        assert theirs is not None
        assert ours is not None
        return [theirs.contest.staff, ours.contest.staff]

    assert asyncio.run(ask()) == [True, False]


def test_strangers_do_not_fill_the_memory(
    views: tuple[ViewCache, Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every name of a snapshot that a cursor may hold would be kept."""
    cache, _ = views
    monkeypatch.setattr("agon.http.board_views._MAX_VIEWS", 3)

    async def ask() -> None:
        for name in ("spring", "b", "c"):
            for snapshot in (None, 1, 2):
                with suppress(NotFound):
                    await cache.load(ViewKey(name, "user-score", None, snapshot, ANONYMOUS), 1)

    asyncio.run(ask())
    assert len(cache._entries) <= 3
