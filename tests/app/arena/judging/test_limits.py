"""Tests of budget and breaker, with the time as an argument."""

from datetime import UTC, datetime, timedelta

import pytest

from agon.app.arena.judging.limits import (
    CallEnd,
    Outcome,
    Reservation,
    UsageLimits,
    pause_of,
    reserve,
    settle,
)
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import ModelUsage

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
LIMITS = UsageLimits(calls=5, tokens=100, max_failures=3, pause=timedelta(minutes=1))


def begin(usage: ModelUsage, *, tokens: int = 10, at: datetime = NOON) -> ModelUsage:
    """Reserve a call that is expected to be admitted."""
    result = reserve(usage, tokens=tokens, limits=LIMITS, now=at)
    assert not isinstance(result, Fault)
    return result[0]


def end(
    usage: ModelUsage, outcome: Outcome, *, tokens: int | None = 4, at: datetime = NOON
) -> ModelUsage:
    """Settle a call of ten tokens."""
    ended = CallEnd(tokens=tokens, outcome=outcome, cause="status-529")
    return settle(usage, Reservation(usage.day, 10), ended, limits=LIMITS, now=at)


def fault_of(usage: ModelUsage, *, tokens: int = 10, at: datetime = NOON) -> Fault:
    """Return why a call is not admitted."""
    result = reserve(usage, tokens=tokens, limits=LIMITS, now=at)
    assert isinstance(result, Fault)
    return result


def test_the_estimate_counts_until_the_call_ends() -> None:
    """Calls that run at the same time cannot exceed the budget together."""
    usage = ModelUsage(judge="judge")
    for _ in range(2):
        usage = begin(usage, tokens=50)
    assert fault_of(usage, tokens=1).code == "ours-budget"
    ended = CallEnd(tokens=30, outcome="worked")
    usage = settle(usage, Reservation(usage.day, 50), ended, limits=LIMITS, now=NOON)
    assert usage.tokens == 80
    assert begin(usage, tokens=20).tokens == 100
    assert "100 tokens a day" in fault_of(usage, tokens=21).detail


def test_unknown_use_stays_at_the_estimate() -> None:
    """A response that was cut off may have cost everything it could."""
    usage = end(begin(ModelUsage(judge="judge")), "failed", tokens=None)
    assert (usage.calls, usage.tokens) == (1, 10)


def test_calls_are_counted_by_day_in_utc() -> None:
    """The budget begins at midnight; a call of the day before is not given back to it."""
    usage = ModelUsage(judge="judge")
    for _ in range(5):
        usage = begin(usage)
    fault = fault_of(usage)
    assert fault.owner == "ours"
    assert "5 calls a day" in fault.detail
    assert "2026-02-01T00:00:00.000Z" in fault.detail
    assert pause_of(usage, limits=LIMITS, now=NOON) == fault
    midnight = datetime(2026, 2, 1, 2, tzinfo=UTC).astimezone()
    assert pause_of(usage, limits=LIMITS, now=midnight) is None
    late = Reservation(usage.day, 10)
    usage = begin(usage, at=midnight)
    assert (usage.day, usage.calls, usage.tokens) == ("2026-02-01", 1, 10)
    usage = settle(usage, late, CallEnd(tokens=0, outcome="worked"), limits=LIMITS, now=midnight)
    assert usage.tokens == 10


def open_usage() -> ModelUsage:
    """Return the usage after three failures in a row."""
    usage = ModelUsage(judge="judge")
    for number in range(3):
        assert pause_of(usage, limits=LIMITS, now=NOON) is None, number
        usage = end(begin(usage), "failed")
    return usage


def test_three_failures_open_the_breaker_and_one_probe_closes_it() -> None:
    """While an endpoint is down, calls are not tried; after the pause one finds out."""
    usage = open_usage()
    fault = fault_of(usage, at=NOON + timedelta(seconds=59))
    assert (fault.owner, fault.code) == ("transport", "unreachable")
    assert "3 calls in a row failed, the last one with status-529" in fault.detail
    later = NOON + timedelta(minutes=1)
    assert pause_of(usage, limits=LIMITS, now=later) is None
    probing = begin(usage, at=later)
    assert fault_of(probing, at=later).code == "unreachable"  # one probe at a time
    assert pause_of(end(probing, "worked", at=later), limits=LIMITS, now=later) is None
    assert end(probing, "worked", at=later).failures == 0


def test_a_probe_that_fails_or_is_lost_waits_for_another_pause() -> None:
    """A worker that was killed within its probe does not keep the breaker open for ever."""
    later = NOON + timedelta(minutes=1)
    probing = begin(open_usage(), at=later)
    failed = end(probing, "failed", at=later)
    assert pause_of(failed, limits=LIMITS, now=later + timedelta(seconds=59)) is not None
    assert pause_of(failed, limits=LIMITS, now=later + timedelta(minutes=1)) is None
    assert pause_of(probing, limits=LIMITS, now=later + timedelta(minutes=1)) is None


@pytest.mark.parametrize("outcome", ["worked", "unknown"])
def test_what_a_participant_can_cause_never_opens_the_breaker(outcome: Outcome) -> None:
    """An answer that an endpoint does not accept must not stop the matches of all others."""
    usage = ModelUsage(judge="judge")
    for _ in range(2):
        usage = end(begin(usage), "failed")
    for _ in range(3):
        usage = end(begin(usage), outcome)
    assert pause_of(usage, limits=UsageLimits(**{**vars(LIMITS), "calls": 9}), now=NOON) is None
