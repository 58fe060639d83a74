"""Distribution, epochs, movement, other rules: charts as numbers, tables from the same rows."""

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agon.app.charts.histogram import WIDTH
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.disciplines import discipline
from agon.editions import editions
from agon.ledger.entry import read_line
from agon.web import addresses, rendering
from fakes.contests import HOSTILE
from fakes.instance import Instance
from fakes.service import ORGANISER
from web.markup import Markup

SVG = "{http://www.w3.org/2000/svg}"


def page_of(site: Instance, address: str) -> tuple[str, Markup]:
    """Return a page, which must be valid and must not run anything inline."""
    response = site.client.get(address)
    page = Markup(response.text)
    assert (response.status_code, page.errors, page.inline) == (200, [], []), address
    return response.text, page


def charts(page: str) -> list[ET.Element]:
    """Return the charts of a page."""
    return [
        ET.fromstring(drawn)  # noqa: S314 - we wrote it
        for drawn in re.findall(r'<svg [^>]*class="chart".*?</svg>', page, re.DOTALL)
    ]


@pytest.mark.exhaustive
def test_the_home_page_takes_a_score_apart(site: Instance) -> None:
    """Who opens the site for the first time sees what a score is made of."""
    text, markup = page_of(site, "/")
    board = site.get("/contests/community/boards/user-score").json()
    row = board["rows"][0]
    parts = [points for points in row["components"].values() if points > 0]
    shown = re.findall(r'<span class="num">\+([0-9,.]+)</span>', text)
    points_shown = [float(points.replace(",", "")) for points in shown]
    assert sorted(points_shown) == sorted(parts)
    bars = re.findall(r'<rect class="f[-a-z0-9]+" x="([0-9.]+)" y="0" width="([0-9.]+)"', text)
    end = 0.0  # first all parts in one bar, then each in its line
    for (start, width), points in zip(bars, 2 * points_shown, strict=True):
        assert abs(float(start) - end % 100) <= 0.02
        assert abs(float(width) - max(100 * points / sum(parts), 0.4)) <= 0.01
        end = round(end + 100 * points / sum(parts), 6)
    assert f"Why does {board['names'][row['id']]} {row['id']} have" in markup.text


def test_every_column_of_a_board_has_a_help_with_the_numbers_of_the_board(site: Instance) -> None:
    """A column without an explanation is guessed at; the range of one page says little."""
    text, page = page_of(site, addresses.board("arena", "bots", limit=1))
    rows = site.get("/contests/arena/boards/bots").json()["rows"]
    head = text.partition("<thead")[2].partition("</thead>")[0]
    assert head.count('class="help"') == head.count("<th ") - 1 > 4
    matches = [row["matches"] for row in rows]
    assert f"From {min(matches)} to {max(matches)}." in text.partition(">Matches</dt>")[2]
    assert page.errors == []
    named = {link.partition("#")[2] for link in page.links if "/rules#" in link}
    rules, _ = page_of(site, addresses.rules("arena"))
    assert "k_new" in named
    assert [rule for rule in named if f'id="{rule}"' not in rules] == []


def test_the_ledger_writes_times_as_other_pages_do(site: Instance) -> None:
    """A time in another form looks like another time."""
    text, _ = page_of(site, addresses.ledger("arena"))
    assert re.search(r"<dt>Newest entry</dt><dd>[0-9-]{10} [0-9]{2}:[0-9]{2} UTC</dd>", text)


def test_the_ledger_shows_the_chosen_kinds(site: Instance) -> None:
    """The address keeps the choice, as that of a board does."""
    text, page = page_of(site, addresses.ledger("arena"))
    assert page.errors == []
    kinds = re.findall(r'name="kind" value="([^"]*)"', text)
    assert {"contest-created", "contest-opened"} <= set(kinds)
    chosen, _ = page_of(
        site, addresses.ledger("arena") + "?kind=contest-created&kind=contest-opened"
    )
    rows = chosen.partition('id="log"')[2].partition("</table>")[0]
    assert rows.count("<tr id=") == 2
    assert rows.count(" checked") == 2
    assert site.client.get(addresses.ledger("arena") + "?kind=no-such").status_code == 422


