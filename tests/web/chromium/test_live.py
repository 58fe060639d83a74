"""Boards that change while they are looked at."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from agon.app.contests.boards.publish import publish
from agon.app.contests.ledgers.events import events
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from fakes.spring import play, spring, view
from web.chromium.browsing import Chromium, Visitor
from web.chromium.serving import serve

BOARD = "/c/spring/boards/bots"
LISTEN = """window.heard = []; window.shown = 0;
document.addEventListener('agon:event', event => heard.push(event.detail));
document.addEventListener('agon:shown', () => { shown += 1; });"""


STATUS = "document.getElementById('live-status').innerText"
PLACE = "document.getElementById('rows').getBoundingClientRect().top"
ROWS = "[...document.querySelectorAll('#rows tr')]"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with an arena contest of a few matches."""
    opened = instance_at(tmp_path)
    spring(opened.service, matches=4)
    publish(opened.service, "spring")
    yield opened
    opened.close()


@pytest.mark.exhaustive
def test_rows_follow_the_board(instance: Instance, chromium: Chromium) -> None:
    """A page that stays open shows what a page loaded now shows."""
    with serve(instance) as origin:
        visitor = chromium.visitor(origin)
        page = watch(visitor)
        before = rows(page)
        advance(instance, 5, 16)
        visitor.wait("document.getElementById('counts').innerText.includes('8 scored')")
        live = rows(page)
        assert live != before
        assert live == rows(visitor.open(BOARD))
        visitor.close()


@pytest.mark.exhaustive
def test_no_row_moves_under_the_pointer(instance: Instance, chromium: Chromium) -> None:
    """A visitor who is about to follow a link must not follow another."""
    with serve(instance) as origin:
        visitor = chromium.visitor(origin)
        page = watch(visitor)
        advance(instance, 5, 5)
        visitor.wait("document.getElementById('head').innerText.includes('Moved')")
        page.hover("#rows tr:first-child a")
        before, shown = keys(page), page.inner_text("#rows tr:first-child")
        place = page.evaluate(PLACE)
        advance(instance, 6, 16)
        visitor.wait("document.getElementById('counts').innerText.includes('8 scored')")
        assert keys(page) == before
        assert page.inner_text("#rows tr:first-child") != shown
        assert page.evaluate(PLACE) == place
        page.hover("h1")
        visitor.wait(f"{ROWS}.length === 8")
        board = instance.get("/contests/spring/boards/bots").json()
        assert keys(page) == [row["id"] for row in board["rows"]]
        visitor.close()


@pytest.mark.exhaustive
def test_a_new_column_waits_until_no_row_is_pointed_at(
    instance: Instance, chromium: Chromium
) -> None:
    """The second board of a contest shows how ranks moved, which makes all columns narrower."""
    with serve(instance) as origin:
        visitor = chromium.visitor(origin)
        page = watch(visitor)
        page.hover("#rows tr:first-child a")
        before, place = page.inner_text("table.board"), page.evaluate(PLACE)
        with page.expect_response(lambda response: response.url.endswith(BOARD)):
            advance(instance, 5, 16)
        page.evaluate("fetch(location.href).then(page => page.text())")  # later than the page's own
        assert page.inner_text("table.board") == before
        assert page.evaluate(PLACE) == place
        page.hover("h1")
        visitor.wait("document.getElementById('head').innerText.includes('Moved')")
        visitor.wait(f"{ROWS}.length === 8")
        widths = page.evaluate(
            "[...document.querySelectorAll('.board tr')].map(tr => tr.children.length)"
        )
        assert len(set(widths)) == 1
        visitor.close()


def test_every_event_arrives_once_after_a_time_without_a_server(
    instance: Instance, chromium: Chromium
) -> None:
    """A server is restarted for an update while a contest runs."""
    first = len(events(instance.service, view(instance.service, ORGANISER)).events)
    with serve(instance) as origin:
        visitor = chromium.visitor(origin)
        page = watch(visitor)
        advance(instance, 5, 6)
        visitor.wait("heard.length > 0")
    for match in range(7, 12):
        advance(instance, match, match)
    with serve(instance, port=urlsplit(origin).port or 0):
        visitor.wait(f"{STATUS} === 'live'")
        advance(instance, 12, 12)
        expected = [
            event.kind
            for event in events(instance.service, view(instance.service, ORGANISER)).events[first:]
            if not event.staff
        ]
        assert len(expected) > 6
        visitor.wait(f"heard.length >= {len(expected)}")
        heard = page.evaluate("heard")
        assert len({event["id"] for event in heard}) == len(heard)
        assert [event["kind"] for event in heard] == expected
        visitor.errors.clear()  # the console says that there was no server
        visitor.close()


@pytest.mark.exhaustive
def test_a_page_of_the_past_does_not_change(instance: Instance, chromium: Chromium) -> None:
    """It is what was cited."""
    with serve(instance) as origin:
        visitor = chromium.visitor(origin)
        seq = instance.get("/contests/spring").json()["seq"]
        page = visitor.open(f"{BOARD}?as_of={seq}")
        assert page.query_selector("script") is None
        visitor.close()


def watch(visitor: Visitor) -> Page:
    """Open the board and return the page when it gets events."""
    visitor.context.add_init_script(LISTEN)
    page = visitor.open(BOARD)
    visitor.wait(f"{STATUS} === 'live' && shown > 0")
    return page


def advance(instance: Instance, first: int, last: int) -> None:
    """Record matches and publish the boards."""
    play(instance.service, first, last)
    publish(instance.service, "spring")


def rows(page: Page) -> str:
    """Return the text of the board."""
    text: str = page.inner_text("#rows")
    return text


def keys(page: Page) -> list[str]:
    """Return the ids of the rows in their order."""
    found: list[str] = page.evaluate(f"{ROWS}.map(row => row.dataset.key)")
    return found
