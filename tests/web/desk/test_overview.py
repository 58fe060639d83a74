"""Organizers edit a contest's details on the desk, two at the same time."""

import re
from html import unescape

import pytest

from fakes.autumn import autumn
from web.browser import Browser
from web.desk.league import text

DESK = "/c/spring/desk"
FIELD = re.compile(r'<input[^>]*name="([^"]+)"[^>]*?value="([^"]*)"')
CHOICE = re.compile(r'<select[^>]*name="([^"]+)".*?<option value="([^"]*)" selected', re.DOTALL)
AREA = re.compile(r'<textarea[^>]*name="([^"]+)"[^>]*>\n(.*?)</textarea>', re.DOTALL)


def opened(page: str) -> dict[str, str]:
    """Return the form of details as a browser would send it."""
    [form] = re.findall(r'<form[^>]*/desk/details".*?</form>', page, re.DOTALL)
    fields = {
        name: unescape(value)
        for pattern in (FIELD, CHOICE, AREA)
        for name, value in pattern.findall(form)
    }
    return {name: value.replace("\n", "\r\n") for name, value in fields.items()}


@pytest.mark.exhaustive
def test_two_organizers_do_not_undo_each_others_changes(browser: Browser) -> None:
    """The older form of one made the contest public that the other had made private."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    first = opened(browser.get(DESK).text)
    second = dict(first)
    path = f"{DESK}/details"
    more = {"visibility": "private", "ends_at": "2126-12-24T18:00", "description": "one\r\ntwo"}
    assert browser.submit(DESK, path, first | more).status_code == 303
    assert browser.submit(DESK, path, second | {"title": "Spring Cup"}).status_code == 303
    stored = opened(browser.get(DESK).text)
    assert {name: stored[name] for name in more} == more
    assert stored["title"] == "Spring Cup"


@pytest.mark.exhaustive
def test_a_field_that_both_changed_shows_both_values_and_is_set_by_the_next_save(
    browser: Browser,
) -> None:
    """Nothing of the form is saved, and what was not touched in it is not set back."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    first = opened(browser.get(DESK).text)
    second = dict(first)
    path = f"{DESK}/details"
    browser.submit(DESK, path, first | {"title": "Spring Cup", "visibility": "private"})
    mine = second | {"title": "Cup of Spring", "description": "all about it"}
    refused = browser.submit(DESK, path, mine)
    assert refused.status_code == 422
    said = unescape(re.sub("<[^>]+>", " ", refused.text))
    assert f"from “{first['title']}” to “Spring Cup” by user:olga" in said
    again = opened(refused.text)
    assert (again["title"], again["description"]) == ("Cup of Spring", "all about it")
    assert again["visibility"] == "private"
    assert browser.submit(DESK, path, again).status_code == 303
    stored = opened(browser.get(DESK).text)
    assert stored["title"] == "Cup of Spring"
    assert stored["visibility"] == "private"


def test_a_contest_is_declared_void_on_a_page_of_its_own_and_restored(browser: Browser) -> None:
    """It asks for the name and a reason; a form that is sent twice changes nothing."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    page = f"{DESK}/void"
    assert "No record, submission or vote is taken any more" in browser.get(page).text
    wrong = browser.submit(page, page, {"name": "autumn", "reason": "a leak"})
    assert wrong.status_code == 422
    assert browser.submit(page, page, {"name": "spring", "reason": "a leak"}).status_code == 303
    assert "Void: a leak" in text(browser, "/c/spring")
    assert browser.submit(page, f"{DESK}/restore", {"reason": " "}).status_code == 422
    restored = browser.submit(page, f"{DESK}/restore", {"reason": "another"})
    assert restored.status_code == 303
    assert "a leak" not in text(browser, "/c/spring")


@pytest.mark.exhaustive
def test_times_of_forms_are_in_the_zone_that_they_state(browser: Browser) -> None:
    """A browser sends no offset; a time taken as UTC ends a contest hours early."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    path = f"{DESK}/details"
    first = opened(browser.get(DESK).text)
    assert first["zone"] == "UTC"
    east = first | {"ends_at": "2126-12-24T18:00", "zone": "+05:45"}
    assert browser.submit(DESK, path, east).status_code == 303
    again = opened(browser.get(DESK).text)
    assert (again["ends_at"], again["zone"]) == ("2126-12-24T12:15", "UTC")
    west = again | {"ends_at": "2126-12-24T18:00-03:30"}
    assert browser.submit(DESK, path, west).status_code == 303
    assert opened(browser.get(DESK).text)["ends_at"] == "2126-12-24T21:30"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"ends_at": "2126-12-24T18:00", "zone": ""}, "2126-12-24T18:00 has no zone"),
        ({"ends_at": "2126-12-24T18:00", "zone": "Berlin"}, "'Berlin' is no zone of this form"),
        ({"ends_at": "tomorrow"}, "'tomorrow' is not a time"),
        ({"ends_at": "0001-01-01T00:00", "zone": "+14:00"}, "not in the years 1 to 9999"),
        ({"zone": "+02:00"}, "The times shown are in UTC and stay as they are"),
        (
            {"starts_at": "2126-12-24T18:00", "ends_at": "2126-12-23T18:00"},
            "end 2126-12-23T18:00:00.000000Z is not after the start 2126-12-24T18:00:00.000000Z",
        ),
    ],
)
def test_times_that_say_too_little_are_refused(
    browser: Browser, sent: dict[str, str], message: str
) -> None:
    """Nothing is guessed, and the form keeps what was typed."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    fields = opened(browser.get(DESK).text) | sent
    refused = browser.submit(DESK, f"{DESK}/details", fields)
    assert refused.status_code == 422
    assert message in unescape(refused.text)
    assert 'value="' + sent.get("ends_at", "") + '"' in refused.text
    assert browser.instance.get("/contests/spring", "organiser").json()["ends_at"] is None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("page", "fields"),
    [
        (f"{DESK}/people", {"role": "participant", "expires_at": "2126-12-24T18:00"}),
        ("/c/autumn/desk/problems", {"title": "Cubes", "source": "def seq(n):\n    return n\n",
                                     "first_index": "0", "N_check": "200",
                                     "freeze_started_at": "2126-12-24T18:00"}),
    ],
)  # fmt: skip
def test_every_form_with_a_time_asks_for_its_zone(
    browser: Browser, page: str, fields: dict[str, str]
) -> None:
    """One mechanism for all of them."""
    browser.instance.contest("spring")
    autumn(browser.instance.service)
    browser.sign_in("organiser")
    assert '<option value="UTC" selected>' in browser.get(page).text
    refused = browser.submit(page, page, fields)
    assert refused.status_code == 422
    assert "2126-12-24T18:00 has no zone" in refused.text


@pytest.mark.exhaustive
def test_a_form_that_changes_nothing_writes_nothing(browser: Browser) -> None:
    """Browsers send other line ends than the ledger has."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    path = f"{DESK}/details"
    browser.submit(DESK, path, opened(browser.get(DESK).text) | {"description": "a\r\nb"})
    before = text(browser, "/c/spring/ledger")
    assert browser.submit(DESK, path, opened(browser.get(DESK).text)).status_code == 303
    assert text(browser, "/c/spring/ledger") == before
