"""Organizers see the people of a contest on the desk, and change what is accepted from one."""

import re
from datetime import timedelta
from html import unescape

import pytest

from agon.app.contests.lifecycle.details import edit
from fakes.autumn import RIGHT, autumn
from fakes.service import ORGANISER
from web.browser import Browser
from web.desk.league import text
from web.markup import Markup

PAGE = "/c/autumn/desk/people"


@pytest.fixture
def desk(browser: Browser) -> Browser:
    """Open a contest with a problem and an end, as its organizer."""
    service = browser.instance.service
    autumn(service)
    edit(service, "autumn", {"ends_at": service.clock() + timedelta(hours=1)}, by=ORGANISER)
    browser.sign_in("organiser")
    return browser


def links(desk: Browser, people: str) -> list[str]:
    """Invite a list of people, and return the links."""
    response = desk.submit(PAGE, f"{PAGE}/all", {"people": people, "role": "participant"})
    assert response.status_code == 200, response.text
    assert Markup(response.text).errors == []
    return re.findall(r"https?://[^<]*/join#invite_[\w-]+", response.text)


@pytest.mark.exhaustive
def test_a_list_of_people_becomes_links_and_a_table(desk: Browser) -> None:
    """Who joined, when, as what, what they sent; a class of thirty is one list."""
    found = links(desk, "user,note\r\nalan,Alan Turing\r\n\r\nbob\r\n")
    assert len(set(found)) == 2
    code = found[0].partition("#")[2]
    joined = Browser(desk.instance)
    accepted = desk.instance.client.post(
        "/api/v1/invitations/accept", json={"code": code, "user": "alan"}
    )
    assert accepted.status_code == 201
    assert "No one has joined" not in text(desk, PAGE)
    shown = text(desk, PAGE)
    assert "participant" in shown
    assert joined.get(PAGE).status_code == 401
    listed = desk.instance.get("/contests/autumn/members", "organiser").json()["items"]
    assert [(each["user"], each["role"], each["rank"]) for each in listed] == [
        ("alan", "participant", None)
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("people", "message"),
    [
        ("", "the list is empty"),
        ("ada\nbob,b,c\nada,1,2\n", "line 2, 3: more than an id and a note"),
        ("ada\nada\n", "ada: named twice"),
        ("Ada B\n", "people"),
    ],
)
def test_a_list_that_says_too_little_creates_nothing(
    desk: Browser, people: str, message: str
) -> None:
    """All of the links or none."""
    refused = desk.submit(PAGE, f"{PAGE}/all", {"people": people, "role": "participant"})
    assert refused.status_code == 422
    assert message in unescape(refused.text)
    assert desk.instance.get("/contests/autumn/invitations", "organiser").json()["items"] == []


@pytest.mark.exhaustive
def test_an_organizer_extends_withdraws_and_reinstates(desk: Browser) -> None:
    """One person at a time, with a reason; the table says what differs."""
    service = desk.instance.service
    [link] = links(desk, "alan")
    code = link.partition("#")[2]
    api = desk.instance.client
    token = api.post("/api/v1/invitations/accept", json={"code": code}).json()["token"]
    until = service.clock() + timedelta(hours=3)
    extra = {"member": "alan", "reason": "power cut", "attempts": "2",
             "ends_at": f"{until:%Y-%m-%dT%H:%M}", "zone": "UTC"}  # fmt: skip
    assert desk.submit(PAGE, f"{PAGE}/members/extend", extra).status_code == 303
    assert "2 more attempts: power cut" in text(desk, PAGE)
    service.clock.at += timedelta(hours=2)  # type: ignore[attr-defined]
    problem = desk.instance.get("/contests/autumn/problems", "organiser").json()["items"][0]["id"]
    body = {"problem": problem, "content": {"source": RIGHT}}

    def send() -> int:
        headers = {"authorization": f"Bearer {token}"}
        path = "/api/v1/contests/autumn/submissions"
        return int(api.post(path, headers=headers, json=body).status_code)

    assert send() == 202
    why = {"member": "alan", "reason": "asked to leave"}
    assert desk.submit(PAGE, f"{PAGE}/members/withdraw", why).status_code == 303
    assert "asked to leave" in text(desk, PAGE)
    assert send() == 409
    assert desk.submit(PAGE, f"{PAGE}/members/reinstate", why).status_code == 303
    assert desk.submit(PAGE, f"{PAGE}/members/hide", why).status_code == 303
    assert "name hidden" in text(desk, PAGE)
    assert desk.submit(PAGE, f"{PAGE}/members/unhide", why).status_code == 303
    for fields, message in (
        ({**extra, "member": ""}, "No person is named"),
        ({**extra, "member": "eve"}, "'eve' takes no part in autumn"),
        ({**extra, "zone": ""}, "has no zone"),
        ({"member": "alan", "reason": "why"}, "neither time nor attempts"),
        ({**extra, "reason": ""}, "reason"),
    ):
        refused = desk.submit(PAGE, f"{PAGE}/members/extend", fields)
        assert refused.status_code == 422, fields
        assert message in unescape(refused.text)
