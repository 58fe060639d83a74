"""Scoring as a use case: sources, times, provenance, and refusals that name the remedy."""

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
    """Hold a small arena."""
    return arena_folder(tmp_path / "arena")


def test_records_may_be_given_as_their_source(arena: Path) -> None:
    """One line from a folder to a board."""
    read = agon.read_records("arena", arena)
    assert agon.score("arena", read).to_dict() == agon.score("arena", str(arena)).to_dict()


def test_a_result_hashes_what_it_rests_on(arena: Path) -> None:
    """Other rules or other records, another fingerprint; the same, the same."""
    one = agon.score("arena", arena)
    assert agon.score("arena", arena).fingerprint == one.fingerprint
    assert agon.score("arena", arena, overrides={"k_new": 8}).fingerprint != one.fingerprint
    assert agon.score("arena", arena, as_of="2026-01-02").fingerprint != one.fingerprint


def test_as_of_text_and_time_are_one(arena: Path) -> None:
    """ISO 8601 with a zone, without one (UTC), or a datetime."""
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)
    results = [
        agon.score("arena", arena, as_of=moment).to_dict()
        for moment in ("2026-01-02T12:00:00Z", "2026-01-02 12:00", "2026-01-02T14:00+02:00", noon)
    ]
    assert all(result == results[0] for result in results)
    assert results[0]["as_of"] == "2026-01-02T12:00:00+00:00"


@settings(max_examples=size(50), deadline=None)
@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001 (zones are added)
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_is_the_same_in_every_zone(moment: datetime, minutes: int) -> None:
    """What the clock on the wall says does not matter."""
    there = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert parse_time(there.isoformat()) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "1e9", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With an example of what would be right, or the years there are."""
    with pytest.raises(Unreadable, match=r"ISO 8601|years 1 to 9999"):
        parse_time(text)


def test_records_of_another_discipline_are_a_conflict(arena: Path) -> None:
    """They would have none of the tables."""
    with pytest.raises(Conflict, match="expected records of dojo, got records of arena"):
        agon.score("dojo", agon.read_records("arena", arena))


def test_a_misspelt_rule_is_told_before_anything_is_read() -> None:
    """A long reading is not wasted on a typing error."""
    with pytest.raises(InvalidRule, match="did you mean k_new"):
        agon.score("arena", "nowhere", overrides={"k_nwe": 1})
    with pytest.raises(NotFound, match="nowhere"):
        agon.score("arena", "nowhere")


def test_all_wrong_rules_are_told_at_once() -> None:
    """Not one after the other."""
    with pytest.raises(InvalidRule) as refused:
        agon.score(
            "arena", "nowhere", overrides={"k_nwe": 1, "k_new": -1, "games_established": "x"}
        )
    assert all(name in str(refused.value) for name in ("k_nwe", "k_new", "games_established"))
