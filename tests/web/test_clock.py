"""The clock of a contest is on each of its pages."""

from datetime import UTC, datetime, timedelta

from web.browser import Browser
from web.desk.league import text

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
PAGES = ("", "/rules", "/ledger", "/distribution")


def test_every_page_of_a_contest_says_where_it_is_in_time(browser: Browser) -> None:
    """The deadline stood on no page and passed without a sign."""
    instance = browser.instance
    browser.sign_in("viewer")
    ends = NOW + timedelta(hours=3)
    instance.contest("spring", starts_at=NOW + timedelta(hours=1), ends_at=ends)
    for hours, said in ((0, "Not started: starts"), (2, "Open: ends"), (3, "Ended")):
        instance.service.clock.at = NOW + timedelta(hours=hours)  # type: ignore[attr-defined]
        for page in PAGES:
            assert said in text(browser, f"/c/spring{page}"), page
    assert "Ended" not in text(browser, "/c/spring?as_of=2")
