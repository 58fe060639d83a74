"""Invitations are accepted on the site."""

import re

import pytest

from web.browser import Browser
from web.markup import Markup

PASSWORD = "correct horse battery"  # noqa: S105 (of a test)


def invitation(browser: Browser, role: str = "participant", **fields: str) -> str:
    """Create an invitation on the desk; return the link that the page shows."""
    page = "/c/spring/desk/people"
    shown = browser.submit(page, page, {"role": role, "max_uses": "1", **fields}).text
    link = re.search(r"http://[^ <]+/join#invite_[\w-]+", shown)
    assert link is not None
    return link[0]


@pytest.mark.exhaustive
def test_people_join_with_the_link_of_an_invitation(browser: Browser) -> None:
    """No terminal: a link, a name and a password; later the password alone."""
    instance = browser.instance
    instance.contest("spring")
    browser.sign_in("organiser")
    link = invitation(browser)
    new = Browser(instance)
    assert Markup(new.get("/join").text).errors == []

    def join(**fields: str) -> tuple[int, str]:
        response = new.send("/join", {"code": link, "user": "newt", "password": PASSWORD, **fields})
        assert Markup(response.text).errors == []
        return response.status_code, response.text

    status, text = join(password="short")  # noqa: S106
    assert (status, "at least 12 characters" in text, "newt" in text) == (422, True, True)
    assert "short" not in text
    assert join(password="")[0] == 422
    status, text = join(user="ada")
    assert (status, "is taken" in text, 'id="user-error"' in text) == (422, True, True), text
    status, text = join(code="invite_x_y")
    assert (status, 'id="code-error"' in text) == (422, True)
    assert join(user="No Name")[0] == 422
    response = new.send("/join", {"code": link, "user": "newt", "password": PASSWORD})
    assert (response.status_code, response.headers["location"]) == (303, "/c/spring")
    assert ">newt<" in new.get("/account").text
    assert join()[0] == 403  # the form of a session needs its token
    again = Browser(instance)
    assert (
        again.send("/join", {"code": link, "user": "eve", "password": PASSWORD}).status_code == 422
    )
    assert again.send("/sign-in", {"user": "newt", "password": PASSWORD}).status_code == 303
    assert "participant" in again.get("/account").text


def test_a_signed_in_person_joins_as_who_they_are(browser: Browser) -> None:
    """A participant of one contest is invited to judge another one."""
    instance = browser.instance
    instance.contest("spring")
    browser.sign_in("organiser")
    link = invitation(browser, "judge", user="ada")
    ada = Browser(instance)
    ada.sign_in("participant")
    assert 'id="password"' not in ada.get("/join").text
    response = ada.submit("/join", "/join", {"code": link})
    assert (response.status_code, response.headers["location"]) == (303, "/c/spring")
    assert "judge" in ada.get("/account").text
    foreign = Browser(instance).send("/join", {"code": link}, origin="https://evil.example")
    assert foreign.status_code == 403


@pytest.mark.exhaustive
def test_who_joins_with_approval_waits_until_an_organizer_decides_on_the_desk(
    browser: Browser,
) -> None:
    """The page says so, the desk lists who waits, and the same session judges afterwards."""
    instance = browser.instance
    instance.contest("spring")
    browser.sign_in("organiser")
    link = invitation(browser, "judge", approval="true")
    new = Browser(instance)
    fields = {"code": link, "user": "newt", "password": PASSWORD}
    waits = new.send("/join", fields).headers["location"]
    shown = new.get(waits)
    assert Markup(shown.text).errors == []
    assert "An organizer of the contest has to approve it" in shown.text
    assert "viewer" in new.get("/account").text
    people = "/c/spring/desk/people"
    desk = browser.get(people).text
    assert Markup(desk).errors == []
    decision = re.search(rf"{people}/requests/([\w-]+)/approve", desk)
    assert decision is not None
    assert new.send(decision[0], {}).status_code == 403
    unknown = browser.submit(people, f"{people}/requests/{decision[1]}/praise", {})
    assert unknown.status_code == 404
    assert browser.submit(people, decision[0], {}).status_code == 303
    assert "Wait for approval" not in browser.get(people).text
    assert "judge" in new.get("/account").text
    again = browser.submit(people, f"{people}/requests/{decision[1]}/reject", {})
    assert "no request to join" in again.text
