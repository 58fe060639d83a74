"""Test the search of boards by id prefix."""

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, View
from agon.app.contests.boards.cursors import Cursor
from agon.app.contests.boards.pages import BoardRows, page
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.search import search
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.app.service import Service
from agon.errors import NotFound, Unreadable
from fakes.service import ORGANISER
from fakes.spring import BOTS, spring, view


def _ids(result: BoardRows) -> list[str]:
    return [orjson.loads(line)["id"] for line in result.lines]


def _more_judges(service: Service, *names: str) -> None:
    rows = [("judges", {"id": name, "kind": "person"}, None) for name in names]
    record(service, "spring", rows, by=ORGANISER)
    publish(service, "spring")


@pytest.fixture
def access(service: Service) -> View:
    """Return an anonymous view of a contest with thirteen judges."""
    spring(service)
    _more_judges(service, *(f"k{n}" for n in range(10)))
    return view(service, ANONYMOUS)


@pytest.mark.exhaustive
def test_search_returns_the_rows_of_the_board(service: Service, access: View) -> None:
    """Rows of the result are equal to those on the board, to the byte, with the same rank."""
    lines = page(service, access, "judges").lines
    result = search(service, access, "judges", "k")
    assert _ids(result) == [f"k{n}" for n in range(10)]
    assert set(result.lines) <= set(lines)
    assert lines[result.start] == result.lines[0]
    assert _ids(search(service, access, "judges", "k7")) == ["k7"]
    assert search(service, access, "judges", "K").lines == []
    assert _ids(search(service, access, None, BOTS[0])) == [BOTS[0]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1, 3, 10, 11])
def test_pages_of_a_search_cover_it(service: Service, access: View, limit: int) -> None:
    """A page with a limit must not hide the other rows."""
    result = search(service, access, "judges", "k", limit=limit)
    pages = [result]
    while result.next is not None:
        _more_judges(service, f"k{len(pages)}x")  # other searches have it, this one does not
        result = search(service, access, "judges", "k", cursor=result.next, limit=limit)
        pages.append(result)
    assert [len(item.lines) for item in pages[:-1]] == [limit] * (len(pages) - 1)
    assert [name for item in pages for name in _ids(item)] == [f"k{n}" for n in range(10)]


@pytest.mark.exhaustive
def test_any_state_of_a_board_is_searched(service: Service, access: View) -> None:
    """A search at a past time has the participants of that time."""
    before = access.contest.seq
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


@pytest.mark.exhaustive
@pytest.mark.usefixtures("access")
def test_search_has_no_participant_recorded_after_the_freeze(service: Service) -> None:
    """A name alone would disclose what happened after the freeze."""
    transitions.freeze(service, "spring", by=ORGANISER)
    before = search(service, view(service, ANONYMOUS), "judges", "k", limit=5)
    _more_judges(service, "k0x", "kz")
    after = search(service, view(service, ANONYMOUS), "judges", "k", limit=5)
    assert (after.lines, after.next) == (before.lines, before.next)
    assert search(service, view(service, ANONYMOUS), "judges", "kz", as_of="99").lines == []
    assert _ids(search(service, view(service, ORGANISER), "judges", "kz")) == ["kz"]
    hidden = search(service, view(service, ORGANISER), "judges", "k", limit=1).next
    with pytest.raises(NotFound, match="no longer exists"):
        search(service, view(service, ANONYMOUS), "judges", "k", cursor=hidden)


def test_an_invalid_search_is_rejected(service: Service, access: View) -> None:
    """An empty prefix would return the complete board in another order."""
    with pytest.raises(Unreadable, match="beginning of a name or an id"):
        search(service, access, "judges", "")
    with pytest.raises(Unreadable, match="1 to 1000"):
        search(service, access, "judges", "k", limit=0)
    with pytest.raises(NotFound):
        search(service, access, "judges", "\ud800")
    result = page(service, access, "judges")
    with pytest.raises(Unreadable, match="begin again"):
        search(service, access, "judges", "k", cursor=str(Cursor(result.snapshot.no, 99)))
