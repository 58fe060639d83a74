"""What participants look for: movement, history, comparison, other rules."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.charts import Point, timeline
from agon.app.charts.markup import width
from agon.app.charts.timeline import WIDTH, scales
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.cases import decide, open_case
from agon.app.contests.ingest.records import record
from agon.web import addresses
from agon.web.pages.boards.board_rows import part_hues
from agon.web.rendering import number_text
from fakes.contests import HOSTILE
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER
from web.browser import Browser
from web.markup import Markup
from web.test_site import fill

SVG = "{http://www.w3.org/2000/svg}"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance in which the board of the league was published twice."""
    instance = instance_at(tmp_path_factory.mktemp("participants"))
    fill(instance)
    rows = [
        ("matches", {"id": f"n{n}", "played_at": f"2026-01-1{n}T00:00:00Z", "kind": "rated",
                     "bot_a": "bob", "bot_b": "ada", "winner": "a"}, f"n{n}")
        for n in range(4)
    ]  # fmt: skip
    rows.append(("bots", {"id": "zoe", "name": "zoe"}, "zoe"))
    record(instance.service, "league", rows, by=ORGANISER)
    publish(instance.service, "league")
    yield instance
    instance.close()


def page_of(site: Instance, address: str) -> tuple[str, Markup]:
    """Return a page, which must be valid and must not run anything inline."""
    response = site.client.get(address)
    page = Markup(response.text)
    assert (response.status_code, page.errors, page.inline) == (200, [], []), address
    return response.text, page


@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.floats(-1e6, 1e6)), min_size=1, max_size=20).map(
        sorted
    )
)
def test_a_point_of_the_history_is_where_its_time_and_score_are(
    steps: list[tuple[int, float]],
) -> None:
    """Coordinates that cannot be turned back into data mislead."""
    points = [
        Point(BEGIN + timedelta(seconds=at), value, "t", f"/{index}")
        for index, (at, value) in enumerate(steps)
    ]
    drawn = ET.fromstring(timeline(points, name="h", title="Score"))  # noqa: S314 - we wrote it
    along, up = scales(points)
    links = list(drawn.iter(f"{SVG}a"))
    assert [link.attrib["href"] for link in links] == [point.address for point in points]
    for point, link in zip(points, links, strict=True):
        circle = link[0].attrib
        assert abs(float(circle["cx"]) - along(point.at.timestamp())) <= 0.5
        assert abs(float(circle["cy"]) - up(point.value)) <= 0.5
        pixel = (up.high - up.low) / abs(up.end - up.start)
        value = up.low + (up.start - float(circle["cy"])) * pixel
        assert abs(value - point.value) <= 0.5 * pixel


@given(
    st.floats(-1e12, 1e12), st.floats(0, 1), st.integers(0, 10**12),
    st.sampled_from([0, 1, 999_999, 59 * 10**6, 3 * 10**9, 10**12]),
)  # fmt: skip
def test_labels_of_the_history_are_told_apart(
    low: float, change: float, begin: int, microseconds: int
) -> None:
    """Two scores within a minute had the same time at both ends, long values the same beginning."""
    first = BEGIN + timedelta(microseconds=begin)
    points = [
        Point(first, low, "t", "/0"),
        Point(first + timedelta(microseconds=microseconds), low + change, "t", "/1"),
    ]
    drawn = ET.fromstring(timeline(points, name="h", title="Score"))  # noqa: S314 - we wrote it
    labels = [label for label in drawn.iter(f"{SVG}text") if label.attrib["class"] == "quiet"]
    texts = [label.text or "" for label in labels]
    assert len({*texts}) == len(texts)
    for label in labels:
        place, size = float(label.attrib["x"]), width(label.text or "")
        moved = {"end": size, "middle": size / 2}.get(label.attrib.get("text-anchor", ""), 0)
        assert 0 <= place - moved <= place - moved + size <= WIDTH, label.text
    if microseconds:
        before, after = labels[-2:]
        assert float(before.attrib["x"]) + width(texts[-2]) < (
            float(after.attrib["x"]) - width(texts[-1])
        )


