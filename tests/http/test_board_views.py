"""Board views are loaded once for each state of the database."""

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

KEY = ViewKey("spring", "user-score", None, None, ANONYMOUS)


@dataclass
class Counted:
    """A store that counts read sessions and raises errors while it is down."""

    store: Store
    sessions: int = 0
    down: bool = False

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Begin a read session."""
        self.sessions += 1
        if self.down:
            raise Unavailable("the database is down; start it")
        with self.store.read() as session:
            yield session

    def write(self) -> AbstractContextManager[Session]:
        """Begin a write session."""
        return self.store.write()

    def close(self) -> None:
        """Close the store."""
        self.store.close()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with a published contest."""
    new_instance = instance_at(tmp_path)
    new_instance.contest(people=2)
    yield new_instance
    new_instance.close()


@pytest.fixture(params=["at once", "in threads"])
def views(request: pytest.FixtureRequest, instance: Instance) -> tuple[ViewCache, Counted]:
    """Return a view cache of each kind and the store that counts its sessions."""
    counted = Counted(instance.service.store)
    service = replace(instance.service, store=counted)  # type: ignore[arg-type]  # counts sessions
    return ViewCache(service, in_threads=request.param == "in threads"), counted


def test_concurrent_requests_share_one_load(views: tuple[ViewCache, Counted]) -> None:
    """After a board changes, many clients request it at the same time."""
    cache, counted = views

    async def scenario() -> list[object]:
        return list(await asyncio.gather(*(cache.load(KEY, 1) for _ in range(20))))

    loaded = asyncio.run(scenario())
    assert loaded[0] is not None
    assert all(view is loaded[0] for view in loaded)
    assert counted.sessions == 1
    entry = cache.find(KEY)
    assert entry is not None
    assert entry == (1, loaded[0])


def test_a_changed_state_is_loaded_again(
    views: tuple[ViewCache, Counted], instance: Instance
) -> None:
    """A cached view of an open contest must not be served once the contest is frozen."""
    cache, counted = views

    async def scenario() -> list[str]:
        before = await cache.load(KEY, 1)
        transitions.freeze(instance.service, "spring", by=ORGANISER)
        after = await cache.load(KEY, 2)
        assert before is not None
        assert after is not None
        return [before.contest.contest.state, after.contest.contest.state]

    assert asyncio.run(scenario()) == ["open", "frozen"]
    assert counted.sessions == 2


def test_errors_are_not_cached(views: tuple[ViewCache, Counted]) -> None:
    """A load succeeds as soon as the database is up again."""
    cache, counted = views

    async def scenario() -> None:
        counted.down = True
        with pytest.raises(Unavailable):
            await cache.load(KEY, 1)
        assert cache.find(KEY) is None
        counted.down = False
        with pytest.raises(NotFound):
            await cache.load(KEY._replace(contest="nothing"), 1)
        assert await cache.load(KEY, 1) is not None

    asyncio.run(scenario())


def test_callers_do_not_share_views(instance: Instance, views: tuple[ViewCache, Counted]) -> None:
    """After a freeze an organiser sees current results; the next anonymous caller must not."""
    cache, _ = views
    transitions.freeze(instance.service, "spring", by=ORGANISER)

    async def scenario() -> list[bool]:
        staff_view = await cache.load(KEY._replace(caller=ORGANISER), 1)
        public_view = await cache.load(KEY, 1)
        assert staff_view is not None
        assert public_view is not None
        return [staff_view.contest.staff, public_view.contest.staff]

    assert asyncio.run(scenario()) == [True, False]


def test_the_number_of_cached_views_is_bounded(
    views: tuple[ViewCache, Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise clients could fill the memory with arbitrary snapshot numbers in cursors."""
    cache, _ = views
    monkeypatch.setattr("agon.http.board_views._MAX_VIEWS", 3)

    async def scenario() -> None:
        for name in ("spring", "b", "c"):
            for snapshot in (None, 1, 2):
                with suppress(NotFound):
                    await cache.load(ViewKey(name, "user-score", None, snapshot, ANONYMOUS), 1)

    asyncio.run(scenario())
    assert len(cache._entries) <= 3
