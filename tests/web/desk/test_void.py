"""No page offers a form that a void contest refuses."""

import re
from collections.abc import Iterator

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.finality import void
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.app.service import Service
from agon.web.desk.routes import PAGES
from fakes.autumn import autumn
from fakes.service import ORGANISER
from web.browser import Browser
from web.desk.league import text

CONTESTS = ("spring", "autumn", "cup")
TAKEN = re.compile(
    r"/theme|/sign-out|/c/\w+/desk/(details|restore|findings|cases|people/members/withdraw"
    r"|people/members/(reinstate|hide|unhide)|changes/\w+/cancel|problems/\w+/reveal)"
)
"""Where the forms lead that a void contest takes."""


def changed(service: Service, points: int) -> str:
    """Propose a change set of the community after its dry run."""
    params = {"board": "user-score", "id": "u1", "points": points}
    made = propose(service, "spring", kind="adjustment", params=params, reason="r", by=ORGANISER)
    dry_run(service, "spring", made.id)
    return made.id


def forms(page: str) -> Iterator[str]:
    """Yield where the forms and buttons of a page lead that send something."""
    yield from re.findall(r'<form method="post" action="([^"]*)"', page)
    yield from re.findall(r'formaction="([^"]*)"', page)


@pytest.mark.exhaustive
def test_no_page_of_a_void_contest_offers_what_is_refused(browser: Browser) -> None:
    """The form that publishes a problem stood there, and failed for whoever filled it in."""
    service = browser.instance.service
    browser.instance.contest("spring")
    name = autumn(service)
    create(service, NewContest(id="cup", discipline="arena", title="Cup"), by=ORGANISER)
    open_contest(service, "cup", by=ORGANISER)
    applied = changed(service, 1)
    apply(service, "spring", applied, by=ORGANISER)
    changes = [applied, changed(service, 2)]
    publish(service, "spring")
    browser.sign_in("organiser")
    names = [path.removeprefix("/c/{contest}") for path, _ in PAGES if "{contest}" in path]
    asked = [f"/c/{of}{path}" for of in CONTESTS for path in names if "{" not in path]
    asked += [f"/c/spring/desk/changes/{change}" for change in changes]
    asked += [f"/c/autumn/desk/problems/{name}/reveal", f"/c/autumn/problems/{name}", "/c/cup/bots"]
    shown = {page for page in asked if browser.get(page).status_code == 200}
    before = {each for page in shown for each in forms(browser.get(page).text)}
    for of in CONTESTS:
        void(service, of, reason="a leak", by=ORGANISER)
    after = {each for page in shown for each in forms(browser.get(page).text)}
    assert [each for each in sorted(after) if not TAKEN.fullmatch(each)] == []
    assert len(before) > len(after) > 8
    assert "takes nothing more" in text(browser, "/c/spring/desk/records")


def test_what_a_void_contest_reveals_is_as_hidden_as_it_was_frozen(browser: Browser) -> None:
    """The page said that the freeze would end, which it cannot any more."""
    service = browser.instance.service
    name = autumn(service)
    freeze(service, "autumn", by=ORGANISER)
    browser.sign_in("organiser")
    page = f"/c/autumn/desk/problems/{name}/reveal"
    assert "It still takes programs" in text(browser, page)
    void(service, "autumn", reason="a leak", by=ORGANISER)
    assert "what was recorded since stays hidden" in text(browser, page)
    assert browser.submit(page, page, {"name": "autumn"}).status_code == 303
    assert "return n * n" not in text(Browser(browser.instance), f"/c/autumn/problems/{name}")
    board = text(Browser(browser.instance), "/c/autumn")
    assert "frozen and void" in board
    assert "end the freeze" not in board