@pytest.mark.exhaustive
def test_the_points_of_the_history_open_the_score_as_of_then(site: Instance) -> None:
    """A participant asks what happened on that day."""
    steps = site.get("/contests/league/boards/bots/history/ada").json()["items"]
    page, markup = page_of(site, addresses.person("league", "ada"))
    chart = re.findall(r'<svg [^>]*class="chart".*?</svg>', page, re.DOTALL)[0]
    scored = [step for step in steps if step["score"] is not None]
    links = [link.attrib["href"] for link in ET.fromstring(chart).iter(f"{SVG}a")]  # noqa: S314
    assert len(links) == len(scored) > 1
    assert set(links) <= set(markup.links)
    for link, step in zip(links, scored, strict=True):
        assert f"{step['score']:,.0f}" in page_of(site, link)[1].text.replace("−", "-")


def test_a_board_shows_who_moved_and_since_when(site: Instance) -> None:
    """The first look at a board is at what changed."""
    moved = site.get("/contests/league/boards/bots/movement").json()
    rows = site.get("/contests/league/boards/bots").json()["rows"]
    page, markup = page_of(site, addresses.contest("league"))
    shown = re.findall(r'<td class="num moved">(.*?)</td>', page)
    for row, text in zip(rows, shown, strict=True):
        before = moved["ranks"][row["id"]]
        change = None if before is None else before - row["rank"]
        expected = (
            "new" if change is None else "=" if not change else f"{'↓↑'[change > 0]}{abs(change)}"
        )
        assert text == expected
    assert {text[0] for text in shown} >= {"↑", "↓"}
    assert addresses.board("league", "bots", as_of=moved["since"]["seq"]) in markup.links
    first, _ = page_of(site, addresses.board("league", "bots", as_of=moved["since"]["seq"]))
    assert '<td class="num moved">' not in first  # there is no board before


def test_every_column_of_a_board_is_explained_on_the_page(site: Instance) -> None:
    """A head that does not say what it is makes readers guess."""
    page, markup = page_of(site, addresses.contest("league"))
    targets = re.findall(r'class="help" href="#([^"]+)"', page)
    assert {"about-rank", "about-moved", "about-score"} <= set(targets) <= markup.ids


def test_a_visitor_s_own_row_is_shown_on_every_page(site: Instance) -> None:
    """With a million rows one's own is on page 20,000."""
    browser = Browser(site)
    browser.sign_in("participant")
    rows = site.get("/contests/league/boards/bots").json()["rows"]
    own = next(row for row in rows if row["id"] == site.get("/me", "participant").json()["user"])
    other = next(row for row in rows if row["id"] != own["id"])
    around = browser.get(
        addresses.board("league", "bots", limit=1, around=other["id"])
    ).text  # a page without the own row
    assert "You: rank <a href=" in around
    assert f"around={own['id']}" in around
    page = browser.get(addresses.contest("league")).text
    assert ("You: rank" in page, page.count('class="own"')) == (False, 1)


def test_a_comparison_sums_to_the_difference_of_the_scores(site: Instance) -> None:
    """Why is A before B?"""
    scores = [
        site.get(f"/contests/league/boards/bots/explanations/{name}").json()["score"]
        for name in ("ada", "bob")
    ]
    page, markup = page_of(site, addresses.person("league", "ada", **{"with": "bob"}))
    table = page.partition('aria-label="Parts of both scores"')[2].partition("</table>")[0]
    values = [
        float(text.replace("−", "-").replace("+", "").replace(",", ""))
        for text in re.findall(r'<td class="num">([^<]*)</td></tr>', table)
    ]
    assert values[0] == pytest.approx(scores[1] - scores[0], abs=1e-3)
    assert sum(values[1:]) == pytest.approx(values[0], abs=0.01 * len(values))
    for other, text in ((HOSTILE, HOSTILE), ("unknown", "unknown")):
        assert text in page_of(site, addresses.person("league", "ada", **{"with": other}))[1].text
    assert addresses.person("league", "bob", board="bots") in markup.links


