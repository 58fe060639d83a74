"""What an owner states of a bot: at registration, on its page, in lists, on boards, by command."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.transitions import freeze, open_contest, unfreeze
from fakes.arena import League
from fakes.arena import league as make_league
from fakes.instance import API, Instance, instance_of
from fakes.service import ORGANISER
from web.browser import Browser
from web.markup import Markup

BOTS = "/contests/autumn/bots"
STATED = {"author": "Ada <b>", "license": "MIT", "link": "https://example.org/ada?a=1&b=2"}


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    """Return an arena of four bots of which one round was played."""
    made = make_league(tmp_path, bots=4, judges_per_match=1, min_judge_pool=1)
    open_contest(made.service, "autumn", by=LOCAL)
    made.play()
    publish(made.service, "autumn")
    yield made
    made.service.store.close()


@pytest.fixture
def owner(league: League, tmp_path: Path) -> Iterator[Browser]:
    """Return the browser of a participant who is signed in."""
    with instance_of(league.service, tmp_path) as instance:
        browser = Browser(instance)
        browser.sign_in("participant")
        yield browser


def change(instance: Instance, bot: str, role: str = "organiser", **fields: Any) -> Any:
    """Change a bot; return the response."""
    return instance.client.patch(f"{API}{BOTS}/{bot}", json=fields, headers=instance.as_(role))


def test_an_owner_states_who_made_a_bot_and_where_it_is_described(owner: Browser) -> None:
    """At registration and later; the link leaves the site without saying where one came from."""
    page = "/c/autumn/bots"
    wrong = owner.submit(page, page, {"name": "Ada's", **STATED, "link": "javascript:alert(1)"})
    assert wrong.status_code == 422
    assert "link" in wrong.text
    assert "is no web address; write one such as https://" in unescape(wrong.text)
    assert 'value="Ada &lt;b&gt;"' in wrong.text, "what was typed is kept"
    assert owner.submit(page, page, {"name": "Ada's", **STATED}).status_code == 200
    [bot] = [each for each in owner.instance.get(BOTS).json()["items"] if each["name"] == "Ada's"]
    assert {name: bot[name] for name in STATED} == STATED
    for shown in (owner.get(page), owner.get(f"{page}/{bot['id']}")):
        assert Markup(shown.text).errors == []
        assert "Ada &lt;b&gt;" in shown.text
        assert 'href="https://example.org/ada?a=1&amp;b=2" rel="nofollow ugc' in shown.text
        assert ">example.org/ada?a=1&amp;b=2</a>" in shown.text
    about = {"action": "about", "author": "Grace", "license": "", "link": ""}
    address = f"{page}/{bot['id']}"
    assert owner.submit(address, address, about).status_code == 303
    now = owner.instance.get(f"{BOTS}/{bot['id']}").json()
    assert (now["author"], now["license"], now["link"]) == ("Grace", "", "")
    refused = owner.submit(address, address, {**about, "author": "x" * 201})
    assert refused.status_code == 422


@pytest.mark.exhaustive
def test_a_link_that_is_no_web_address_is_refused(owner: Browser) -> None:
    """One message that names the field and what would be right."""
    bot = owner.instance.get(BOTS).json()["items"][0]["id"]
    for link in ("example.org", "ftp://example.org/", "https://", "https://ada:pw@example.org/",
                 "https://example.org/a b", "https://example.org/\u202egpj.exe"):  # fmt: skip
        refused = change(owner.instance, bot, link=link)
        assert refused.status_code == 422, link
        [error] = refused.json()["errors"]
        assert error["pointer"] == "/link"
        assert "write one such as https://example.org/bot" in error["detail"]


@pytest.mark.exhaustive
def test_boards_show_what_owners_state_where_a_reader_chooses_it(
    owner: Browser, league: League
) -> None:
    """The columns are of the present: a board as of a position stays the same bytes."""
    board = "/c/autumn/boards/bots"
    assert 'value="author"' not in owner.get(board).text, "nobody states one"
    bot = league.bot("b1").id
    assert change(owner.instance, bot, **STATED).status_code == 200
    usual = owner.get(board).text
    assert 'name="columns" value="author"' in usual
    assert "Ada &lt;b&gt;" not in usual
    chosen = owner.get(f"{board}?columns=author,link,matches")
    assert Markup(chosen.text).errors == []
    assert "Ada &lt;b&gt;" in chosen.text
    assert 'href="https://example.org/ada?a=1&amp;b=2"' in chosen.text
    assert "Who made the bot, as its owner states it now." in chosen.text
    past = owner.get(f"{board}?columns=author,matches&as_of={league.contest.seq}")
    assert "Ada &lt;b&gt;" not in past.text


def test_what_is_stated_after_a_freeze_is_not_seen_before_it_ends(
    owner: Browser, league: League
) -> None:
    """As its version, it could say how the bot fares."""
    bot = league.bot("b1").id
    freeze(league.service, "autumn", by=ORGANISER)
    assert change(owner.instance, bot, author="the winner").status_code == 200
    assert owner.instance.get(f"{BOTS}/{bot}").json()["author"] == ""
    assert (
        "the winner" not in Browser(owner.instance).get("/c/autumn/boards/bots?columns=author").text
    )
    unfreeze(league.service, "autumn", reason="over", by=ORGANISER)
    assert owner.instance.get(f"{BOTS}/{bot}").json()["author"] == "the winner"


@pytest.mark.exhaustive
def test_sentences_of_an_explanation_name_opponents_as_boards_do(
    owner: Browser, league: League
) -> None:
    """The id stays beside the name, since two bots can have one name."""
    bot = league.bot("b1").id
    page = owner.get(f"/c/autumn/people/{bot}")
    assert Markup(page.text).errors == []
    sentences = re.findall(r'<span class="why">((?:Beat|Lost to|Tied with) .*?)</span>', page.text)
    assert sentences
    named = r'[A-Z][a-z ]+ <bdi>b[234]</bdi> <bdi class="id">[^<]+</bdi> \('
    assert all(re.match(named, sentence) for sentence in sentences), sentences


@pytest.mark.exhaustive
def test_bots_are_listed_by_id(owner: Browser, league: League) -> None:
    """A page of a board asks for the bots of its rows alone."""
    ids = sorted(league.bot(name).id for name in ("b3", "b1"))
    query = "&".join(f"bot={each}" for each in [*ids, "none"])
    listed = owner.instance.get(f"{BOTS}?{query}").json()
    assert [each["id"] for each in listed["items"]] == ids
    first = owner.instance.get(f"{BOTS}?{query}&limit=1").json()
    then = owner.instance.get(f"{BOTS}?{query}&limit=1&cursor={first['next']}").json()
    assert [first["items"][0]["id"], then["items"][0]["id"]] == ids


def test_the_pages_say_what_comes_next(tmp_path: Path) -> None:
    """Without bots or work a page says what to do, and what is missing for a round."""
    made = make_league(tmp_path, bots=0)
    open_contest(made.service, "autumn", by=LOCAL)
    with instance_of(made.service, tmp_path) as instance:
        visitor, judge = Browser(instance), Browser(instance)
        judge.sign_in("judge")
        bots = Markup(visitor.get("/c/autumn/bots").text)
        assert bots.errors == []
        assert "No bot is registered here yet." in bots.text
        assert "agon arena register autumn NAME" in bots.text
        assert "Missing for a round to begin" in bots.text
        for browser in (visitor, judge):
            page = Markup(browser.get("/c/autumn/vote").text)
            assert page.errors == []
            assert "Missing for a round to begin" in page.text
    made.service.store.close()