@pytest.mark.exhaustive
def test_boards_are_sorted_and_filtered_by_links_and_forms(site: Instance) -> None:
    """Headings are links, pages keep the order and the range, and ranks stay those of the board."""
    board = "/contests/arena/boards/bots"
    _, page = page_of(site, addresses.board("arena", "bots", limit=1))
    link = addresses.board("arena", "bots", sort="-matches", limit=1)
    assert link in page.links
    matching = site.get(f"{board}?sort=-matches&minimum=1").json()["rows"]
    assert matching != site.get(board).json()["rows"]
    address = f"{link}&minimum=1"
    for row in matching:
        text, page = page_of(site, address)
        assert 'aria-sort="descending"' in text
        body = text.partition("<tbody")[2].partition("</tbody>")[0]
        assert (body.count("<tr"), f">{row['rank']}</td>" in body) == (1, True)
        assert f"{len(matching)} of {len(site.get(board).json()['rows'])} rows" in page.text
        address = [each for each in page.links if "bots?cursor=" in each][-1]
    assert "sort=-matches" in address
    response = site.client.get(f"{link}&minimum=many")
    assert (response.status_code, "minimum: " in response.text) == (422, True)
    response = site.client.get(addresses.board("arena", "bots", sort="height"))
    assert (response.status_code, "no column" in response.text) == (422, True)
    data = site.client.get(f"{addresses.board('arena', 'bots')}.json?sort=-matches&minimum=1")
    assert data.json()["rows"] == matching
    columns = {each["name"]: each for each in site.get(f"{board}/columns").json()["columns"]}
    values = [row["matches"] for row in site.get(board).json()["rows"]]
    assert (columns["matches"]["low"], columns["matches"]["high"]) == (min(values), max(values))


def test_each_bar_of_a_histogram_is_as_long_as_its_number(site: Instance) -> None:
    """Bars that cannot be turned back into data mislead."""
    address = addresses.distribution("community")
    parts = site.get("/contests/community/boards/user-score/distribution").json()["parts"]
    page, markup = page_of(site, address)
    drawn = charts(page)
    assert parts[0]["name"] == "score"
    assert len(drawn) == len(parts) > 2
    for chart, part in zip(drawn, parts, strict=True):
        counts = [each["n"] for each in part["bins"]]
        lengths = [float(bar.attrib["width"]) for bar in chart.iter(f"{SVG}rect")]
        scale = max(lengths) / max(counts)
        assert len(lengths) == len(counts)
        for n, length in zip(counts, lengths, strict=True):
            assert abs(length / scale - n) * scale <= 0.5
        texts = [text.text for text in chart.iter(f"{SVG}text")]
        assert texts[1::2] == [f"{n:,}" for n in counts]
        assert sum(counts) == part["n"]
        assert chart.attrib["width"] == f"{WIDTH:g}"
    assert markup.text.count("As a table") == len(parts)


def test_a_distribution_shows_where_a_participant_is(site: Instance) -> None:
    """Where am I among all?"""
    board = site.get("/contests/community/boards/user-score").json()
    rows, first = board["rows"], board["rows"][0]["id"]
    _, page = page_of(site, addresses.distribution("community", id=first))
    assert f"rank 1 of {len(rows)}" in page.text
    name = board["names"][first]
    assert f"{name} {first} has" in " ".join(page.text.split())
    assert "Has " in page.text
    assert f"· {name if len(name) <= 12 else 'here'}" in page.text
    _, page = page_of(site, addresses.distribution("community", id="unknown"))
    assert "there is no 'unknown' on board" in page.text
    _, page = page_of(site, addresses.distribution("arena", id=HOSTILE))
    assert HOSTILE in page.text


def test_the_shares_of_every_epoch_are_all_of_the_emission(site: Instance) -> None:
    """What is not paid is burned."""
    listed = site.get("/contests/challenge/epochs").json()
    for each in listed["items"]:
        assert (
            abs(sum(each[name] for name in ("paid", "decay", "cap", "unassigned", "own")) - 1)
            < 1e-9
        )
        assert abs(each["paid"] + each["burn"] - 1) < 1e-9
    page, markup = page_of(site, addresses.epochs("challenge"))
    for bar in re.findall(r'<svg class="bar"[^>]*role="img".*?</svg>', page, re.DOTALL):
        ends = [0.0]
        for start, width in re.findall(r' x="([\d.]+)" y="0" width="([\d.]+)"', bar):
            assert abs(float(start) - ends[-1]) < 0.02
            ends.append(float(start) + float(width))
        assert abs(ends[-1] - 100) < 0.02
    numbers = [each["epoch"] for each in listed["items"]]
    assert all(after == before + 1 for before, after in pairwise(numbers))
    assert addresses.epoch("challenge", numbers[-1]) in markup.links


