"""What the service stores about the use of model judges."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """What a model judge has used on a day, and whether its endpoint works.

    Attributes:
        judge: ``judge`` or ``audit``, as in the settings.
        day: the day in UTC that calls and tokens are counted for, ``2026-01-31``.
        calls: number of calls.
        tokens: number of tokens; for a call that has not ended, the most it can use.
        failures: failed calls since the last one that succeeded.
        resumes_at: when calls continue; None: now.
        cause: the last failure.
    """

    judge: str
    day: str = ""
    calls: int = 0
    tokens: int = 0
    failures: int = 0
    resumes_at: datetime | None = None
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class JudgeFailure:
    """How often calls of a model judge failed for a reason.

    Attributes:
        judge: the judge's name in records.
        code: the reason, such as ``invalid`` or ``status-400``.
        calls: number of calls.
        detail: what the last of them was, with how the response began.
        last_at: the time of the last one.
    """

    judge: str
    code: str
    calls: int
    detail: str
    last_at: datetime


@dataclass(frozen=True, kw_only=True)
class JudgeCount:
    """How often something happened to a model judge.

    Attributes:
        judge: the judge's name in records.
        measure: what is counted (:mod:`agon.app.arena.judging.measurements`).
        successes: how often it happened.
        trials: how often it could have happened.
    """

    judge: str
    measure: str
    successes: int
    trials: int
