"""Two organizers at one desk at the same time, each in a browser of their own."""

from collections.abc import Iterator

import pytest

from agon.app.access.tokens import Grant, create_token
from agon.app.access.users import create_user
from agon.ledger.entry import read_line
from fakes.instance import Instance, instance_at
from fakes.service import OPERATOR
from web.browser import Browser
from web.chromium.browsing import Chromium, Visitor
from web.chromium.serving import serve

DESK = "/c/spring/desk"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance with one contest."""
    opened = instance_at(tmp_path_factory.mktemp("two"))
    opened.contest("spring")
    create_user(opened.service, user="pat", by=OPERATOR)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def origin(instance: Instance) -> Iterator[str]:
    """Serve the instance."""
    with serve(instance) as address:
        yield address


def organizer(instance: Instance, origin: str, chromium: Chromium, user: str) -> Visitor:
    """Return an organizer with the desk open."""
    browser = Browser(instance)
    grant = Grant(user=user, role="organiser", contests=("spring",))
    token = create_token(instance.service, grant, by=OPERATOR)[1]
    browser.send("/sign-in", {"token": token, "next": "/"})
    visitor = chromium.visitor(origin, cookie=browser.cookie)
    visitor.open(DESK)
    return visitor


def save(visitor: Visitor) -> str:
    """Save the details; return what the page then says."""
    visitor.follow("main form[action$='/details'] button")
    shown: str = visitor.page.inner_text("main")
    return shown


@pytest.mark.exhaustive
def test_two_organizers_save_the_same_form_and_finalize_at_once(
    instance: Instance, origin: str, chromium: Chromium
) -> None:
    """Both values, who and when are shown, what one alone changed stays, and nothing is doubled."""
    olga = organizer(instance, origin, chromium, "olga")
    pat = organizer(instance, origin, chromium, "pat")
    start = olga.page.input_value("#title")
    olga.page.fill("#title", "Olga's cup")
    olga.page.select_option("#visibility", "private")
    assert "Nothing was changed" not in save(olga)
    pat.page.fill("#title", "Pat's cup")  # in the form that was loaded before
    pat.page.fill("#description", "with prizes")
    shown = save(pat)
    assert "Nothing was changed" in shown
    error = pat.page.inner_text("#title-error")
    assert f"from “{start}” to “Olga's cup” by user:olga, 20" in error
    assert pat.page.input_value("#title") == "Pat's cup"
    assert pat.page.input_value("#visibility") == "private"
    assert stored(instance) == ("Olga's cup", "", "private")
    pat.page.dblclick("main form[action$='/details'] button")
    pat.page.wait_for_url(f"**{DESK}")
    assert stored(instance) == ("Pat's cup", "with prizes", "private")
    for each in (olga, pat):
        page = each.open(f"{DESK}/finalize")
        page.fill("#name", "spring")
    for each in (olga, pat):
        each.follow("main .stack button")
        assert "The result is final" in each.page.inner_text("main")
    assert kinds(instance).count("contest-finalised") == 1
    assert kinds(instance).count("contest-edited") == 2
    pat.expect_refusals(422)
    olga.close()
    pat.close()


def stored(instance: Instance) -> tuple[str, str, str]:
    """Return title, description and visibility of the contest."""
    contest = instance.get("/contests/spring", "organiser").json()
    return contest["title"], contest["description"], contest["visibility"]


def kinds(instance: Instance) -> list[str]:
    """Return the kinds of the ledger's entries."""
    with instance.service.store.read() as session:
        contest = session.contests.get("spring")
        return [read_line(entry.line).kind for entry in session.entries.after(contest.no, 0)]
