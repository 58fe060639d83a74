"""The columns of a board's page that a visitor chose."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle import creation, transitions
from agon.web import addresses
from fakes.instance import Instance
from fakes.service import ORGANISER
from web.markup import Markup


def page_of(site: Instance, address: str) -> tuple[str, list[str], Markup]:
    """Return a page that is valid, and the headings of its board."""
    response = site.client.get(address)
    page = Markup(response.text)
    assert (response.status_code, page.errors, page.inline) == (200, [], []), address
    table = response.text.partition('<table class="board">')[2].partition("</table>")[0]
    cells = [len(re.findall(r"<t[dh]", row)) for row in table.split("<tr")[1:]]
    assert len(set(cells)) == 1, (address, cells)
    heads = [
        re.sub(r"<[^>]*>|&nbsp;.", "", text)
        for text in re.findall(r"<th scope=.col.*?</th>", table)
    ]
    return response.text, [head.split(" (")[0].strip(" ?↓↑") for head in heads], page


def boxes(text: str) -> dict[str, bool]:
    """Return the checkboxes of the form: column → whether it is checked."""
    found = re.findall(r'<input type="checkbox" name="columns" value="([^"]*)"( checked)?>', text)
    return {name: bool(checked) for name, checked in found}


def boards(site: Instance) -> Iterator[tuple[str, str]]:
    """Return a board with rows of every kind that each contest has."""
    for contest in ("community", "challenge", "autumn", "season", "arena"):
        listed = site.get(f"/contests/{contest}/boards").json()["items"]
        names = [board["board"] for board in listed if board["rows_total"]]
        for name in {name.partition(":")[0]: name for name in names}.values():
            yield contest, name


@pytest.mark.exhaustive
def test_each_column_of_each_board_is_shown_alone_and_left_out(site: Instance) -> None:
    """What the form of a page offers is what its address can name, on every board."""
    for contest, board in boards(site):
        address = addresses.board(contest, board)
        text, usual, _ = page_of(site, address)
        offered = boxes(text)
        assert offered, address
        shown = [name for name, is_shown in offered.items() if is_shown]
        assert len(usual) == len(shown) + 3, (address, usual, shown)
        _, heads, _ = page_of(site, f"{address}?columns=score")
        assert heads == ["Rank", "Name", "Score"]
        for name in offered:
            text, heads, _ = page_of(site, f"{address}?columns={quote(name)}")
            assert (len(heads), boxes(text)) == (4, {each: each == name for each in offered})
        every = "&".join(f"columns={quote(name)}" for name in ("score", *offered))
        text, heads, _ = page_of(site, f"{address}?{every}")
        assert (len(heads), len(text.encode()) <= 60_000) == (len(offered) + 3, True)


@pytest.mark.exhaustive
def test_a_page_shows_details_only_if_they_are_chosen(site: Instance) -> None:
    """At 1280 pixels the votes that a rank needs were cut off by the limits of the gap."""
    creation.create(
        site.service, creation.NewContest(id="cup", discipline="arena", title="Cup"), by=ORGANISER
    )
    transitions.open_contest(site.service, "cup", by=ORGANISER)
    matches = [
        ("matches", {"id": f"m{at}", "played_at": "2026-01-01T00:00:00Z", "kind": "rated",
                     "bot_a": first, "bot_b": second, "winner": "a"}, f"m{at}")
        for at, (first, second) in enumerate(map(tuple, ("ab", "bc", "ca", "ab", "bc", "ac")))
    ]  # fmt: skip
    bots = [("bots", {"id": name, "name": name}, name) for name in "abc"]
    record(site.service, "cup", [*bots, *matches], by=ORGANISER)
    publish(site.service, "cup")
    address = addresses.board("cup", "bradley-terry")
    text, heads, _ = page_of(site, address)
    details = {"gap", "gap_low", "gap_high", "apart"}
    assert {name for name, is_shown in boxes(text).items() if not is_shown} == details
    assert "Votes needed" in heads
    assert not {"Gap", "Gap low", "Gap high", "Apart"} & {*heads}
    assert page_of(site, f"{address}?columns=gap&columns=apart")[1][3:] == ["Gap", "Apart"]
    assert details <= site.get("/contests/cup/boards/bradley-terry").json()["rows"][0].keys()


def test_links_and_forms_keep_the_columns(site: Instance) -> None:
    """Who chose columns would choose them again on every page otherwise."""
    board = addresses.board("arena", "bots")
    text, _, page = page_of(site, f"{board}?columns=score&columns=matches&sort=-matches&limit=1")
    usual = f"{board}?sort=-matches&limit=1"
    links = [link for link in page.links if link.startswith(f"{board}?") and link != usual]
    assert len(links) > 4  # headings, the order of ranks, pages
    assert all("columns=score%2Cmatches" in link for link in links)
    assert text.count('<input type="hidden" name="columns" value="score,matches">') == 2
    for kept in ('name="sort" value="-matches"', 'name="limit" value="1"'):
        assert f'<input type="hidden" {kept}>' in text
    following = next(link for link in page.links if "cursor=" in link)
    assert page_of(site, following)[1] == ["Rank", "Name", "Score", "Matches"]
    assert usual in page.links


def test_a_part_of_the_score_is_a_column_of_numbers(site: Instance) -> None:
    """Bars say which part is larger, not by how much."""
    rows = site.get("/contests/community/boards/user-score").json()["rows"]
    part = max(rows[0]["components"], key=rows[0]["components"].get)
    text, heads, _ = page_of(
        site, addresses.board("community", "user-score", columns=f"components.{part}")
    )
    assert heads[-1].startswith("Part: ")
    body = text.partition('<tbody id="rows"')[2].partition("</tbody>")[0]
    cells = re.findall(r'<td class="num">([^<]*)</td></tr>', body)
    assert [float(cell.replace(",", "")) for cell in cells] == pytest.approx(
        [row["components"][part] for row in rows], abs=0.06
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("asked", "unknown", "columns"),
    [
        ("height", ["height"], None),
        ("matches,height", ["height"], 4),
        ("<i>,matches", ["<i>"], 4),
        ("Matches", ["Matches"], None),
        ("components", ["components"], None),
        (",".join(f"x{n}" for n in range(900)), ["x0", "x1", "x2"], None),
        (" matches , ,matches", [], 4),
        (",,", [], None),
        ("rank,id", [], 3),
    ],
)
def test_an_unknown_column_is_named_and_left_out(
    site: Instance, asked: str, unknown: list[str], columns: int | None
) -> None:
    """A link of another board, or one with a slip, still shows the board."""
    usual = page_of(site, addresses.board("arena", "bots"))[1]
    text, heads, page = page_of(site, f"{addresses.board('arena', 'bots')}?columns={quote(asked)}")
    assert len(heads) == (columns or len(usual))
    for name in unknown:
        assert name in page.text
        kept = [link for link in page.links if link.startswith("/c/arena/boards/bots?")]
        assert all(quote(name, safe="") not in link for link in kept)
    assert ("This board has no column" in page.text) == bool(unknown)
    assert len(text.encode()) <= 60_000


def test_a_column_that_only_other_pages_of_a_board_have_is_not_unknown(site: Instance) -> None:
    """A sorted board has no movement; a search without a result has no rows."""
    for query in ({"sort": "-score"}, {"q": "zz"}):
        address = addresses.board("arena", "bots", columns="moved,matches", **query)
        response = site.client.get(address)
        assert (response.status_code, "has no column" in response.text) == (200, False)


def test_downloads_have_all_columns_and_the_page_says_so(site: Instance) -> None:
    """Who downloads what is shown would miss columns without notice."""
    board = addresses.board("arena", "bots")
    _, _, page = page_of(site, f"{board}?columns=score")
    assert "downloads have all of them" in page.text
    assert (
        site.client.get(f"{board}.json?columns=score").json()
        == site.get("/contests/arena/boards/bots").json()
    )
