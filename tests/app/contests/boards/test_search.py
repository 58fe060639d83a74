"""Test how people are found on boards by how their ids begin."""

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import Page, page
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.search import search
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.app.service import Service
from agon.errors import NotFound, Unreadable
from fakes.service import ORGANISER
from fakes.spring import BOTS, spring, view


def _ids(shown: Page) -> list[str]:
    return [orjson.loads(line)["id"] for line in shown.lines]


def _more_judges(service: Service, *names: str) -> None:
    rows = [("judges", {"id": name, "kind": "person"}, None) for name in names]
    record(service, "spring", rows, by=ORGANISER)
    publish(service, "spring")


@pytest.fixture
def seen(service: Service) -> View:
    """Hold a stranger's view of a contest with thirteen judges."""
    spring(service)
    _more_judges(service, *(f"k{n}" for n in range(10)))
    return view(service, ANONYMOUS)


def test_the_rows_found_are_the_boards_own(service: Service, seen: View) -> None:
    """What is found stands on the board byte for byte, with its rank there."""
    whole = page(service, seen, "judges").lines
    found = search(service, seen, "judges", "k")
    assert _ids(found) == [f"k{n}" for n in range(10)]
    assert set(found.lines) <= set(whole)
    assert whole[found.start] == found.lines[0]
    assert _ids(search(service, seen, "judges", "k7")) == ["k7"]
    assert search(service, seen, "judges", "K").lines == []
    assert _ids(search(service, seen, None, BOTS[0])) == [BOTS[0]]


@pytest.mark.parametrize("limit", [1, 3, 10, 11])
def test_pages_of_a_search_cover_it(service: Service, seen: View, limit: int) -> None:
    """A bounded page must not hide the others."""
    shown = search(service, seen, "judges", "k", limit=limit)
    found = [shown]
    while shown.next is not None:
        _more_judges(service, f"k{len(found)}x")  # others see it, this search does not
        shown = search(service, seen, "judges", "k", cursor=shown.next, limit=limit)
        found.append(shown)
    assert [len(one.lines) for one in found[:-1]] == [limit] * (len(found) - 1)
    assert [name for one in found for name in _ids(one)] == [f"k{n}" for n in range(10)]


def test_any_state_of_a_board_is_searched(service: Service, seen: View) -> None:
    """Who asks about March wants those who were on the board in March."""
    before = seen.contest.seq
    change = propose(
        service, "spring", kind="void", params={"people": ["k3"]}, reason="r", by=ORGANISER
    )
    dry_run(service, "spring", change.id)
    apply(service, "spring", change.id, by=ORGANISER)
    _more_judges(service, "k99")
    now = view(service, ANONYMOUS)
    assert {"k3", "k99"} & set(_ids(search(service, now, "judges", "k"))) == {"k99"}
    assert _ids(search(service, now, "judges", "k3", as_of=str(before))) == ["k3"]
    assert _ids(search(service, now, "judges", "k99", as_of=str(before))) == []


@pytest.mark.usefixtures("seen")
def test_nobody_is_found_who_came_after_the_freeze(service: Service) -> None:
    """A name alone would tell that something happened behind the freeze."""
    transitions.freeze(service, "spring", by=ORGANISER)
    before = search(service, view(service, ANONYMOUS), "judges", "k", limit=5)
    _more_judges(service, "k0x", "kz")
    after = search(service, view(service, ANONYMOUS), "judges", "k", limit=5)
    assert (after.lines, after.next) == (before.lines, before.next)
    assert search(service, view(service, ANONYMOUS), "judges", "kz", as_of="99").lines == []
    assert _ids(search(service, view(service, ORGANISER), "judges", "kz")) == ["kz"]
    hidden = search(service, view(service, ORGANISER), "judges", "k", limit=1).next
    with pytest.raises(NotFound, match="gone"):
        search(service, view(service, ANONYMOUS), "judges", "k", cursor=hidden)


def test_what_cannot_be_looked_for_is_refused(service: Service, seen: View) -> None:
    """An empty search would be the whole board in another order."""
    with pytest.raises(Unreadable, match="beginning of an id"):
        search(service, seen, "judges", "")
    with pytest.raises(Unreadable, match="1 to 1000"):
        search(service, seen, "judges", "k", limit=0)
    with pytest.raises(NotFound):
        search(service, seen, "judges", "\ud800")
    shown = page(service, seen, "judges")
    with pytest.raises(Unreadable, match="begin again"):
        search(service, seen, "judges", "k", cursor=str(Cursor(shown.snapshot.no, 99)))
