"""The epochs of a challenge on its desk."""

import pytest

from web.browser import Browser
from web.desk.league import create, text, upload
from web.markup import Markup

DESK = "/c/subnet/desk"


@pytest.mark.exhaustive
def test_an_organizer_follows_the_epochs_of_a_challenge(browser: Browser) -> None:
    """From no record to the weights that are sent, with what the public sees in a freeze."""
    browser.sign_in("organiser")
    fields = {"id": "subnet", "title": "Subnet", "discipline": "challenge", "edition": ""}
    assert browser.submit("/desk", "/desk", fields).headers["location"] == DESK
    browser.submit(DESK, f"{DESK}/open", {})
    assert "No epoch has weights yet" in text(browser, f"{DESK}/epochs")

    def add(table: str, content: str) -> None:
        assert "added" in upload(browser, table, content, desk=DESK)

    add("validators", "id,stake,epoch\nvera,500,0\nvito,300,0\nvic,200,0\n")
    add("submissions", "id,miner_uid,submitted_at\ns1,1,2026-01-01T00:00:00Z\n"
                       "s2,2,2026-01-01T00:00:00Z\n")  # fmt: skip
    head = "submission_id,validator_id,score,epoch\n"
    add("evaluations", f"{head}s1,vera,0.5,3\ns1,vito,0.5,3\n")
    shown = text(browser, f"{DESK}/epochs")
    assert "Weights of epoch 3" in shown
    assert "The public sees it, too." in shown
    assert "2 submissions have no score" in shown
    assert "at least 3 must" in shown
    add("evaluations", f"{head}s1,vic,0.5,3\n")
    assert "1 miner has a weight" in text(browser, f"{DESK}/epochs")
    browser.submit(DESK, f"{DESK}/freeze", {})
    add("evaluations", f"{head}s2,vera,0.9,4\ns2,vito,0.9,4\ns2,vic,0.9,4\n")
    page = browser.get(f"{DESK}/epochs").text
    assert "The public sees the epochs up to 3" in Markup(page).text
    api = browser.get("/c/subnet/desk/epochs.json").json()
    assert api["last"] == 4
    payload = browser.get("/c/subnet/epochs/4.json").json()["payload"]
    assert f"{{&#34;uids&#34;:{payload['uids']}".replace(" ", "") in page
    assert browser.get("/c/none/desk/epochs").status_code == 404
    create(browser)
    assert browser.get("/c/league/desk/epochs").status_code == 404
    assert Browser(browser.instance).get("/c/subnet/epochs/4").status_code == 404
    other = Browser(browser.instance)
    other.sign_in("participant")
    assert other.get(f"{DESK}/epochs").status_code == 403
