"""Contests and rows of boards are filtered by several values, in the API and on pages."""

from html import unescape
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle.transitions import freeze
from fakes.autumn import autumn
from fakes.service import ORGANISER
from fakes.spring import play, spring, view
from web.browser import Browser
from web.markup import Markup

BOARD = "/contests/spring/boards/bots"


@pytest.mark.exhaustive
def test_contests_are_listed_by_several_states_and_disciplines(browser: Browser) -> None:
    """A parameter repeats or has commas; a word that is no state is named."""
    instance = browser.instance
    autumn(instance.service)
    instance.contest("winter")
    instance.contest("summer")
    freeze(instance.service, "winter", by=ORGANISER)

    def listed(query: str) -> list[str]:
        found: Any = instance.get(f"/contests?{query}&limit=2").json()["items"]
        return [each["id"] for each in found]

    assert listed("state=frozen") == ["winter"]
    assert listed("state=open,frozen") == ["autumn", "summer"]
    assert listed("state=open&state=frozen&discipline=community") == ["summer", "winter"]
    assert listed("discipline=dojo,arena") == ["autumn"]
    assert listed("state=final") == []
    assert instance.get("/contests?state=frosen").status_code == 422

    page = browser.get("/?state=open,frozen&discipline=community")
    assert Markup(page.text).errors == []
    assert "/c/summer" in page.text
    assert "/c/winter" in page.text
    assert "/c/autumn" not in page.text
    assert 'value="frozen" checked' in page.text
    assert "No contest that you may see is one of these." in browser.get("/?state=final").text
    refused = browser.get("/?state=frosen")
    assert refused.status_code == 422
    assert "there is no 'frosen'; did you mean frozen?" in unescape(refused.text)


def test_rows_of_a_board_are_filtered_by_several_values(browser: Browser) -> None:
    """The page offers the values of columns that have few, and its links keep the chosen ones."""
    instance = browser.instance
    spring(instance.service)
    play(instance.service, 9, 30)
    publish(instance.service, "spring")
    assert view(instance.service, LOCAL).contest.id == "spring"
    columns: Any = instance.get(f"{BOARD}/columns").json()["columns"]
    [matches] = [column for column in columns if column["name"] == "matches"]
    first, second = matches["values"][:2]
    rows: Any = instance.get(BOARD).json()["rows"]
    wanted = {row["id"] for row in rows if str(row["matches"]) in (first, second)}
    assert 1 < len(wanted) < len(rows)
    found: Any = instance.get(f"{BOARD}?sort=-matches&values={first},{second}").json()
    assert {row["id"] for row in found["rows"]} == wanted

    page = browser.get(
        f"/c/spring/boards/bots?sort=-matches&values={first}&values={second}&limit=1"
    )
    assert Markup(page.text).errors == []
    assert f"of {len(rows)} rows with" in page.text
    assert f"{first}%2C{second}" in page.text, "the next page keeps the values"
    assert f'name="only" value="matches:{first}" checked' in page.text
    boxes = f"only=matches:{first}&only=matches:{second}&limit=1"
    sent = browser.get(f"/c/spring/boards/bots?{boxes}").text
    assert (
        sent.partition("<main")[2].partition("</main>")[0]
        == (page.text.partition("<main")[2].partition("</main>")[0])
    )
    mixed = browser.get(f"/c/spring/boards/bots?only=matches:{first}&only=wins:1")
    assert "only: values of matches and wins; choose those of one column" in unescape(mixed.text)
    refused = browser.get("/c/spring/boards/bots?sort=-matches&values=many")
    assert refused.status_code == 422
    assert "the column matches has numbers, got 'many'" in unescape(refused.text)
    assert browser.get("/c/spring/boards/bots?values=1").status_code == 422