@pytest.mark.exhaustive
def test_an_epoch_has_the_weights_and_the_payload_of_that_epoch(site: Instance) -> None:
    """The payload is what a validator would send."""
    listed = site.get("/contests/challenge/epochs").json()
    board = site.get("/contests/challenge/boards/weights").json()["rows"]
    last = site.get(f"/contests/challenge/epochs/{listed['last']}").json()
    assert [row["weight"] for row in last["weights"]] == [row["weight"] for row in board]
    assert max(last["payload"]["weights"]) == 65535
    for number in (listed["first"], listed["last"]):
        page, _ = page_of(site, addresses.epoch("challenge", number))
        assert "<code>{&#34;uids&#34;:[" in page
    for wrong in (listed["last"] + 1, "x", "9" * 40):
        response = site.client.get(f"{addresses.epochs('challenge')}/{wrong}")
        assert response.status_code == 404
        assert "there is no epoch" in response.text
    assert site.client.get(addresses.epochs("arena")).status_code == 404


def test_pages_of_the_past_stay_the_same_bytes(site: Instance) -> None:
    """What was cited can be looked at later."""
    for contest, address in (
        ("community", addresses.distribution),
        ("challenge", addresses.epochs),
    ):
        seq = site.get(f"/contests/{contest}").json()["seq"]
        pages = [site.client.get(address(contest, as_of=seq)) for _ in range(2)]
        assert pages[0].headers["etag"] == pages[1].headers["etag"]
        assert pages[0].content == pages[1].content


def test_a_waterfall_ends_at_the_score(site: Instance) -> None:
    """The last bar reaches from zero to where the parts end."""
    page, _ = page_of(site, addresses.person("community", first(site), board="user-score"))
    lines = re.findall(r'x="([\d.]+)" y="0" width="([\d.]+)"', page.partition('id="why"')[2])
    *parts, (start, width) = [(float(x), float(length)) for x, length in lines]
    assert start == parts[0][0] == 0
    assert abs(width - max(x + length for x, length in parts)) <= 0.5


def test_numbers_of_a_column_have_equally_many_decimals(site: Instance) -> None:
    """Else digits of different value are below each other."""
    for name in ("user-score", "contributor"):
        page, _ = page_of(site, addresses.board("community", name))
        scores = re.findall(r'<td class="num score">([^<]*)</td>', page)
        assert len({len(text.partition(".")[2]) for text in scores}) == 1
    listed = site.get("/contests/arena/boards/judges").json()["rows"][0]
    heads = re.findall(r'sort=-?(\w+)">', page_of(site, addresses.board("arena", "judges"))[0])
    described = [
        name for name in discipline("arena").traits.columns if name in heads and name in listed
    ]
    assert [name for name in heads if name in described] == described
    assert "Colors of the parts" in page_of(site, addresses.board("community", "user-score"))[0]


def test_problems_of_records_lead_to_their_boards(site: Instance) -> None:
    """A season that was judged elsewhere has no published problem."""
    _, markup = page_of(site, addresses.problems("season"))
    boards = [board["board"] for board in site.get("/contests/season/boards").json()["items"]]
    assert [addresses.board("season", name) for name in boards if ":" in name] == [
        link for link in markup.links if "/boards/" in link
    ]
    titles = [board["title"] for board in site.get("/contests/season/boards").json()["items"]]
    assert titles == ["", *(title_of(site, name) for name in boards if ":" in name)]
    assert any(titles)
    assert all(title in markup.text for title in titles)
    _, markup = page_of(site, addresses.problems("autumn"))
    assert any("/boards/problem" in link for link in markup.links)


def title_of(site: Instance, board: str) -> str:
    """Return the title that the records of the season state for the problem of a board."""
    with site.service.store.read() as session:
        no = session.contests.get("season").no
        entries = session.entries.rows(no, "problems", limit=100)
    rows = (read_line(entry.line).body["row"] for entry in entries)
    title: str = next(row.get("title", "") for row in rows if f"problem:{row['id']}" == board)
    return title


def first(site: Instance) -> str:
    """Return who is first on the board of the community."""
    row: dict[str, str] = site.get("/contests/community/boards/user-score").json()["rows"][0]
    return row["id"]


