"""One text form of a time for tables, ledgers, boards and responses."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.kernel.times import from_micros, parse_time, read_time, to_micros, written_time
from agon.ledger.entry import timestamp
from agon.ledger.keys import record_key
from agon.ledger.kinds import is_timestamp
from agon.records import Column, Kind, Table

ZONES = st.sampled_from([UTC, *(timezone(timedelta(minutes=m)) for m in (-720, -90, 330, 840))])
COUNTS = st.integers(-62_135_510_400_000_000, 253_402_214_400_000_000)  # years 1 to 9999
MOMENTS = st.builds(lambda count, zone: from_micros(count).astimezone(zone), COUNTS, ZONES)
TIMES = Table("times", (Column("at", Kind.TIMESTAMP),), key=("at",))


@given(MOMENTS)
def test_a_time_has_one_text_form(time: datetime) -> None:
    """The texts of one time in a ledger, a record's key and a response must be equal."""
    text = written_time(time)
    assert timestamp(time) == text
    assert record_key(TIMES, {"at": time.isoformat()}) == f"times/{text}"
    assert record_key(TIMES, {"at": time}) == f"times/{text}"
    assert is_timestamp(text)


@given(MOMENTS)
def test_what_was_written_is_read_again(time: datetime) -> None:
    """Nothing is lost, and every reader gives the same time."""
    assert read_time(written_time(time)) == time
    assert read_time(time.isoformat()) == time == parse_time(time.isoformat())
    assert from_micros(to_micros(time)) == time


@given(MOMENTS, MOMENTS)
def test_texts_sort_as_their_moments(one: datetime, other: datetime) -> None:
    """Ledgers compare lines' times as bytes, without reading them."""
    assert (written_time(one) < written_time(other)) == (one < other)


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2026, 11, 22, 2, 30, tzinfo=UTC), "2026-11-22T02:30:00.000000Z"),
        (datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=timezone(timedelta(hours=2))),
         "2025-12-31T22:00:00.000001Z"),
        (datetime(999, 1, 1, tzinfo=UTC), "0999-01-01T00:00:00.000000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)  # fmt: skip
def test_the_form_is_always_27_characters(time: datetime, text: str) -> None:
    """Whole seconds and years below 1000 too, or texts would not sort."""
    assert written_time(time) == text
    assert len(text) == 27


def test_milliseconds_are_cut_off_not_rounded() -> None:
    """A run must not seem to have ended after what came next began."""
    almost = datetime(2026, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC)
    assert written_time(almost, to="milliseconds") == "2026-01-01T00:00:00.999Z"


def test_a_time_without_a_zone_is_read_as_utc_and_never_written() -> None:
    """Text from tables often lacks a zone; a value of ours that does is a mistake."""
    assert read_time(" 2026-11-21 ") == datetime(2026, 11, 21, tzinfo=UTC)
    with pytest.raises(ValueError, match="has no zone; give a time with one"):
        written_time(datetime(2026, 11, 21))  # noqa: DTZ001 - a time without a zone is the point


def test_text_that_is_no_time_is_rejected() -> None:
    """So are times that lie outside the calendar in UTC."""
    with pytest.raises(ValueError, match="nonsense"):
        read_time("nonsense")
    with pytest.raises(OverflowError):
        read_time("0001-01-01T00:00:00+01:00")
