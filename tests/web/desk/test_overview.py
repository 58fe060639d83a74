"""Organizers edit a contest's details on the desk, two at the same time."""

import re
from html import unescape

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


def test_a_form_that_changes_nothing_writes_nothing(browser: Browser) -> None:
    """Browsers send other line ends than the ledger has."""
    browser.instance.contest("spring")
    browser.sign_in("organiser")
    path = f"{DESK}/details"
    browser.submit(DESK, path, opened(browser.get(DESK).text) | {"description": "a\r\nb"})
    before = text(browser, "/c/spring/ledger")
    assert browser.submit(DESK, path, opened(browser.get(DESK).text)).status_code == 303
    assert text(browser, "/c/spring/ledger") == before
