"""Problems are published and revealed on the desk."""

from fakes.autumn import CUBES, SQUARES, autumn, publish
from web.browser import Browser
from web.desk.league import text

DESK = "/c/autumn/desk"


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
    sent = browser.submit(page, page, {**fields, "source": CUBES.replace("\n", "\r\n")})
    assert (sent.status_code, f"{DESK}/jobs/" in sent.headers["location"]) == (303, True)
    assert "gate" in text(browser, sent.headers["location"])
    revealing = browser.submit(page, f"{page}/{squares}/reveal", {})
    assert revealing.status_code == 422
    later = publish(
        instance.service, "def seq(n):\n    return 7 * n\n",
        freeze_started_at="2100-01-01T00:00:00.000000Z",
    )  # fmt: skip
    assert "open until 2100-01-01 00:00 UTC" in text(Browser(instance), "/c/autumn/problems")
    assert "frozen" not in text(Browser(instance), f"/c/autumn/problems/{later}")
    frozen = publish(instance.service, CUBES, freeze_started_at="2026-01-01T00:00:00.000000Z")
    assert "2026-01-01 00:00 UTC" in text(browser, page)
    assert browser.submit(page, f"{page}/{frozen}/reveal", {}).headers["location"] == page
    assert "return n * n * n" in text(Browser(instance), f"/c/autumn/problems/{frozen}")
    assert SQUARES not in text(Browser(instance), f"/c/autumn/problems/{squares}")
    instance.contest("spring")
    assert browser.get("/c/spring/desk/problems").status_code == 404
    other = Browser(instance)
    other.sign_in("participant")
    assert other.get(page).status_code == 403
