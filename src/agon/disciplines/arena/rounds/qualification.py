"""Decide whether a bot qualifies: a judge must pick its answer over a human's."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from agon.disciplines.arena.rounds.draws import uniform

HUMAN, BOT = "human", "bot"


class QualificationOutcome(StrEnum):
    """The result of an attempt; a failed judge call is never decided at random."""

    QUALIFIED = "qualified"
    NOT_QUALIFIED = "not qualified"
    TRY_AGAIN = "try again"


@dataclass(frozen=True)
class Attempt:
    """One attempt of a bot and how it ended."""

    at: datetime
    outcome: QualificationOutcome


def next_attempt_at(attempts: Iterable[Attempt], *, interval_minutes: int) -> datetime | None:
    """Return from when a bot may try again; None when it has not tried yet.

    Attempts whose judge call failed do not count.

    Source: spec arena, Qualification ("one attempt per hour").

    Example:
        >>> tried = Attempt(datetime(2026, 1, 1, 12, 0), QualificationOutcome.NOT_QUALIFIED)
        >>> next_attempt_at([tried], interval_minutes=60).isoformat()
        '2026-01-01T13:00:00'
    """
    judged = [
        attempt.at for attempt in attempts if attempt.outcome is not QualificationOutcome.TRY_AGAIN
    ]
    return max(judged) + timedelta(minutes=interval_minutes) if judged else None


def shown_first(seed: str, attempt: str) -> str:
    """Draw whose answer the judge sees as A: ``human`` or ``bot``, even odds."""
    return HUMAN if uniform(seed, attempt, "qualification") < 0.5 else BOT  # noqa: PLR2004 - even


def outcome_of(picked: str | None, *, first: str) -> QualificationOutcome:
    """Return how an attempt ended.

    Args:
        picked: the label the judge found more human, ``A`` or ``B``; None when its call failed.
        first: whose answer was shown as A, ``human`` or ``bot``.

    Raises:
        ValueError: when the label is not A or B, or ``first`` is not ``human`` or ``bot``.

    Source: document 003, 5. The Complete Flow, Qualification.

    Example:
        >>> outcome_of("A", first="bot"), outcome_of("A", first="human"), outcome_of(None, first="bot")
        (<QualificationOutcome.QUALIFIED: 'qualified'>, <QualificationOutcome.NOT_QUALIFIED: 'not qualified'>, <QualificationOutcome.TRY_AGAIN: 'try again'>)
    """  # noqa: E501 - the example's output is one line
    if first not in {HUMAN, BOT}:
        raise ValueError(f"expected {HUMAN} or {BOT} first, got {first!r}")
    if picked is None:
        return QualificationOutcome.TRY_AGAIN
    if picked not in {"A", "B"}:
        raise ValueError(f"the judge picked {picked!r}: expected A or B")
    bot_label = "A" if first == BOT else "B"
    return (
        QualificationOutcome.QUALIFIED
        if picked == bot_label
        else QualificationOutcome.NOT_QUALIFIED
    )
