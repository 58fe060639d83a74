"""A round of an arena in the browser: an owner registers a bot, and a judge votes by keyboard."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from agon.app.access.permissions import LOCAL
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transitions import open_contest
from agon.web.addresses import bots, vote
from fakes.arena import OLD, League
from fakes.arena import league as make_league
from fakes.instance import Instance, instance_of
from web.chromium.browsing import Chromium, Visitor
from web.chromium.serving import serve

VOTES = 20
STATUS = "#vote-status"
NO_END = """const timeout = window.setTimeout;
window.setTimeout = (run, ms, ...values) => ms === 3000 ? 0 : timeout(run, ms, ...values);"""
"""A choice is held without end, so that a slow machine does not enter it."""


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    """Return an arena in which one person judges all matches; the owner's bot makes them even."""
    opened = make_league(
        tmp_path, bots=2 * VOTES + 1, judging=False, judges_per_match=1, min_judge_pool=1
    )
    open_contest(opened.service, "autumn", by=LOCAL)
    rows = [
        ("judges", {"id": "judy", "kind": "person"}, None),
        ("owners", {"id": "ada", "handle": "ada", "account_created_at": OLD}, None),
    ]
    record(opened.service, "autumn", rows, by=LOCAL)
    yield opened
    opened.service.store.close()


@pytest.fixture
def instance(league: League, tmp_path: Path) -> Iterator[Instance]:
    """Open an instance of the arena's service."""
    with instance_of(league.service, tmp_path) as opened:
        yield opened


@pytest.mark.exhaustive
def test_an_owner_and_a_judge_go_through_a_round(
    instance: Instance, league: League, chromium: Chromium
) -> None:
    """The bot is registered, drawn and forfeits; every other match is judged without a pointer."""
    with serve(instance) as origin:
        league.fail("down")
        owner = chromium.visitor(origin)
        register_bot(owner, instance)
        qualify(league)
        league.fail("ada")
        judge = chromium.visitor(origin)
        judge.page.add_init_script(NO_END)
        page = sign_in_by_keyboard(judge, instance, vote("autumn"))
        assert "Nothing to judge now" in page.inner_text("main")
        assert league.play() == []
        page = judge.open(vote("autumn"))
        assert f"{VOTES} matches wait" in page.inner_text("main")
        assert re.fullmatch(r"(\d+:)?\d?\d:\d\d left\.", page.inner_text("#time-left"))
        work = str(page.get_attribute("input[name=work]", "value"))
        take_back(page)
        for number in range(VOTES):
            page.keyboard.press("ArrowLeft" if number % 2 else "ArrowRight")
            with page.expect_navigation(wait_until="load"):
                page.keyboard.press("Enter")
            assert "Your vote is entered" in page.inner_text("main")
        assert "Nothing to judge now" in page.inner_text("main")
        judge.close()
        assert league.work() == []
        page = owner.open(owner.page.url)
        assert "the bot's" in page.inner_text("main table")
        assert "status 500" in page.inner_text("main table")
        assert "Forfeits in a row\n1\n" in page.inner_text("main")
        owner.follow("main table a")
        assert "void" in page.inner_text("main")
        owner.close()
    with league.service.store.read() as session:
        assert session.arena.work(work).result == {"vote": "B"}
    assert len(league.rows("votes")) == VOTES


def register_bot(visitor: Visitor, instance: Instance) -> None:
    """Sign in from the page of bots and register one; what is wrong is shown, the rest kept."""
    page = visitor.open(bots("autumn"))
    visitor.follow("main >> text=Sign in")
    page.fill("#token", instance.tokens["participant"])
    visitor.follow("main button")
    page.fill("#name", "ada")
    page.fill("#endpoint", "https://down.example/")
    visitor.follow("main button")
    assert page.is_visible("main [role=alert]")
    assert page.input_value("#name") == "ada"
    page.fill("#endpoint", "https://ada.example/")
    visitor.follow("main button")
    assert "shown only now" in page.inner_text("main")
    visitor.follow("nav >> text=Bots")
    visitor.follow("main th a >> text='ada'")
    assert "What keeps it from judging" in page.inner_text("main")
    visitor.expect_refusals(422)


def qualify(league: League) -> None:
    """Record that the owner's bot answered as people do."""
    row = {"id": league.bot("ada").id, "name": "ada", "owner_id": "ada", "qualified_at": OLD}
    record(league.service, "autumn", [("bots", row, None)], by=LOCAL, replace=True)


def sign_in_by_keyboard(visitor: Visitor, instance: Instance, address: str) -> Page:
    """Reach a page that needs a session, without a pointer."""
    page = visitor.open(address)
    focus(page, "document.activeElement.innerText === 'Sign in'")
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("Enter")
    focus(page, "document.activeElement.id === 'token'")
    page.keyboard.type(instance.tokens["judge"])
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("Enter")
    assert page.url == visitor.origin + address
    return page


def focus(page: Page, condition: str) -> None:
    """Press the tabulator until an element has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    raise AssertionError(f"no element is reached: {condition}")


def take_back(page: Page) -> None:
    """Choose, and take the choice back before it is entered."""
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("button[value=A]", "aria-pressed") == "true"
    page.keyboard.press("u")
    assert "A is taken back" in str(page.text_content(STATUS))
    page.keyboard.press("=")  # not allowed here: nothing is chosen
    assert "A is taken back" in str(page.text_content(STATUS))
