"""The page on webhooks agrees with the code."""

from datetime import UTC, datetime
from pathlib import Path

from agon.app.webhooks.delivery import WAITS
from agon.app.webhooks.signatures import TOLERANCE, signed_headers
from agon.runners.webhooks import MAX_RESPONSE_BYTES, SECONDS
from agon.settings import SETTINGS

PAGE = (Path(__file__).parents[2] / "docs" / "methods" / "webhooks.md").read_text()
TEXT = " ".join(PAGE.split())


def test_the_documented_retry_delays_are_those_of_the_code() -> None:
    """Operators of receivers plan maintenance with them."""
    units = {"s": 1, "min": 60, "h": 3600}
    listed = (
        TEXT.split("The waits between attempts are ")[1]
        .split(". After")[0]
        .replace(" and ", ", ")
        .split(", ")
    )
    waits = [int(wait.split()[0]) * units[wait.split()[1]] for wait in listed]
    assert waits == [wait.total_seconds() for wait in WAITS]


def test_the_documented_headers_and_limits_are_those_of_the_code() -> None:
    """Developers write receivers from this page alone."""
    at = datetime(2026, 11, 22, tzinfo=UTC)
    for name in signed_headers(b"s" * 32, id="d", at=at, body=b""):
        assert f"| `{name}` |" in PAGE
    assert TOLERANCE.total_seconds() == 300
    assert "differ by more than five minutes" in TEXT
    assert f"{SECONDS:g} s in total" in TEXT
    assert f"first {MAX_RESPONSE_BYTES >> 10} KiB" in TEXT
    assert "webhook_allow_private" in SETTINGS
