"""Badges, cards and feeds: what other sites and programs load of a contest."""

import re
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agon.api.models.boards import HistoryStep
from agon.app.charts.markup import DARK
from agon.app.charts.sparkline import sparkline
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import transitions
from agon.web.addresses import badge, card, feed
from agon.web.pages import home
from agon.web.pages.boards.pictures import CardStanding, card_svg
from fakes.contests import HOSTILE
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.test_site import fill

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Instance]:
    """An instance with contests, one of them private."""
    instance = instance_at(tmp_path)
    fill(instance)
    yield instance
    instance.close()


def pictures(instance: Instance, role: str | None = None) -> dict[str, tuple[int, str, bytes]]:
    """Return status, ETag and content of what shows a standing."""
    responses = {}
    for contest in ("league", "secret"):
        for address in (badge(contest, "ada"), card(contest, "ada"), feed(contest)):
            got = instance.client.get(address, headers=instance.as_(role))
            body = got.content if got.status_code == 200 else b""
            responses[address] = (got.status_code, got.headers.get("etag", ""), body)
    return responses


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["ada", HOSTILE, "ada.json"])
def test_a_badge_is_small_and_well_formed(site: Instance, name: str) -> None:
    """A page that shows fifty of them loads them quickly, whatever the names are."""
    response = site.client.get(badge("league", name))
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert len(response.content) <= 2048
    row = site.get("/contests/league/boards/bots", params={"around": name, "limit": 1})
    row = row.json().get("rows")  # absent: no score
    label = ET.fromstring(response.text).attrib["aria-label"]  # noqa: S314 (our own)
    assert label.startswith("The league <i>: ")
    assert f"rank {row[0]['rank']} of 3" in label if row else "no score" in label
    for known in (response.headers["etag"], f'"a", W/{response.headers["etag"]}', "*"):
        tag = {"if-none-match": known}
        assert site.client.get(badge("league", name), headers=tag).status_code == 304


def test_no_color_of_a_card_stands_for_two_parts() -> None:
    """A seventh part in the color of the first is read as the first; small parts are gray."""
    parts = [(f"part{number}", float(number)) for number in range(1, 10)]
    at = datetime(2026, 1, 2, tzinfo=UTC)
    drawn = card_svg(CardStanding("Spring", "open", "ada", "user-score", 1, "45", 9, parts, at))
    fills: list[str] = re.findall(r'y="232"[^>]* fill="([^"]+)"', drawn)
    assert len(fills) == len(parts)
    hues = [color for color in fills if color in DARK]
    assert sorted(hues) == sorted(DARK)
    assert len(set(fills) - set(hues)) == 1


def test_a_long_history_of_a_leader_is_drawn_with_fewer_steps() -> None:
    """A leader of many matches has a line, too; its ends are the first and the present score."""
    steps = [
        HistoryStep(id="ada", seq=seq, at=datetime.fromtimestamp(seq, UTC), rank=1,
                    score=float(seq % 7), reason=None, by=None)
        for seq in range(1, 501)
    ]  # fmt: skip
    api: Any = SimpleNamespace(boards=SimpleNamespace(history=lambda *_, **__: iter(steps)))
    contest: Any = SimpleNamespace(id="spring")
    drawn = str(home._line(api, contest, "bots", "ada"))
    assert 50 < drawn.count("V") < 130
    assert "500 steps from 0 to 6" in drawn
    label, few = "ada", [(1.0, 1.0), (500.0, float(500 % 7))]
    assert sparkline(few, label=label).partition("H")[2].partition("V")[0] in drawn


@pytest.mark.exhaustive
def test_a_card_has_the_size_that_messages_show(site: Instance) -> None:
    """Open Graph pictures are 1200 × 630; links to a page name them with their whole address."""
    response = site.client.get(card("league", "ada"))
    assert response.headers["content-type"] == "image/png"
    assert struct.unpack(">II", response.content[16:24]) == (1200, 630)
    for address in ("/c/league/people/ada", "/c/league"):
        page = site.client.get(address).text
        picture = page.partition('property="og:image" content="')[2].partition('"')[0]
        assert picture.startswith("http://testserver/c/league/card/")
        path = picture.removeprefix("http://testserver").replace("&amp;", "&")
        assert site.client.get(path).headers["content-type"] == "image/png"
        assert 'property="og:description" content="' in page


@pytest.mark.exhaustive
def test_a_feed_lists_the_newest_boards(site: Instance) -> None:
    """Readers of feeds know Atom: each entry has an id, a time and a link."""
    response = site.client.get(feed("league"))
    assert response.headers["content-type"] == "application/atom+xml; charset=utf-8"
    root = ET.fromstring(response.content)  # noqa: S314 (our own)
    entries = root.findall(f"{ATOM}entry")
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids) > 0
    assert "bots: 3 scored, 1 without a score" in {
        entry.findtext(f"{ATOM}title") for entry in entries
    }
    for entry in entries:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        assert site.client.get(link.attrib["href"]).status_code == 200
    assert f'href="{feed("league")}"' in site.client.get("/c/league").text


def test_nothing_private_or_after_a_freeze_is_in_a_picture(site: Instance) -> None:
    """Other sites show them to everyone."""
    transitions.freeze(site.service, "league", by=ORGANISER)
    before = pictures(site)
    assert {name: status for name, (status, *_) in before.items()} == {
        name: 404 if "secret" in name else 200 for name in before
    }
    match = {"id": "m9", "played_at": "2026-01-09T00:00:00Z", "kind": "rated", "bot_a": "ada",
             "bot_b": "bob", "winner": "b"}  # fmt: skip
    record(site.service, "league", [("matches", match, "m9")], by=ORGANISER)
    publish(site.service, "league")
    assert pictures(site) == before
    staff = pictures(site, "organiser")
    assert all(status == 200 for status, *_ in staff.values())
    for address in (badge("league", "ada"), card("league", "ada"), feed("league")):
        assert staff[address] != before[address]


@pytest.mark.exhaustive
def test_a_picture_of_no_one_does_not_exist(site: Instance) -> None:
    """A badge that says nothing would look like one of a participant."""
    for address in (
        badge("league", "zoe"),
        card("league", "zoe"),
        card("none", "ada"),
        feed("none"),
    ):
        assert site.client.get(address).status_code == 404
