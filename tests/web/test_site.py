"""The site: what pages show, what they load, and their data."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.kernel.text.bidi import closed_text
from agon.store import session
from agon.store.connection.engines import begin
from agon.web import addresses, rendering, responses
from agon.web.addresses import board, contest, person
from agon.web.page import SitePage
from agon.web.pages import home
from fakes.contests import HOSTILE
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.browser import Browser
from web.markup import Markup

BOTS = ("ada", "bob", "ada.json", HOSTILE)


def fill(instance: Instance) -> None:
    """Open a contest of votes among bots, one with a hostile id, and one that is private."""
    service = instance.service
    bots = [("bots", {"id": name, "name": name}, name) for name in BOTS]
    matches = [
        ("matches", {"id": f"m{n}", "played_at": f"2026-01-0{n}T00:00:00Z", "kind": "rated",
                     "bot_a": a, "bot_b": b, "winner": "a"}, f"m{n}")
        for n, (a, b) in enumerate([("ada", "bob"), ("ada", HOSTILE), (HOSTILE, "bob")], start=1)
    ]  # fmt: skip
    for new in (
        creation.NewContest(id="league", discipline="arena", title="The league <i>"),
        creation.NewContest(
            id="secret", discipline="arena", title="The secret <i>", visibility="private"
        ),
    ):
        name = new.id
        creation.create(service, new, by=ORGANISER)
        transitions.open_contest(service, name, by=ORGANISER)
        record(service, name, [*bots, *matches], by=ORGANISER)
        publish(service, name)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with the contests of :func:`fill` and that of the API's tests."""
    instance = instance_at(tmp_path_factory.mktemp("site"))
    fill(instance)
    yield instance
    instance.close()


@pytest.mark.exhaustive
def test_pages_load_nothing_from_elsewhere_and_run_nothing_inline(site: Instance) -> None:
    """A page that shows untrusted names is one forgotten escape away from running them."""
    response = site.client.get("/c/league")
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    for resource in Markup(response.text).resources:
        loaded = site.client.get(resource)
        assert (loaded.status_code, "immutable" in loaded.headers["cache-control"]) == (200, True)
    assert site.client.get("/static/site.css").status_code == 404


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/", "/contests"),
        ("/c/league", "/contests/league/boards/bots"),
        ("/c/league?limit=2&q=a", "/contests/league/boards/bots?limit=2&q=a"),
        ("/c/league/boards/bots?as_of=9", "/contests/league/boards/bots?as_of=9"),
        ("/c/league/rules", "/contests/league"),
        (
            person("league", HOSTILE),
            f"/contests/league/boards/bots/explanations/{quote(HOSTILE, safe='')}",
        ),
        ("/c/league/people/ada%2Ejson", "/contests/league/boards/bots/explanations/ada.json"),
    ],
)
def test_a_page_has_the_data_of_the_api(site: Instance, path: str, data: str) -> None:
    """One address answers people and programs."""
    expected = site.get(data)
    by_ending = site.client.get(addresses.data(*path.split("?")))
    by_header = site.client.get(path, headers={"accept": "application/json"})
    for response in (by_ending, by_header):
        assert (response.status_code, response.content) == (200, expected.content)
        assert response.headers.get("etag") == expected.headers.get("etag")
        assert response.headers["vary"] == "accept, authorization, cookie"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
    for headers in ({"accept": "text/html,application/json;q=0.9"}, {}):
        page = site.client.get(path, headers=headers)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "accept" in page.headers["vary"]


def test_a_board_is_downloaded_with_the_rights_of_a_session(site: Instance) -> None:
    """The API ignores cookies, and a link cannot send a token."""
    browser = Browser(site)
    for form in ("csv", "ndjson", "parquet"):
        address = addresses.board_data("secret", "bots", form)
        assert browser.get(address).status_code == 404
        expected = site.get(f"/contests/secret/boards/bots?format={form}", "operator")
        browser.sign_in("operator")
        response = browser.get(address)
        assert (response.status_code, response.content) == (200, expected.content)
        browser.send("/sign-out", {"form_token": browser.form_token("/account")})


def test_a_page_without_data_has_no_such_address(site: Instance) -> None:
    """A wrong ending is a wrong address."""
    for address, form in (
        ("/sign-in", "json"),
        ("/c/league/rules", "csv"),
        ("/c/league/ledger", "parquet"),
    ):
        response = site.client.get(f"{address}.{form}")
        assert response.status_code == 404
        assert f"no data as {form}" in response.json()["detail"]


