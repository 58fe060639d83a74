"""No text of people turns what stands around it, on any page.

Unicode's bidirectional algorithm moves neutral characters beside text that is written from right to
left, and its controls turn whole lines; names, reasons and titles stand beside figures and links.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agon.app.access.invitations import NewInvitation, invite
from agon.app.access.users import create_user
from agon.app.arena.live.entrants.bots import register
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.cases import decide, note, open_case
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.details import edit
from agon.app.contests.lifecycle.finality import void
from agon.app.contests.lifecycle.transitions import finalize, freeze, unfreeze
from agon.app.contests.members import withdraw
from agon.entities.arena import BotDescription
from agon.kernel.text.bidi import closed_text
from fakes.autumn import CUBES
from fakes.autumn import publish as publish_problem
from fakes.contests import all_disciplines
from fakes.instance import Instance, instance_at
from fakes.service import OPERATOR, ORGANISER
from sizes import ALL
from web.browser import Browser
from web.crawl import PER_KIND, Visited, crawl
from web.markup import VOID

NAME = "דנה"
HOSTILE = f"{NAME}\u202e\u2066!"
"""A name that is written from right to left, and then turns what follows."""

ISOLATING = frozenset({"bdi", "code", "option", "pre", "textarea", "title"})
"""Elements whose text is a paragraph of its own, or is to be copied."""

WHOLE = frozenset({"caption", "dd", "dt", "h1", "h2", "h3", "li", "p", "td", "th"})
"""Elements that begin a paragraph; a name that is all of it stands beside nothing."""

SAID = ("alt", "aria-label", "content", "title")
"""Attributes that are shown or spoken."""

MARKED = re.compile(f"\u2068[^\u2069]*{NAME}")
"""A name within the marks that isolate a text."""

OPEN = re.compile(r"!(?!\s*\u2069\u202c)|\.\.(?!\s*\u202c)")
"""What follows an open control in the hostile names, without the marks that close it."""


class Texts(HTMLParser):
    """Collects the texts of a page that can turn others.

    Attributes:
        open: hostile names that do not close what they open.
        bare: names that stand beside other text without a mark that isolates them.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.bare: list[str] = []
        self._within: list[str] = [""]
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at attributes that are read or heard; enter an element."""
        values = dict(attrs)
        for name in SAID:
            self._close(values.get(name) or "")
        if tag not in VOID:
            self._within.append("bdi" if "dir" in values else tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element without text."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._within.pop()

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if tag not in VOID:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        """Look at a text."""
        if "textarea" in self._within:  # it is sent back as it is
            return
        self._close(data)
        is_whole = self._within[-1] in WHOLE and data.strip().startswith(NAME)
        is_isolated = is_whole or not ISOLATING.isdisjoint(self._within)
        if NAME in data and not is_isolated and not MARKED.search(data):
            self.bare.append(" ".join(data.split())[:80])

    def _close(self, text: str) -> None:
        for part in re.split("(?=\u202e)", text)[1:]:
            if OPEN.search(part) or closed_text(text) != text:
                self.open.append(text[:80])


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance in which all that people can name has the hostile name."""
    opened = instance_at(Path(tmp_path_factory.mktemp("directions")))
    fill(opened)
    yield opened
    opened.close()


def fill(instance: Instance) -> None:
    """Create contests of all disciplines with the name wherever it can be given."""
    service = instance.service
    all_disciplines(service)
    contests = ("arena", "autumn", "challenge", "community", "season")
    for name in contests:
        edit(service, name, {"title": NAME, "description": HOSTILE}, by=ORGANISER)
        invite(service, name, NewInvitation(note=HOSTILE), by=ORGANISER)
    rows = [("users", {"id": NAME, "handle": HOSTILE, "affiliation": HOSTILE}, None)]
    record(service, "community", rows, by=ORGANISER)
    owner = {"id": "dana", "handle": HOSTILE, "account_created_at": "2026-01-01T00:00:00Z"}
    record(service, "arena", [("owners", owner, None)], by=ORGANISER)
    register(service, "arena", name=HOSTILE, owner="dana", endpoint=None,
             described=BotDescription(version=HOSTILE, author=HOSTILE, license=HOSTILE),
             judges=True, by=ORGANISER)  # fmt: skip
    publish_problem(service, CUBES, title=HOSTILE)
    create_user(service, user="dana", name=NAME, by=OPERATOR)
    instance.token("participant", contests=("community",), label=NAME)
    withdraw(service, "community", "ada", reason=HOSTILE, by=ORGANISER)
    case = open_case(service, "community", title=NAME, subjects=[NAME], text=HOSTILE,
                     by=ORGANISER)  # fmt: skip
    note(service, "community", case.id, text=HOSTILE, by=ORGANISER)
    decide(service, "community", case.id, decision=NAME, reason=HOSTILE, by=ORGANISER)
    params = {"board": "user-score", "id": NAME, "points": 5}
    for finish in (False, True):
        made = propose(service, "community", kind="adjustment", params=params, reason=HOSTILE,
                       by=ORGANISER)  # fmt: skip
        dry_run(service, "community", made.id)
        if finish:
            apply(service, "community", made.id, by=ORGANISER)
    freeze(service, "season", by=ORGANISER)
    unfreeze(service, "season", reason=HOSTILE, by=ORGANISER)
    finalize(service, "season", by=ORGANISER)
    for name in contests:
        publish(service, name)
    void(service, "challenge", reason=HOSTILE, by=ORGANISER)


@pytest.fixture(scope="module")
def pages(instance: Instance) -> dict[str, Visited]:
    """Visit the site as an operator: one contest, or with TEST_ALL_SIZES all."""
    browser = Browser(instance)
    browser.sign_in("operator")
    part = (PER_KIND, "/") if ALL else (1, "/c/community")
    found = crawl(instance, {"cookie": browser.cookie}, *part)
    return {address: page for address, page in found.items() if page.is_page}


@pytest.mark.exhaustive
def test_every_text_closes_the_directions_that_it_opens(pages: dict[str, Visited]) -> None:
    """An override in a name turned the scores beside it around."""
    assert sum(NAME in page.body for page in pages.values()) > (40 if ALL else 20)
    found = {address: Texts(page.body).open for address, page in pages.items()}
    assert {address: texts for address, texts in found.items() if texts} == {}


def test_names_are_isolated_from_the_text_beside_them(pages: dict[str, Visited]) -> None:
    """Digits and punctuation beside a Hebrew name change places with it."""
    found = {address: Texts(page.body).bare for address, page in pages.items()}
    bare = {(text, address) for address, texts in found.items() for text in texts}
    assert sorted(bare) == []
