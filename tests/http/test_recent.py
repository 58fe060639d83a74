"""A page is kept while nothing is stored, and never a moment longer."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agon.http.app import create_app
from fakes.http_house import API, House, house_at, settings

BOARD = f"{API}/contests/spring/boards/user-score"


class Store:
    """Tell whether anything was stored since it was asked last, as the database would."""

    stored = True

    def __call__(self) -> bool:
        """Tell, and forget."""
        told, self.stored = self.stored, False
        return told


@pytest.fixture
def kept(tmp_path: Path) -> tuple[House, TestClient, Store]:
    """Open a house whose application keeps pages."""
    house, store = house_at(tmp_path), Store()
    house.contest()
    app = create_app(house.service, settings(), changed=store)
    return house, TestClient(app), store


def test_what_is_kept_is_given_until_something_is_stored(
    kept: tuple[House, TestClient, Store],
) -> None:
    """The second visitor costs next to nothing, and sees the change with the first after it."""
    house, client, store = kept
    first = client.get(BOARD)
    house.people("spring", 5, begin=50)
    assert client.get(BOARD).content == first.content, "nobody was told of the change yet"
    store.stored = True
    assert client.get(BOARD).json()["rows_total"] == 8
    again = client.get(BOARD, headers={"if-none-match": client.get(BOARD).headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    house.service.store.close()


def test_what_was_stored_while_a_page_was_made_is_not_missed(
    kept: tuple[House, TestClient, Store],
) -> None:
    """A page read before a change and kept after it would be old for ever."""
    house, client, _ = kept
    told = iter([True, True, False, False])
    app = create_app(house.service, settings(), changed=lambda: next(told))
    client = TestClient(app)
    client.get(BOARD)
    house.people("spring", 1, begin=70)
    assert client.get(BOARD).json()["rows_total"] == 4
    house.service.store.close()


def test_who_shows_a_token_gets_a_page_of_their_own(kept: tuple[House, TestClient, Store]) -> None:
    """Staff see more; nothing of that may reach others."""
    house, client, _ = kept
    client.get(BOARD)
    own = client.get(BOARD, headers=house.as_("organiser"))
    assert "private" in own.headers["cache-control"]
    assert client.get(BOARD).headers["cache-control"] == "no-cache"
    house.service.store.close()


def test_what_strangers_ask_for_does_not_fill_the_memory(
    kept: tuple[House, TestClient, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand large pages would be a quarter of a gigabyte in every process."""
    house, client, _ = kept
    size = len(client.get(BOARD).content)
    monkeypatch.setattr("agon.http.recent._ROOM", 3 * size)
    for limit in range(5, 15):
        client.get(BOARD, params={"limit": limit})
    house.people("spring", 1, begin=90)
    totals = {
        limit: client.get(BOARD, params={"limit": limit}).json()["rows_total"]
        for limit in (14, 5, 6, 7, 8, 9)
    }
    assert totals.pop(14) == 3, "the newest is kept"
    assert set(totals.values()) == {4}, "older ones made room"
    house.service.store.close()