def test_a_page_states_the_distance_to_the_ranks_before_and_after(site: Instance) -> None:
    """The first question of a participant is how far the next rank is; a name opens why."""
    rows = site.get("/contests/league/boards/bots").json()["rows"]
    for at, row in enumerate(rows):
        page, markup = page_of(site, addresses.person("league", row["id"]))
        shown = page.partition('id="neighbors"')[2].partition("</p>")[0]
        expected = []
        for other in (*rows[max(0, at - 1) : at], *rows[at + 1 : at + 2]):
            gap = other["score"] - row["score"]
            number = number_text(abs(gap))
            expected.append(f">{number}</b> {'behind' if gap > 0 else 'ahead of'} <a" if gap else
                            "level with <a")  # fmt: skip
            query = {"board": "bots", "with": other["id"]}
            assert f"{addresses.person('league', row['id'], **query)}#compare" in markup.links
        assert re.findall(r">[\d,.]+</b> (?:behind|ahead of) <a|level with <a", shown) == expected


def test_a_bot_s_page_sums_its_matches_against_each_opponent(site: Instance) -> None:
    """Whom a bot beats says more than the rating, and each sum leads to its matches."""
    page, markup = page_of(site, addresses.person("league", "bob"))
    explanation = site.get("/contests/league/boards/bots/explanations/bob").json()
    matches = [part for part in explanation["parts"] if part["inputs"].get("opponent") == "ada"]
    points = sum(part["inputs"]["score"] for part in matches)
    expected = sum(part["inputs"]["expected"] for part in matches)
    change = sum(part["points"] for part in matches)
    assert len(matches) == 5
    row = page.partition('id="against"')[2].partition("<bdi>ada</bdi>")[2].partition("</tr>")[0]
    assert re.findall(r'<td class="num">(.*?)</td>', row) == [
        "5", "4", "0", "1", f"{points:.1f}", f"{expected:.1f}", f"+{points - expected:.1f}",
        f"+{change:.0f}",
    ]  # fmt: skip
    assert {addresses.match("league", name) for name in ("m1", "n0")} <= set(markup.links)
    _, rated = page_of(site, addresses.person("league", "bob", board="bradley-terry"))
    assert "Against each opponent" in rated.text


@pytest.mark.exhaustive
def test_a_bot_with_many_matches_has_ten_lines_and_the_others_folded(browser: Browser) -> None:
    """A bot has a line for each match; the page below them was far away."""
    instance, address = browser.instance, addresses.person("league", "ada", board="bots")
    fill(instance)
    assert browser.get(address).text.count('<ol class="waterfall"') == 1
    rows = [
        ("matches", {"id": f"n{n}", "played_at": f"2026-01-{10 + n}T00:00:00Z", "kind": "rated",
                     "bot_a": "bob", "bot_b": "ada", "winner": "a"}, f"n{n}")
        for n in range(14)
    ]  # fmt: skip
    record(instance.service, "league", rows, by=ORGANISER)
    publish(instance.service, "league")
    parts = len(instance.get("/contests/league/boards/bots/explanations/ada").json()["parts"])
    assert parts > 14
    page = browser.get(address).text
    assert Markup(page).errors == []
    lists = re.findall(r'<ol class="waterfall"( start="\d+")?>(.*?)</ol>', page, re.DOTALL)
    assert [(start, body.count("<li>"), body.count("<li ")) for start, body in lists] == [
        ("", 10, 0), (' start="11"', parts - 10, 0), (f' start="{parts + 1}"', 0, 1),
    ]  # fmt: skip
    assert f"<details><summary>{parts - 10} more lines</summary><ol" in page


def test_an_account_lists_the_scores_of_its_user(site: Instance) -> None:
    """After signing in the first question is where one stands; a score opens why."""
    browser = Browser(site)
    browser.sign_in("participant")
    page = Markup(browser.get(addresses.account()).text)
    assert page.errors == []
    assert addresses.row("league", "ada", board="bots", discipline_name="arena") in page.links
    judge = Browser(site)
    judge.sign_in("judge")
    assert "No board has the id judy yet" in Markup(judge.get(addresses.account()).text).text


@pytest.mark.exhaustive
def test_a_frozen_board_says_what_is_not_shown(browser: Browser) -> None:
    """Who sees no change after a good day must know that the board stands still."""
    instance = browser.instance
    instance.contest("spring", people=1)
    board = addresses.contest("spring")
    assert "The board is frozen" not in browser.get(board).text
    instance.post("/contests/spring/freeze", "organiser")
    instance.people("spring", 2, begin=1)
    assert "is shown only when the organizers end the freeze" in browser.get(board).text
    browser.sign_in("organiser")
    assert "the public sees" in browser.get(board).text


