"""What callers see of a board is looked up once for each state of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.pages import PageRequest
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.contests.lifecycle import transitions
from agon.errors import NotFound, Unavailable
from agon.http.boards.read import BoardReader, ViewKey
from agon.store.session import Session, Store
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER

FIRST = PageRequest()
KEY = ViewKey.of("spring", "user-score", FIRST, ANONYMOUS)


@dataclass
class Counted:
    """A store that counts read sessions, and raises errors while it is down."""

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

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with a published contest."""
    new_instance = instance_at(tmp_path)
    new_instance.contest(people=4)
    yield new_instance
    new_instance.close()


@pytest.fixture
def counted(instance: Instance) -> Counted:
    """Return a store that counts its sessions."""
    return Counted(instance.service.store)


@pytest.fixture
def reader(instance: Instance, counted: Counted) -> BoardReader:
    """Return a reader of the store."""
    return BoardReader(replace(instance.service, store=counted))  # type: ignore[arg-type]  # counts


@pytest.mark.exhaustive
def test_a_board_is_looked_up_once_while_nothing_is_stored(
    reader: BoardReader, counted: Counted
) -> None:
    """Pages, rows and lists of the unscored are all read with what was looked up for one."""
    requests = (FIRST, PageRequest(limit=1), PageRequest(id="u1"), PageRequest(unscored=True))
    views = {id(reader.read(KEY, request)[0]) for request in requests}
    assert (len(views), counted.sessions) == (1, 1)


@pytest.mark.exhaustive
def test_a_changed_state_is_looked_up_again(
    reader: BoardReader, counted: Counted, instance: Instance
) -> None:
    """A cached view of an open contest must not be served once the contest is frozen."""
    states = [reader.read(KEY, FIRST)[0].contest.contest.state for _ in range(2)]
    transitions.freeze(instance.service, "spring", by=ORGANISER)
    states += [reader.read(KEY, FIRST)[0].contest.contest.state for _ in range(2)]
    assert states == ["open", "open", "frozen", "frozen"]
    assert counted.sessions == 2


@pytest.mark.exhaustive
def test_errors_are_not_cached(reader: BoardReader, counted: Counted) -> None:
    """A read succeeds as soon as the database is up again."""
    counted.down = True
    with pytest.raises(Unavailable):
        reader.read(KEY, FIRST)
    counted.down = False
    with pytest.raises(NotFound):
        reader.read(KEY._replace(contest="nothing"), FIRST)
    assert reader.read(KEY, FIRST)[1] is not None


@pytest.mark.exhaustive
def test_callers_do_not_share_views(reader: BoardReader, instance: Instance) -> None:
    """After a freeze an organiser sees current results; the next anonymous caller must not."""
    transitions.freeze(instance.service, "spring", by=ORGANISER)
    keys = (KEY._replace(caller=ORGANISER), KEY)
    assert [reader.read(key, FIRST)[0].contest.staff for key in keys] == [True, False]


def test_callers_in_other_networks_share_views() -> None:
    """What a caller sees does not depend on the address it is called from."""
    elsewhere = replace(ANONYMOUS, network="another")
    assert ViewKey.of("spring", "user-score", FIRST, elsewhere) == KEY


def test_rows_deleted_after_the_lookup_are_looked_up_again(
    reader: BoardReader, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of a page must not be returned for all of it."""
    view, page = reader.read(KEY, FIRST)
    assert page is not None
    with instance.service.store.write() as session:
        session.snapshots.prune(view.board.contest.no, "user-score", keep=[])
    monkeypatch.setattr(Store, "state", lambda _: "as before")  # they are deleted right after it
    reader._views.get(KEY, "as before", lambda: view)
    with pytest.raises(NotStored):
        reader.read(KEY, FIRST)
    instance.people("spring", 1, begin=9)
    reader._views.drop(KEY, view)
    reader._views.get(KEY, "as before", lambda: view)
    _, page = reader.read(KEY, FIRST)
    assert page is not None
    assert len(page.lines) == 5
