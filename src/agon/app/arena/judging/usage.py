"""Count the use of a model judge, shared by all processes through the database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agon.app.arena.judging.limits import (
    CallEnd,
    Reservation,
    UsageLimits,
    pause_of,
    reserve,
    settle,
)
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.judging import JudgeCount, ModelUsage

if TYPE_CHECKING:
    from agon.store.session import Store


class UsageMeter(Protocol):
    """Admits the calls of a model judge and counts what they use."""

    def pause(self) -> Fault | None:
        """Return why no call may begin now; None if one may."""

    def reserve(self, tokens: int) -> Reservation | Fault:
        """Take a call and the most tokens it can use out of the budget, or return why not."""

    def settle(self, reservation: Reservation, end: CallEnd) -> None:
        """Count what a call did use, and what it says about its endpoint."""


@dataclass(frozen=True, kw_only=True)
class StoredUsage:
    """A meter in the database: exact for all threads and processes together.

    Attributes:
        store: the database.
        judge: the name under which usage is counted.
        limits: the limits.
        clock: returns the time.
    """

    store: "Store"
    judge: str
    limits: UsageLimits
    clock: Callable[[], datetime]

    def pause(self) -> Fault | None:
        """Return why no call may begin now; None if one may."""
        with self.store.read() as session:
            usage = session.judging.usage(self.judge)
        return pause_of(usage, limits=self.limits, now=self.clock())

    def reserve(self, tokens: int) -> Reservation | Fault:
        """Take a call and the most tokens it can use out of the budget, or return why not."""
        with self.store.write() as session:
            before = session.judging.lock_usage(self.judge)
            result = reserve(before, tokens=tokens, limits=self.limits, now=self.clock())
            if isinstance(result, Fault):
                return result
            usage, reservation = result
            session.judging.save_usage(usage)
            return reservation

    def settle(self, reservation: Reservation, end: CallEnd) -> None:
        """Count what a call did use, and what it says about its endpoint."""
        with self.store.write() as session:
            usage = settle(
                session.judging.lock_usage(self.judge),
                reservation,
                end,
                limits=self.limits,
                now=self.clock(),
            )
            session.judging.save_usage(usage)


def store_counts(store: "Store", counts: Sequence[JudgeCount]) -> None:
    """Add counts to those of the judges' measurements."""
    with store.write() as session:
        for count in counts:
            session.judging.add_count(
                count.judge, count.measure, successes=count.successes, trials=count.trials
            )


def store_failure(store: "Store", judge: str, clock: Callable[[], datetime], fault: Fault) -> None:
    """Count a failed call of a judge, with what it was."""
    with store.write() as session:
        session.judging.add_failure(judge, fault.code, detail=fault.detail, at=clock())


class LocalUsage:
    """A meter of one process, for judges outside the service; use by one thread at a time."""

    def __init__(self, *, limits: UsageLimits, clock: Callable[[], datetime]) -> None:
        self.usage = ModelUsage(judge="")
        self._limits = limits
        self._clock = clock

    def pause(self) -> Fault | None:
        """Return why no call may begin now; None if one may."""
        return pause_of(self.usage, limits=self._limits, now=self._clock())

    def reserve(self, tokens: int) -> Reservation | Fault:
        """Take a call and the most tokens it can use out of the budget, or return why not."""
        result = reserve(self.usage, tokens=tokens, limits=self._limits, now=self._clock())
        if isinstance(result, Fault):
            return result
        self.usage, reservation = result
        return reservation

    def settle(self, reservation: Reservation, end: CallEnd) -> None:
        """Count what a call did use, and what it says about its endpoint."""
        self.usage = settle(self.usage, reservation, end, limits=self._limits, now=self._clock())