@pytest.mark.exhaustive
def test_other_rules_are_scored_by_the_same_engine(site: Instance) -> None:
    """A what-if that is computed otherwise would be a promise that no one keeps."""
    url = "/contests/arena/boards/bots"
    before = {row["id"]: row for row in site.get(url).json()["rows"]}
    rules = '{"elo_start":2000}'
    effect = site.get(f"{url}/rules-effect?rules={rules}").json()
    assert effect["rules"]["elo_start"]["right"] == 2000
    assert effect["summary"]["compared"] == len(before)
    for move in effect["moves"]:
        assert move["score_before"] == before[move["id"]]["score"]
        both: Any = site.get(f"{url}/what-if/{_quoted(move['id'])}?rules={rules}").json()
        assert both["before"]["score"] == move["score_before"]
        assert both["after"]["score"] == move["score_after"]
        assert sum(part["points"] for part in both["after"]["parts"]) == pytest.approx(
            move["score_after"]
        )
    assert site.get(f"{url}/rules-effect?rules=[]").status_code == 422
    assert "did you mean" in site.get(f'{url}/rules-effect?rules={{"elo_strat":1}}').text


@pytest.mark.exhaustive
def test_other_counts_are_scored_by_the_formula_of_the_board(site: Instance) -> None:
    """A user asks what three more feedbacks would be worth."""
    board = site.get("/contests/community/boards/user-score").json()["rows"]
    last = board[-1]
    address = addresses.person("community", last["id"], board="user-score")
    url = f"/contests/community/boards/user-score/what-if/{_quoted(last['id'])}"
    page, _ = page_of(site, address)
    fields = dict(re.findall(r'name="count\.([^"]+)" value="([^"]*)"', page))
    more = int(fields["feedback_activity"]) + 3
    counts = f'{{"feedback_activity":{more}}}'
    both = site.get(f"{url}?counts={counts}").json()
    part = next(each for each in both["after"]["parts"] if each["name"] == "feedback_activity")
    worth = part["rules"]["feedback_activity_coefficient"]
    score = both["after"]["score"]
    assert score == pytest.approx(last["score"] + 3 * worth)
    assert both["after"]["rank"] == 1 + sum(row["score"] > score for row in board[:-1])
    text = page_of(site, f"{address}&count.feedback_activity={more}")[1].text
    assert f"{rendering.number_text(score)} instead of" in text
    first = site.get(f'{url}?counts={{"feedback_activity":1000000}}').json()["after"]
    assert first["rank"] == 1
    wrong, markup = page_of(site, f"{address}&count.feedback_activity=many")
    assert "expected a number of feedback_activity, got 'many'" in markup.text
    assert 'value="many"' in wrong
    assert site.get(f"{url}?counts=[]").status_code == 422
    arena = site.get("/contests/arena/boards/bots").json()["rows"][0]["id"]
    other = site.get(f'/contests/arena/boards/bots/what-if/{_quoted(arena)}?counts={{"x":1}}')
    assert (other.status_code, "no score of counts" in other.text) == (422, True)
    assert 'name="count.' not in page_of(site, addresses.person("arena", arena))[0]


def test_rules_without_effect_are_the_last_ones(site: Instance) -> None:
    """Limits that no edition sets are not what a participant looks for first."""
    page, _ = page_of(site, addresses.rules("community"))
    values = re.findall(r"<tr id=.*?</th>\s*<td>([^<]*)", page, re.DOTALL)
    off = [value in {"none", "no", "0"} for value in values]
    assert off == sorted(off)
    assert len(set(off)) == 2


def test_a_list_in_the_rules_is_shown_as_words(site: Instance) -> None:
    """It stood there as Python writes it: ('claude-sonnet-4.5', 'gpt-4o', …)."""
    page, _ = page_of(site, addresses.rules("community"))
    [models] = re.findall(r'<tr id="sota_models">.*?<td>([^<]*)</td>', page, re.DOTALL)
    assert models.split(", ")[:2] == ["claude-sonnet-4.5", "gpt-4o"]


def test_the_rules_are_compared_with_another_edition(site: Instance) -> None:
    """An edition is chosen by what it does."""
    in_force = site.get("/contests/autumn").json()["edition"]
    other = next(name for name in editions("dojo") if not name.endswith(in_force))
    address = f"{addresses.rules('autumn')}?with={other}"
    response = site.client.get(address, headers=site.as_("organiser"))
    markup = Markup(response.text)
    url = f"/contests/autumn/boards/season/rules-effect?edition={other}"
    effect = site.get(url, "organiser").json()
    assert (response.status_code, markup.errors) == (200, [])
    assert f"{len(effect['rules'])} rules differ" in markup.text
    assert response.text.count(f"<small>{other}: ") == len(effect["rules"]) > 0
    assert f"{effect['summary']['moved']:,} would have another rank or score" in markup.text
    page, markup = page_of(site, address)
    assert "do not disclose" in markup.text
    assert page.count(f"<small>{other}: ") == len(effect["rules"])
    assert "Worked examples" in page_of(site, addresses.rules("community"))[1].text
    assert site.client.get(f"{addresses.rules('community')}?with=no").status_code == 404