@pytest.mark.exhaustive
def test_a_score_under_other_rules_is_in_the_address(site: Instance) -> None:
    """A participant wants to know what a rule does, and to show it to others."""
    page, _ = page_of(site, addresses.person("league", "ada"))
    names = re.findall(r'name="(rule\.[^"]+)"', page)
    assert names
    start = next(name for name in names if name == "rule.elo_start")
    page, _ = page_of(site, addresses.person("league", "ada", **{start: "2000"}))
    rules = '{"elo_start":"2000"}'
    after = site.get(f"/contests/league/boards/bots/what-if/ada?rules={rules}").json()["after"]
    assert f"<strong>{number_text(after['score'])}</strong> instead of" in page
    assert 'value="2000"' in page
    wrong = page_of(site, addresses.person("league", "ada", **{start: "many"}))[1]
    assert "elo_start" in wrong.text
    assert (
        'value="many"' in site.client.get(addresses.person("league", "ada", **{start: "many"})).text
    )


@given(st.lists(st.dictionaries(st.sampled_from("abcdefghijk"), st.integers(1, 9)), min_size=1))
def test_six_parts_of_a_page_have_hues_and_the_others_follow_in_gray(
    rows: list[dict[str, int]],
) -> None:
    """Equal colors of two parts cannot be distinguished."""
    hues = part_hues([{"components": components} for components in rows])
    assert set(hues) == set().union(*rows)
    colored = [hue for hue in hues.values() if hue != "-others"]
    assert colored == [str(hue) for hue in range(min(6, len(hues)))]
    assert list(hues.values())[len(colored) :] == ["-others"] * (len(hues) - len(colored))
    sums = {name: sum(row.get(name, 0) for row in rows) for name in hues}
    others = [sums[name] for name, hue in hues.items() if hue == "-others"]
    assert not others or max(others) <= min(sums[name] for name in list(hues)[:6])


def test_a_participant_reads_a_decision_and_appeals(site: Instance) -> None:
    """A person who is accused must be able to answer, and others must not read it."""
    case = open_case(site.service, "league", title="<b>", subjects=["ada"], text="x", by=ORGANISER)
    address, ada = addresses.cases("league"), Browser(site)
    assert "Sign in</a> to see" in ada.get(address).text
    ada.sign_in("participant")
    assert "No decision was made about you" in ada.get(address).text
    decide(site.service, "league", case.id, decision="void", reason="<i>no", by=ORGANISER)
    page = ada.get(address)
    shown = Markup(page.text)
    assert (shown.errors, "<i>no" in shown.text, "It changes no score" in shown.text) == (
        [], True, True,
    )  # fmt: skip
    [step] = site.get("/contests/league/cases", "organiser").json()["items"][0]["steps"][1:]
    assert addresses.entry("league", step["seq"]) in shown.links
    assert not re.search(r"[Ee]ntry \d|position \d", shown.text)
    for other in (addresses.person("league", "ada"), addresses.account()):
        assert address in Markup(ada.get(other).text).links
    target = addresses.cases("league", case.id)
    wrong = ada.submit(address, target, {"text": " "})
    assert (wrong.status_code, 'aria-invalid="true"' in wrong.text) == (422, True)
    token = {"form_token": ada.form_token(address)}
    sent = ada.send(target, {"text": "It was not me", **token})
    assert (sent.status_code, sent.headers["location"]) == (303, address)
    text = Markup(ada.get(address).text).text
    assert ("It was not me" in text, "have not decided on it yet" in text) == (True, True)
    late = ada.send(target, {"text": "It was <not> me", **token})
    shown = Markup(late.text)
    assert (late.status_code, shown.errors, "It was <not> me" in shown.text) == (422, [], True)
    assert "only decided cases" in shown.text
    judge = Browser(site)
    judge.sign_in("judge")
    assert "No decision was made about you" in judge.get(address).text
    token = {"form_token": judge.form_token(addresses.account())}
    assert judge.send(target, {"text": "I say", **token}).status_code == 404
    assert judge.get(addresses.person("league", "ada")).text.count("about you") == 0
    assert site.get("/contests/league/own-cases").status_code == 401
