"""Test scoring: sources, times, provenance, and errors that name the remedy."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agon
from agon.errors import Conflict, InvalidRule, NotFound, Unreadable
from agon.kernel.times import parse_time
from cli.command import arena_folder
from sizes import size


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Return the folder of a small arena."""
    return arena_folder(tmp_path / "arena")


@pytest.mark.exhaustive
def test_a_source_of_records_is_scored(arena: Path) -> None:
    """One call gives the board of a folder."""
    read = agon.read_records("arena", arena)
    assert agon.score("arena", read).to_dict() == agon.score("arena", str(arena)).to_dict()


@pytest.mark.exhaustive
def test_the_fingerprint_depends_on_rules_records_and_time(arena: Path) -> None:
    """Equal inputs give equal fingerprints, different ones different ones."""
    result = agon.score("arena", arena)
    assert agon.score("arena", arena).fingerprint == result.fingerprint
    assert agon.score("arena", arena, overrides={"k_new": 8}).fingerprint != result.fingerprint
    assert agon.score("arena", arena, as_of="2026-01-02").fingerprint != result.fingerprint


@pytest.mark.exhaustive
def test_as_of_may_be_text_or_a_time(arena: Path) -> None:
    """ISO 8601 with a zone, without one (UTC), or a datetime."""
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    results = [
        agon.score("arena", arena, as_of=time).to_dict()
        for time in ("2026-01-02T12:00:00Z", "2026-01-02 12:00", "2026-01-02T14:00+02:00", noon)
    ]
    assert all(result == results[0] for result in results)
    assert results[0]["as_of"] == "2026-01-02T12:00:00+00:00"


@settings(max_examples=size(50), deadline=None)
@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001 (zones are added)
    st.integers(-14 * 60, 14 * 60),
)
def test_a_time_is_the_same_in_every_zone(time: datetime, minutes: int) -> None:
    """The local time does not matter."""
    there = time.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert parse_time(there.isoformat()) == time.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "1e9", "0001-01-01T00:00:00+14:00"])
def test_an_invalid_time_is_rejected(text: str) -> None:
    """The error has a valid example, or the years that are supported."""
    with pytest.raises(Unreadable, match=r"ISO 8601|years 1 to 9999"):
        parse_time(text)


def test_records_of_another_discipline_are_a_conflict(arena: Path) -> None:
    """They would have none of the tables."""
    with pytest.raises(Conflict, match="expected records of dojo, got records of arena"):
        agon.score("dojo", agon.read_records("arena", arena))


def test_a_misspelt_rule_is_reported_before_records_are_read() -> None:
    """A typing error must not cost the time of reading."""
    with pytest.raises(InvalidRule, match="did you mean k_new"):
        agon.score("arena", "nowhere", overrides={"k_nwe": 1})
    with pytest.raises(NotFound, match="nowhere"):
        agon.score("arena", "nowhere")


def test_all_invalid_rules_are_reported_at_once() -> None:
    """The user corrects them in one go."""
    with pytest.raises(InvalidRule) as error:
        agon.score(
            "arena", "nowhere", overrides={"k_nwe": 1, "k_new": -1, "games_established": "x"}
        )
    assert all(name in str(error.value) for name in ("k_nwe", "k_new", "games_established"))