def test_other_rules_do_not_show_what_verdicts_hide(site: Instance) -> None:
    """Rules that pay for each right term would disclose how many terms are right."""
    response = site.get("/contests/autumn/boards/season/rules-effect")
    assert response.status_code == 409
    assert "do not disclose" in response.json()["detail"]


def _quoted(name: str) -> str:
    return addresses.person("x", name).rpartition("/")[2]


def test_a_season_is_shown_by_participant_and_problem(site: Instance) -> None:
    """As programming contests show it: points, who is right to the end, and who was first."""
    made = site.get("/contests/season/problem-matrix").json()
    board = site.get("/contests/season/boards/season").json()
    assert [row["id"] for row in made["rows"]] == [row["id"] for row in board["rows"]]
    first = [name for row in made["rows"] for name, cell in row["solutions"].items()
             if cell["first"]]  # fmt: skip
    assert sorted(first) == sorted(name for name, count in made["solved_by"].items() if count)
    text, page = page_of(site, addresses.matrix("season"))
    assert text.count("first to solve it") == len(first) > 0
    assert addresses.board("season", f"problem:{made['problems'][0]}") in page.links
    assert addresses.matrix("season") in page_of(site, addresses.contest("season"))[1].links
    part = site.get("/contests/season/problem-matrix?limit=1").json()
    assert part["rows"] == made["rows"][:1]
    later = site.get(f"/contests/season/problem-matrix?cursor={part['next']}").json()
    assert later["rows"][0] == made["rows"][1]
    assert site.get("/contests/community/problem-matrix").status_code == 404


def test_an_epoch_shows_the_columns_of_its_boards_as_boards_do(site: Instance) -> None:
    """Shares are percents, and a column is called the same on both pages."""
    page = site.client.get("/c/challenge/epochs/3").text
    heads = ["Share of stake", "Stake", "Evaluations", "Flagged", "Mean distance"]
    assert "".join(f'<th scope="col" class="num">{head}</th>' for head in heads) in page
    competitions = page.partition('<h2 id="competitions">')[2].partition("</table>")[0]
    assert ">Score<" not in competitions
    assert '<span title="1.0">100 %</span>' in competitions  # its share of the emission
    assert "A new agent with a score of at least" in site.client.get("/c/challenge/epochs").text


HOTKEY = "5F3sa2TJAWMqDhXG6jhV4N8ko9Sx"


@pytest.mark.exhaustive
def test_an_epoch_before_0_has_a_page_and_its_miners_have_their_hotkeys(site: Instance) -> None:
    """Records may number epochs from any number, a text is none; a uid is a seat."""
    sent = {"id": "s", "miner_uid": 1, "submitted_at": "2026-01-01T00:00:00Z"}
    rows = [
        ("submissions", {**sent, "miner_hotkey": HOTKEY}),
        ("registrations", {"uid": 1, "hotkey": HOTKEY, "from_epoch": -5}),
        *[("validators", {"id": f"v{at}", "stake": 1.0, "epoch": -5}) for at in range(3)],
        *[
            ("evaluations",
             {"submission_id": "s", "validator_id": f"v{at}", "score": 0.5, "epoch": -2})
            for at in range(3)
        ],
    ]  # fmt: skip
    create(site.service, NewContest(id="early", discipline="challenge", title="E"), by=ORGANISER)
    open_contest(site.service, "early", by=ORGANISER)
    record(site.service, "early", [(*row, None) for row in rows], by=ORGANISER)
    publish(site.service, "early")
    assert "/c/early/epochs/-2" in site.client.get("/c/early/epochs").text
    page = site.client.get("/c/early/epochs/-2")
    assert (page.status_code, "50 %" in page.text) == (200, True)
    assert "uid 1 · 5F3sa2TJ…" in page.text
    assert f"<code>{HOTKEY}</code>" in site.client.get("/c/early/people/1?board=weights").text
    assert site.client.get("/c/early/epochs/-").status_code == 404
