"""The picture at the head of a board, whose coordinates are its data, and factors of weights."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest

from agon.api.models.contests import Contest
from agon.app.charts import drawing, intervals, markup
from agon.web import addresses
from agon.web.labels import labels
from agon.web.pages.boards.epoch_shares import miner_text
from agon.web.rendering import share_text
from fakes.contests import all_disciplines, contest_of, simulated_rows
from fakes.instance import Instance, instance_at
from web.browser import Browser
from web.markup import Markup

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with contests of all disciplines."""
    instance = instance_at(tmp_path_factory.mktemp("pictures"))
    all_disciplines(instance.service)
    contest_of(
        instance.service,
        "ratings",
        title="Ratings",
        discipline="arena",
        rows=simulated_rows("arena", 150),
    )
    yield instance
    instance.close()


def picture(site: Instance, address: str, browser: Browser | None = None) -> tuple[str, ET.Element]:
    """Return the section with the picture of a page that is valid, and its chart."""
    response = site.client.get(address) if browser is None else browser.get(address)
    page = Markup(response.text)
    assert (response.status_code, page.errors, page.inline) == (200, [], [])
    [section] = re.findall(r'<section class="picture".*?</section>', response.text, re.DOTALL)
    assert response.text.index(section) < response.text.index("<table class=")
    drawn = re.search(r'<svg [^>]*class="chart".*?</svg>', section, re.DOTALL)
    return section, ET.fromstring(drawn[0] if drawn else "<none/>")  # noqa: S314 - we wrote it


@pytest.mark.exhaustive
def test_ratings_are_drawn_with_their_intervals_and_tiers(site: Instance) -> None:
    """A reader sees at the head which ranks are certain."""
    section, chart = picture(site, addresses.board("ratings", "bradley-terry"))
    rows = site.get("/contests/ratings/boards/bradley-terry").json()["rows"][:12]
    lines = [
        path.get("d", "") for path in chart.iter(f"{SVG}path") if path.get("class") == "line s0"
    ]
    dots = [path.get("d", "") for path in chart.iter(f"{SVG}path") if path.get("class") == "dot s0"]
    assert len(dots) == len(lines) == len(rows)
    low = float(min(row["low"] for row in rows))
    high = float(max(row["high"] for row in rows))
    start, end = intervals._NAMES, markup.WIDTH - intervals._MARGIN - intervals._VALUES

    def value(x: str) -> float:
        return low + (float(x) - start) * (high - low) / (end - start)

    pixel = (high - low) / (end - start)
    for row, line, dot in zip(rows, lines, dots, strict=True):
        ends = re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)", line)
        assert ends is not None
        assert abs(value(ends[1]) - row["low"]) <= pixel / 2
        assert abs(value(ends[2]) - row["high"]) <= pixel / 2
        assert abs(value(dot[1:].split()[0]) - row["score"]) <= pixel / 2
    tiers = [text.text for text in chart.iter(f"{SVG}text") if (text.text or "").startswith("tier")]
    assert tiers == [f"tier {tier}" for tier in dict.fromkeys(row["tier"] for row in rows)]
    links = [a.get("href") for a in chart.iter(f"{SVG}a")]
    assert links == [addresses.person("ratings", row["id"], board="bradley-terry") for row in rows]
    assert "no order is certain" in section


def test_elo_ratings_are_drawn_with_their_noise(site: Instance) -> None:
    """A rating that varies by chance is no point."""
    section, chart = picture(site, addresses.board("arena", "bots"))
    assert "the noise of their ratings" in section
    labels = [link.get("aria-label", "") for link in chart.iter(f"{SVG}a")]
    assert len(labels) == min(12, site.get("/contests/arena/boards/bots").json()["rows_total"])
    assert all(" to " in label for label in labels)


