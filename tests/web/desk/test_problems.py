"""Problems are published and revealed on the desk."""

import re
from html import unescape

import pytest

from agon.app.service import Service
from fakes.autumn import CUBES, SQUARES, autumn, publish
from web.browser import Browser
from web.desk.league import text

DESK = "/c/autumn/desk"


@pytest.mark.exhaustive
def test_an_organizer_publishes_and_reveals_problems(browser: Browser) -> None:
    """A dojo without problems takes no program; a terminal must not be needed for them."""
    instance = browser.instance
    squares = autumn(instance.service)
    browser.sign_in("organiser")
    page = f"{DESK}/problems"
    fields = {"title": "Cubes", "slug": "cubes", "source": CUBES, "first_index": "1",
              "N_check": "200", "freeze_started_at": ""}  # fmt: skip
    wrong = browser.submit(page, page, {**fields, "N_check": "many", "slug": "No slug"})
    assert wrong.status_code == 422
    assert "N_check is &#39;many&#39;" in wrong.text
    assert "No slug" in wrong.text
    assert "return n * n * n" in wrong.text
    assert browser.submit(page, page, {**fields, "source": "def ("}).status_code == 422
    typed = {**fields, "source": CUBES.replace("\n", "\r\n")}
    sent = browser.submit(page, page, {**typed, "name": "autumn"})
    assert (sent.status_code, f"{DESK}/jobs/" in sent.headers["location"]) == (303, True)
    assert "gate" in text(browser, sent.headers["location"])
    revealing = browser.submit(page, f"{page}/{squares}/reveal", {"name": "autumn"})
    assert revealing.status_code == 422
    later = publish(
        instance.service, "def seq(n):\n    return 7 * n\n",
        freeze_started_at="2100-01-01T00:00:00.000000Z",
    )  # fmt: skip
    assert "open until 2100-01-01 00:00 UTC" in text(Browser(instance), "/c/autumn/problems")
    assert "frozen" not in text(Browser(instance), f"/c/autumn/problems/{later}")
    frozen = publish(instance.service, CUBES, freeze_started_at="2026-01-01T00:00:00.000000Z")
    assert "2026-01-01 00:00 UTC" in text(browser, page)
    step = f"{page}/{frozen}/reveal"
    assert browser.submit(page, step, {"name": "autumn"}).status_code == 303
    assert "return n * n * n" in text(Browser(instance), f"/c/autumn/problems/{frozen}")
    assert SQUARES not in text(Browser(instance), f"/c/autumn/problems/{squares}")
    instance.contest("spring")
    assert browser.get("/c/spring/desk/problems").status_code == 404
    other = Browser(instance)
    other.sign_in("participant")
    assert other.get(page).status_code == 403


@pytest.mark.exhaustive
def test_publishing_shows_first_what_will_be_public_and_asks_for_the_contest(
    browser: Browser,
) -> None:
    """A public problem stays public, and the button was beside those of harmless forms."""
    service = browser.instance.service
    autumn(service)
    browser.sign_in("organiser")
    page = f"{DESK}/problems"
    fields = {"title": "Third \u202epowers", "source": CUBES, "first_index": "1", "N_check": "300",
              "freeze_started_at": "2126-12-24T18:00", "zone": "+02:00"}  # fmt: skip
    asked = browser.submit(page, page, fields)
    assert asked.status_code == 200
    shown = words(asked.text)
    assert "Nothing is published yet" in shown
    assert "of the 300 that are judged" in shown
    assert "2126-12-24 16:00 UTC" in shown
    assert "Type autumn to go on" in shown
    assert jobs(service) == []
    again = browser.submit(page, page, {**fields, "name": "spring"})
    assert again.status_code == 422
    assert "Type autumn, the contest&#39;s name." in again.text
    assert jobs(service) == []
    back = browser.submit(page, page, {**fields, "name": "", "change": "yes"})
    assert 'value="300"' in back.text
    assert "return n * n * n" in back.text
    sent = {**sendable(again.text), "name": " autumn "}
    assert [browser.send(page, sent).status_code for _ in range(2)] == [303, 303]
    assert len(jobs(service)) == 1
    replaced = browser.submit(page, page, {**fields, "title": "Cubes", "source": SQUARES})
    assert "is published already" in words(replaced.text)
    assert "1 other program of this contest waits" in words(replaced.text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"visibility": "private"}, "Nothing: the contest is private"),
        ({"starts_at": "2126-12-24T18:00"}, "Nothing until the contest starts, 2126-12-24 18:00"),
    ],
)
def test_what_will_be_public_depends_on_the_contest(
    browser: Browser, change: dict[str, str], said: str
) -> None:
    """An organizer who prepares a contest is not frightened."""
    autumn(browser.instance.service)
    browser.sign_in("organiser")
    page = f"{DESK}/problems"
    browser.submit(DESK, f"{DESK}/details", {**change, "zone": "UTC"})
    fields = {"title": "Cubes", "source": CUBES, "first_index": "1", "N_check": "200"}
    assert said in words(browser.submit(page, page, fields).text)


def test_revealing_asks_on_a_page_of_its_own(browser: Browser) -> None:
    """A program that was shown cannot be hidden again."""
    service = browser.instance.service
    open_one = autumn(service)
    frozen = publish(service, CUBES, freeze_started_at="2026-01-01T00:00:00.000000Z")
    browser.sign_in("organiser")
    step = f"{DESK}/problems/{frozen}/reveal"
    assert f'href="{step}"' in browser.get(f"{DESK}/problems").text
    shown = text(browser, step)
    assert "all 200 terms, of which 50 are public now" in shown
    assert "0 submissions of the contest without a verdict" in shown
    assert browser.submit(step, step, {"name": "Autumn"}).status_code == 422
    assert not browser.instance.get(f"/contests/autumn/problems/{frozen}").json()["revealed"]
    sent = {"name": "autumn", "form_token": browser.form_token(step)}
    assert [browser.send(step, sent).status_code for _ in range(2)] == [303, 303]
    assert browser.instance.get(f"/contests/autumn/problems/{frozen}").json()["revealed"]
    assert "It is revealed" in text(browser, step)
    assert "It still takes programs" in text(browser, f"{DESK}/problems/{open_one}/reveal")


def sendable(page: str) -> dict[str, str]:
    """Return the form of a page that asks, as a browser sends it."""
    [form] = re.findall(r'<form[^>]*/desk/problems".*?</form>', page, re.DOTALL)
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    areas = re.findall(r'<textarea name="([^"]+)" hidden>\n(.*?)</textarea>', form, re.DOTALL)
    return {name: unescape(value) for name, value in hidden + areas}


def jobs(service: Service) -> list[str]:
    """Return the ids of jobs that validate a problem."""
    with service.store.read() as session:
        return [job.id for job in session.queue.page(kinds=("gate",))]


def words(page: str) -> str:
    """Return the words of a page."""
    return " ".join(unescape(re.sub("<[^>]+>", "", page)).split())
