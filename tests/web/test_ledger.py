"""The page of a contest's ledger: one row for each publication."""

import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from agon.api.models.boards import Snapshot
from agon.web import addresses
from agon.web.pages.ledger import publications
from web.browser import Browser
from web.markup import Markup
from web.test_site import fill


@pytest.mark.exhaustive
def test_the_page_has_one_row_for_each_publication(browser: Browser) -> None:
    """A dojo publishes a board for each problem at once; their rows hid what happened before."""
    fill(browser.instance)
    listed = browser.instance.get("/contests/league/snapshots").json()["items"]
    text = browser.get(addresses.ledger("league")).text
    page = Markup(text)
    assert page.errors == []
    body = text.partition('id="published"')[2].partition("<tbody>")[2]
    found = re.findall(r"<summary>(\d+) boards?</summary>", body)
    boards = Counter(each["seq"] for each in listed)
    assert [int(count) for count in found] == [boards[seq] for seq in sorted(boards, reverse=True)]
    assert max(boards.values()) > 1
    links = {addresses.board("league", each["board"], as_of=each["seq"]) for each in listed}
    assert links <= set(page.links)


def test_a_board_published_again_at_a_position_counts_once() -> None:
    """Rows that were rebuilt are no publication of their own."""
    listed = [
        Snapshot.model_construct(
            seq=seq, board=board, published_at=datetime(2026, 1, day, tzinfo=UTC)
        )
        for seq, board, day in ((3, "bots", 9), (5, "bots", 5), (3, "judges", 3), (3, "bots", 2))
    ]
    found = publications(listed)
    assert [(each.seq, each.at.day, [one.board for one in each.snapshots]) for each in found] == [
        (5, 5, ["bots"]), (3, 2, ["bots", "judges"]),
    ]  # fmt: skip
