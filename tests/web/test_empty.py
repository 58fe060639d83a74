"""Contests in which nothing was recorded: every page of theirs says so and leads on."""

from contextlib import closing
from http import HTTPStatus
from pathlib import Path

import pytest

from agon.app.contests.lifecycle import creation, transitions
from agon.disciplines import names
from fakes.instance import instance_at
from fakes.service import ORGANISER
from sizes import ALL
from web.browser import Browser
from web.crawl import PER_KIND, crawl

ROLES = ("anonymous", "participant", "organiser") if ALL else ("anonymous", "organiser")


@pytest.mark.exhaustive
def test_every_link_of_a_new_contest_leads_to_a_page(tmp_path: Path) -> None:
    """The first participants and the organizer come before the first record."""
    wrong: dict[tuple[str, str], int] = {}
    texts: dict[tuple[str, str], str] = {}
    with closing(instance_at(tmp_path)) as instance:
        for name in names():
            new = creation.NewContest(id=name, discipline=name, title=f"New {name}")
            creation.create(instance.service, new, by=ORGANISER)
            if name != "community":  # one is a draft
                transitions.open_contest(instance.service, name, by=ORGANISER)
        for role in ROLES:
            browser = Browser(instance)
            if role != "anonymous":
                browser.sign_in(role)
            headers = {"cookie": browser.cookie} if browser.cookie else {}
            visited = crawl(instance, headers, PER_KIND if ALL else 1)
            wrong |= {(role, address): page.status for address, page in visited.items()
                      if page.status >= HTTPStatus.BAD_REQUEST}  # fmt: skip
            texts |= {(role, address): page.body for address, page in visited.items()}
        past = instance.client.get("/c/arena?as_of=1")
    assert wrong == {}
    assert "Nothing is scored yet" in texts["anonymous", "/c/arena"]
    assert "not open yet" in texts["anonymous", "/c/community"]
    assert "/desk/records" in texts["organiser", "/c/arena"]
    assert "/desk" not in texts["anonymous", "/c/arena"]
    assert past.status_code == HTTPStatus.NOT_FOUND
