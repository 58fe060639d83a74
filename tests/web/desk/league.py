"""The contest ``league`` of an organizer who uses the desk, and how its pages are read."""

from web.browser import Browser
from web.markup import Markup

DESK = "/c/league/desk"
BOTS = "id,name\nada,Ada\nbob,Bob\n"
MATCHES = (
    "id,played_at,bot_a,bot_b,kind,winner\n"
    "m1,2026-01-01T00:00:00Z,ada,bob,rated,a\nm2,2026-01-02T00:00:00Z,ada,bob,rated,b\n"
)


def text(browser: Browser, address: str) -> str:
    """Return the text of a page whose HTML is valid."""
    page = Markup(browser.get(address).text)
    assert (page.errors, page.inline) == ([], [])
    return page.text


def upload(
    browser: Browser, table: str, content: str | bytes, *, do: str = "add", desk: str = DESK
) -> str:
    """Upload a file on a desk; return the text of the page that results."""
    response = browser.submit(
        desk, f"{desk}/records", {"table": table, "do": do}, {"file": (f"{table}.csv", content)}
    )
    assert response.status_code in {200, 422}
    page = Markup(response.text)
    assert page.errors == []
    return page.text


def create(browser: Browser) -> None:
    """Create and open a contest."""
    fields = {"id": "league", "title": "The league", "discipline": "arena", "edition": ""}
    assert browser.submit("/desk", "/desk", fields).headers["location"] == DESK
    assert browser.submit(DESK, f"{DESK}/open", {}).headers["location"] == DESK