def test_data_known_to_the_client_are_not_sent_again(site: Instance) -> None:
    """Programs poll boards."""
    tag = site.client.get("/c/league.json").headers["etag"]
    again = site.client.get("/c/league.json", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_hostile_id_is_text_and_has_a_page(site: Instance) -> None:
    """Ids come from participants."""
    response = site.client.get(person("league", HOSTILE))
    assert response.status_code == 200
    assert "<b onmouseover" not in response.text
    assert HOSTILE in Markup(response.text).text
    assert HOSTILE in Markup(site.client.get(contest("league")).text).text


def test_the_home_page_reads_a_limited_number_of_boards(
    site: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everyone may load it, and each contest costs the first row of a board."""
    monkeypatch.setattr(home, "CARDS", 1)
    page = site.client.get("/", headers=site.as_("organiser")).text
    assert page.count('class="card"') == 1
    assert "The first 1 are shown" in Markup(page).text


def test_a_wrong_method_lists_all_that_are_allowed(site: Instance) -> None:
    """A path can have a page and a form."""
    for path, allowed in (("/c/league/problems/p", {"GET", "HEAD", "POST"}), ("/", {"GET", "HEAD"}),
                          ("/c/league/desk/open", {"POST"})):  # fmt: skip
        response = site.client.delete(path)
        assert (response.status_code, set(response.headers["allow"].split(", "))) == (405, allowed)


def test_a_person_s_page_adds_up_to_the_score(site: Instance) -> None:
    """The first question of a participant is why."""
    page = Markup(site.client.get(person("league", "ada")).text).text
    row = site.get("/contests/league/boards/bots/rows/ada").json()["rows"][0]
    points = [
        float(text.replace("−", "-").replace(",", ""))
        for text in re.findall(r"^[+−]?[\d,.]+$", page.partition("Why this score")[2], re.MULTILINE)
    ]
    parts = site.get("/contests/league/boards/bots/explanations/ada").json()["parts"]
    assert points[: len(parts)] == [part["points"] for part in parts]
    assert sum(part["points"] for part in parts) == row["score"]
    assert f"{row['score']:,.0f}" in page


def test_a_board_shows_the_rows_of_the_api_and_pages_through_them(site: Instance) -> None:
    """The site and the API are two forms of one answer."""
    rows = site.get("/contests/league/boards/bots").json()["rows"]
    page = site.client.get(board("league", "bots", limit=2)).text
    shown = Markup(page)
    assert [str(row["id"]) in shown.text for row in rows] == [True, True, False]
    following = next(link for link in shown.links if "cursor=" in link)
    assert rows[2]["id"] in Markup(site.client.get(following).text).text
    found = Markup(site.client.get(board("league", "bots", q="ad")).text).text
    assert ("ada" in found, "bob" in found) == (True, False)
    nothing = site.client.get(board("league", "bots", q="zz")).text
    assert "No name or id on this board begins with" in nothing


def test_names_are_text_next_to_ids_until_they_are_hidden(browser: Browser) -> None:
    """Anyone may take any name; the id says who it is. Hidden ones are on no page, kept or not."""
    instance, name = browser.instance, f"{HOSTILE} ada \u0627\u062f\u0627"
    instance.contest(people=0, names="shown")
    handles = {"u1": name, "u2": name, "u3": None, "u4": "u4"}
    rows = [("users", {"id": key, "handle": text}, None) for key, text in handles.items()]
    record(instance.service, "spring", rows, by=ORGANISER)
    publish(instance.service, "spring")
    paths = (contest("spring"), board("spring", "user-score", q="ADA"), person("spring", "u1"), "/")
    pages = [Markup(instance.client.get(path).text) for path in paths]
    for page in pages:
        assert (page.errors, name in page.text, "u1" in page.text) == ([], True, True)
    assert f"\u2068{closed_text(name)}\u2069 (u1) · Spring" in pages[2].text
    assert (pages[0].text.count(name), pages[1].text.count(name)) == (2, 2)
    browser.sign_in("organiser")
    browser.submit("/c/spring/desk", "/c/spring/desk/details", {"names": "hidden"})
    for path in paths:
        assert name not in Markup(instance.client.get(path).text).text
    assert "No id on this board begins with" in instance.client.get(paths[1]).text


@pytest.mark.parametrize("path", [contest("league"), "/", person("league", "ada")])
def test_a_page_is_read_in_one_transaction(
    site: Instance, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page shows is of one state, and a database is asked to begin once."""
    begins = Mock(wraps=begin)
    monkeypatch.setattr(session, "begin", begins)
    assert site.client.get(f"{path}?by=one").status_code == 200  # no other test loads it
    assert begins.call_count == 1


@pytest.mark.exhaustive
def test_a_page_as_of_a_position_stays_the_same_bytes(site: Instance, tmp_path: Path) -> None:
    """What was cited can be looked at later."""
    instance = instance_at(tmp_path)
    fill(instance)
    seq = instance.get("/contests/league").json()["seq"]
    addresses = [board("league", "bots", as_of=seq), person("league", "ada", as_of=seq)]
    before = [instance.client.get(address) for address in addresses]
    match = {"id": "m9", "played_at": "2026-01-09T00:00:00Z", "kind": "rated", "bot_a": "ada",
             "bot_b": "bob", "winner": "b"}  # fmt: skip
    record(instance.service, "league", [("matches", match, "m9")], by=ORGANISER)
    publish(instance.service, "league")
    after = [instance.client.get(address) for address in addresses]
    newest = instance.client.get(board("league", "bots"))
    instance.close()
    assert newest.text != before[0].text
    assert [page.headers["etag"] for page in after] == [page.headers["etag"] for page in before]
    tag = {"if-none-match": before[0].headers["etag"]}
    assert site.client.get("/", headers=tag).status_code == 200
    fresh = site.client.get(contest("league"))
    tag = {"if-none-match": fresh.headers["etag"]}
    assert site.client.get(contest("league"), headers=tag).status_code == 304


@pytest.mark.parametrize(
    ("address", "status", "text"),
    [
        ("/nothing", 404, "there is nothing at this address"),
        ("/c/unknown", 404, "there is no contest 'unknown'"),
        ("/c/secret", 404, "there is no contest 'secret'"),
        ("/c/league/boards/unknown", 404, "unknown"),
        ("/c/league/people/zoe", 404, "zoe"),
        ("/c/league?limit=0", 422, "expected a whole number from 1 to 500, got '0'"),
        ("/c/league?cursor=x", 422, "cursor"),
        ("/c/league?as_of=soon", 422, "soon"),
        (f"/c/league?limit={'1' * 5000}", 422, "expected a whole number from 1 to 500"),
        ("/c/league?q=%00", 422, "q: "),
        ("/c/league?around=%00", 422, "around: "),
        ("/c/league?cursor=%00", 422, "cursor: "),
        ("/c/league?as_of=%00", 422, "as_of: "),
        (f"/c/league?as_of={'9' * 100}", 422, "as_of: "),
    ],
)
def test_a_wrong_address_is_explained_on_a_page(
    site: Instance, address: str, status: int, text: str
) -> None:
    """A visitor followed a link; JSON is no answer."""
    response = site.client.get(address, headers={"accept": "text/html,*/*;q=0.8"})
    page = Markup(response.text)
    assert (response.status_code, page.errors) == (status, [])
    assert text in page.text
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    api = site.client.get(address, headers={"accept": "application/json"})
    assert api.status_code == status
    assert api.json()["detail"] in page.text


@pytest.mark.exhaustive
def test_a_page_of_the_public_is_rendered_once_until_something_is_stored(
    site: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many load a board at the same time; what was stored is on the next page."""
    monkeypatch.setattr(site.service.clock, "step", timedelta(0))  # no page outlasts a second
    calls: list[SitePage] = []

    def render(page: SitePage, visitor: Any) -> str:
        calls.append(page)
        return rendering.render(page, visitor)

    monkeypatch.setattr(responses, "render", render)
    pages = [site.client.get("/c/league?limit=3").text for _ in range(3)]
    assert (len(calls), len(set(pages))) == (1, 1)
    site.client.get("/c/league?limit=3", headers={"cookie": "agon_theme=dark"})
    site.client.get("/c/league?limit=3", headers=site.as_("participant"))
    site.client.get("/c/league?limit=3", headers=site.as_("participant"))
    assert len(calls) == 4
    site.contest("another", people=1)
    site.client.get("/c/league?limit=3")
    assert len(calls) == 5
    assert site.client.get("/c/none").status_code == site.client.get("/c/none").status_code == 404


@pytest.mark.exhaustive
def test_a_card_says_who_won_and_matches_name_their_bots_as_the_board_does(
    browser: Browser,
) -> None:
    """It said “leads” of one of two winners; matches showed ids where boards show names.

    Two who share the place are both named; of more than two the others are counted.
    """
    service = browser.instance.service
    rows = [("bots", {"id": name, "name": f"Bot {name}"}, name) for name in "abc"]
    for contest_id, pairs in (
        ("cup", [("a", "b")]),
        ("trio", [("a", "b"), ("b", "c"), ("c", "a")]),
    ):
        cup = creation.NewContest(id=contest_id, discipline="arena", title="Cup")
        creation.create(service, cup, by=ORGANISER)
        transitions.open_contest(service, contest_id, by=ORGANISER)
        tied = [
            ("matches", {"id": str(day), "played_at": f"2026-01-0{day}T00:00:00Z", "kind": "rated",
                         "bot_a": first, "bot_b": second, "winner": "tie"}, str(day))
            for day, (first, second) in enumerate(pairs, start=1)
        ]  # fmt: skip
        record(service, contest_id, [*rows, *tied], by=ORGANISER)
        publish(service, contest_id)
    assert "Led by Bot a a and 2 others" in _words(browser.get("/").text)
    assert addresses.person("cup", "b") in Markup(browser.get("/").text).links
    assert "Led by Bot a a and Bot b b" in _words(browser.get("/").text)
    transitions.finalize(service, "cup", by=ORGANISER)
    assert "Won by Bot a a and Bot b b" in _words(browser.get("/").text)
    row = browser.get("/api/v1/contests/cup/results").json()["items"][0]
    assert row["names"] == {"a": "Bot a", "b": "Bot b"}
    for address in ("/c/cup/matches", "/c/cup/matches/1", "/c/cup/people/b"):
        assert "Bot a" in browser.get(address).text


def _words(page: str) -> str:
    return " ".join(Markup(page).text.split())
