"""Limit the use of a model: a budget per day, and a breaker for an endpoint that is down.

The breaker is *closed* while calls succeed. After ``max_failures`` failures in a row it is *open*:
no call is made. After ``pause`` it is *half open*: one call, the probe, finds out whether the
endpoint works again; its success closes the breaker, its failure opens it for another pause.

A call takes its number and the most tokens it can use out of the budget before it begins, so that
concurrent calls cannot exceed the budget together; when it ends, the tokens it did use replace the
estimate. If the process ends in between, the estimate stays counted.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Literal

from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import ModelUsage
from agon.kernel.times import written_time

Outcome = Literal["worked", "failed", "unknown"]
"""What a call says about its endpoint; ``unknown``: it did not accept this request."""


@dataclass(frozen=True, kw_only=True)
class UsageLimits:
    """The limits of a model judge.

    Attributes:
        calls: maximum number of calls a day (UTC).
        tokens: maximum number of tokens a day.
        max_failures: failures in a row after which the breaker opens.
        pause: how long the breaker stays open, and how long a probe is awaited.
    """

    calls: int
    tokens: int
    max_failures: int
    pause: timedelta


@dataclass(frozen=True)
class Reservation:
    """What a call takes out of the budget of a day before it begins."""

    day: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class CallEnd:
    """How a call ended, as far as its budget and its endpoint are concerned.

    Attributes:
        tokens: the tokens that it used; None if that is unknown: the estimate stays.
        outcome: what the call says about its endpoint.
        cause: the failure; empty: there is none.
    """

    tokens: int | None
    outcome: Outcome
    cause: str = ""


def pause_of(usage: ModelUsage, *, limits: UsageLimits, now: datetime) -> Fault | None:
    """Return why no call may begin now; None if one may.

    Example:
        >>> limits = UsageLimits(calls=1, tokens=9, max_failures=3, pause=timedelta(minutes=1))
        >>> used = ModelUsage(judge="judge", day="2026-01-31", calls=1)
        >>> pause_of(used, limits=limits, now=datetime(2026, 1, 31, 12, tzinfo=UTC)).detail
        'the budget of 1 calls a day is used up; calls continue at 2026-02-01T00:00:00.000Z'
    """
    return _breaker(usage, now) or _budget(_of_day(usage, now), tokens=1, limits=limits, now=now)


def reserve(
    usage: ModelUsage, *, tokens: int, limits: UsageLimits, now: datetime
) -> tuple[ModelUsage, Reservation] | Fault:
    """Return the usage with one more call, or why the call may not begin.

    Args:
        usage: the usage before.
        tokens: the most tokens that the call can use.
        limits: the limits.
        now: the time.
    """
    today = _of_day(usage, now)
    fault = _breaker(usage, now) or _budget(today, tokens=tokens, limits=limits, now=now)
    if fault is not None:
        return fault
    # A probe closes the breaker to other calls until its end, or until it is no longer awaited.
    resumes_at = None if usage.resumes_at is None else now + limits.pause
    reserved = replace(
        today, calls=today.calls + 1, tokens=today.tokens + tokens, resumes_at=resumes_at
    )
    return reserved, Reservation(today.day, tokens)


def settle(
    usage: ModelUsage,
    reservation: Reservation,
    end: CallEnd,
    *,
    limits: UsageLimits,
    now: datetime,
) -> ModelUsage:
    """Return the usage after a call has ended.

    Args:
        usage: the usage before.
        reservation: what the call took.
        end: how it ended.
        limits: the limits.
        now: the time.
    """
    if end.tokens is not None and usage.day == reservation.day:
        usage = replace(usage, tokens=max(0, usage.tokens - reservation.tokens + end.tokens))
    if end.outcome == "worked":
        return replace(usage, failures=0, resumes_at=None, cause="")
    if end.outcome == "unknown":  # it answered: another probe may begin
        return usage if usage.resumes_at is None else replace(usage, resumes_at=now)
    failures = usage.failures + 1
    opens = usage.resumes_at is not None or failures >= limits.max_failures
    resumes_at = now + limits.pause if opens else None
    return replace(usage, failures=failures, resumes_at=resumes_at, cause=end.cause)


def _of_day(usage: ModelUsage, now: datetime) -> ModelUsage:
    """Return the usage on the day of a time; a new day begins with nothing used."""
    day = now.astimezone(UTC).date().isoformat()
    return usage if usage.day == day else replace(usage, day=day, calls=0, tokens=0)


def _breaker(usage: ModelUsage, now: datetime) -> Fault | None:
    if usage.resumes_at is None or now >= usage.resumes_at:
        return None
    detail = f"{usage.failures} calls in a row failed, the last one with {usage.cause}"
    return Fault("transport", "unreachable", f"{detail}; calls continue at {_at(usage.resumes_at)}")


def _budget(today: ModelUsage, *, tokens: int, limits: UsageLimits, now: datetime) -> Fault | None:
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    for used, limit, unit in (
        (today.calls + 1, limits.calls, "calls"),
        (today.tokens + tokens, limits.tokens, "tokens"),
    ):
        if used > limit:
            detail = f"the budget of {limit:,} {unit} a day is used up"
            return Fault("ours", "ours-budget", f"{detail}; calls continue at {_at(midnight)}")
    return None


def _at(at: datetime) -> str:
    return written_time(at, to="milliseconds")