@pytest.mark.parametrize(
    ("contest", "board"), [("ratings", "bradley-terry"), ("challenge", "weights")]
)
def test_a_phone_shows_the_same_chart_without_scrolling(
    site: Instance, contest: str, board: str
) -> None:
    """On a wide chart of ratings a phone shows names and no interval."""
    page = site.client.get(addresses.board(contest, board)).text
    wide, narrow = (
        ET.fromstring(drawn)  # noqa: S314 - we wrote it
        for drawn in re.findall(r'<svg [^>]*class="chart(?: narrow)?".*?</svg>', page, re.DOTALL)
    )
    assert (wide.get("class"), narrow.get("class")) == ("chart", "chart narrow")
    ids = [each.get("id") for chart in (wide, narrow) for each in chart.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for kind in ("line s0", "dot s0", "area edge f0"):
        drawn = [
            [path for path in chart.iter(f"{SVG}path") if path.get("class") == kind]
            for chart in (wide, narrow)
        ]
        assert len(drawn[0]) == len(drawn[1]), kind
    labels = [
        [link.get("aria-label") for link in chart.iter(f"{SVG}a")] for chart in (wide, narrow)
    ]
    assert labels[0] == labels[1]
    width = float(narrow.get("width", 0))
    for text in narrow.iter(f"{SVG}text"):
        x, room = float(text.get("x", 0)), markup.width(text.text or "")
        if text.get("text-anchor") == "end" or "end" in (text.get("class") or "").split():
            assert x - room >= 0, text.text
        elif text.get("text-anchor") is None:
            assert x + room <= width + 8, text.text


def test_visitors_see_where_they_are_among_all(site: Instance) -> None:
    """The first question of a participant."""
    page = site.get("/contests/community/boards/user-score").json()
    parts = site.get("/contests/community/boards/user-score/distribution").json()["parts"]
    bins = next(part["bins"] for part in parts if part["name"] == "score")
    section, chart = picture(site, addresses.board("community", "user-score"))
    assert len(list(chart.iter(f"{SVG}rect"))) == len(bins)
    assert re.findall(r'<td class="num">(\d+)</td>', section) == [str(each["n"]) for each in bins]
    assert "here" not in chart.findtext(f"{SVG}desc", "")
    row = page["rows"][1]
    around = addresses.board("community", "user-score", around=row["id"])
    _, chart = picture(site, around)
    marked = re.findall(r"([\d,.−]+) to ([\d,.−]+): \d+ \(here\)", chart.findtext(f"{SVG}desc", ""))
    [(low, high)] = [[float(end.replace(",", "")) for end in ends] for ends in marked]
    assert low <= row["score"] <= high


def test_shares_of_every_epoch_are_drawn_and_listed(site: Instance) -> None:
    """Weights and burn over epochs are what a miner looks for; bands end at 100 %."""
    listed = site.get("/contests/challenge/epochs").json()
    for address in (addresses.contest("challenge"), addresses.epochs("challenge")):
        section, chart = picture(site, address)
        heads = re.findall(r"<th scope=\"col\" class=\"num\"><bdi>(.*?)</bdi>", section)
        assert heads[:-1] == [f"uid {each['uid']}" for each in listed["miners"]]
        rows = re.findall(r'<tr><th scope="row".*?</tr>', section)
        shares = [[float(each) for each in re.findall(r"<td[^>]*>([\d.]+)<", row)] for row in rows]
        assert len(shares) == len(listed["items"])
        assert all(abs(sum(row) - 100) < 0.05 for row in shares)
        assert [row[-1] for row in shares[::-1]] == [
            round(100 * each["burn"], 2) for each in listed["items"]
        ]
        bands = [
            path.get("d", "") for path in chart.iter(f"{SVG}path")
            if path.get("class", "").startswith("area")
        ]  # fmt: skip
        tops = [min(float(y) for y in re.findall(r"V([\d.]+)", band)) for band in bands]
        plot_top = drawing._PART_HEAD + 6
        assert abs(min(tops) - plot_top) <= 0.5


@pytest.mark.exhaustive
def test_a_miner_is_called_the_same_everywhere(site: Instance) -> None:
    """Boards said 5 where charts said uid 5, and the burn was a miner of the number 0."""
    rows = site.get("/contests/challenge/boards/weights").json()["rows"]
    named = {row["id"]: f"uid {row['id']}" + " (burn)" * (row["id"] == "0") for row in rows}
    assert "0" in named
    last = site.get("/contests/challenge/epochs").json()["last"]
    board, epoch = addresses.board("challenge", "weights"), addresses.epoch("challenge", last)
    for address in (board, epoch):
        page = site.client.get(address).text
        links = dict(re.findall(r'href="/c/challenge/people/(\d+)[?"][^>]*><bdi>(.*?)</bdi>', page))
        assert links == {uid: named[uid] for uid in links}
        assert links.keys() >= {"0"}, address
    for uid, name in named.items():
        page = site.client.get(addresses.person("challenge", uid, board="weights")).text
        assert f"<h1><bdi>{name}</bdi></h1>" in page
        assert f"<title>{name} · " in page
    assert "<bdi>uid " in site.client.get("/").text
    assert picture(site, board)[0].count("uid 0 (burn)") > 0
    other = Contest.model_construct(
        discipline="challenge", edition="challenge/term-1", overrides={"burn_uid": 7}
    )
    label = labels(other, "weights")
    assert [label(uid) for uid in ("0", "7")] == ["uid 0", "uid 7 (burn)"]
    assert labels(other, "validators")("7") == "7"


def test_shares_are_percent_with_the_exact_value_in_the_title(site: Instance) -> None:
    """A column of 0.0213 and 0.0187 is read twice; what is compared and cited is the exact one."""
    exact = re.compile(r'<span title="([\d.e-]+)">([\d.,]+) %</span>')
    for contest, board, column in (
        ("challenge", "weights", "score"),
        ("challenge", "validators", "score"),
        ("arena", "judges", "agreement"),
    ):
        rows = site.get(f"/contests/{contest}/boards/{board}").json()["rows"]
        address = addresses.board(contest, board, columns=column)
        body = site.client.get(address).text.partition('<tbody id="rows"')[2].partition("</tbody>")
        shown = exact.findall(body[0])
        assert [float(title) for title, _ in shown] == [
            row[column] for row in rows if row[column] is not None
        ], address
        for title, text in shown:
            assert abs(float(text) - 100 * float(title)) <= 0.005
    row = site.get("/contests/challenge/boards/weights").json()["rows"][0]
    page = site.client.get(addresses.person("challenge", row["id"], board="weights")).text
    [(title, _), *_] = exact.findall(page.partition('id="score"')[2])
    assert float(title) == row["score"]


def test_every_place_that_shows_a_share_of_the_emission_shows_percent(site: Instance) -> None:
    """The page said 19.55 % at its head, 0.195462 below it, and 0.1954… on the badge."""
    first, second = site.get("/contests/challenge/boards/weights").json()["rows"][:2]
    address = addresses.person("challenge", first["id"], board="weights", **{"with": second["id"]})
    page = site.client.get(address).text
    share, other = share_text(first["score"]), share_text(second["score"])
    said = re.sub(r"<[^>]+>", "", page)
    score = page.partition('<li class="line total">')[2].partition("</li>")[0]
    assert Markup(score).text.split() == ["score", *share.split()]
    assert f"{share_text(first['score'] - second['score'])} ahead of" in said
    assert f">{other}</span>" in page.partition('id="compare"')[2]
    badge = site.client.get(addresses.badge("challenge", first["id"])).text
    assert f"{share} · " in badge
    about = site.client.get(addresses.board("challenge", "weights")).text
    assert f" to {share}. Unit: share of the emission" in about


def test_a_miner_is_named_by_the_beginning_of_its_hotkey() -> None:
    """A uid is given to another miner tomorrow."""
    assert miner_text("uid 7", "5GrwvaEF5zXb26Fz9rcQpDWS") == "uid 7 · 5GrwvaEF…"
    assert miner_text("uid 7", "short") == "uid 7 · short"


def test_a_season_begins_with_who_solved_what(site: Instance) -> None:
    """As the boards of programming contests do."""
    section, _ = picture(site, addresses.contest("season"))
    made = site.get("/contests/season/problem-matrix").json()
    assert section.count('<td class="num total">') == len(made["rows"])
    assert addresses.matrix("season") in section


def test_a_board_that_is_sorted_or_searched_has_no_picture(site: Instance) -> None:
    """It would show other rows than the table."""
    for query in ({"sort": "-matches"}, {"q": "1"}):
        page = site.client.get(addresses.board("arena", "bots", **query)).text
        assert 'class="picture"' not in page


def test_a_weight_is_shown_as_factors_and_not_as_zeros(site: Instance) -> None:
    """The leader of a challenge read a column of zeros."""
    row = site.get("/contests/challenge/boards/weights").json()["rows"][0]
    address = addresses.person("challenge", row["id"], board="weights")
    parts = site.get(f"/contests/challenge/boards/weights/explanations/{row['id']}").json()["parts"]
    page = site.client.get(address).text
    shown = re.findall(r'<span class="num points">(.*?)</span>', page)
    assert "0" not in shown
    by_name = dict(zip((part["name"] for part in parts), shown, strict=False))
    emission = next(part for part in parts if part["name"].startswith("emission"))
    assert by_name[emission["name"]] == f"× {100 * emission['inputs']['emission_share']:g} %"
    share = next(part["inputs"]["share"] for part in parts if part["name"].startswith("strategy"))
    assert f"{round(100 * share, 4):g} % by strategy × " in page
