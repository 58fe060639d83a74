"""Integrity checks and their findings: subjects, statistic and records.

A finding informs an organizer, who decides. No finding changes a score.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from agon.kernel.progress import count_steps

Subject = TypeVar("Subject")
"""What the checks of a discipline examine."""


class Severity(StrEnum):
    """The severity of a finding: information, a warning, or an error (exit code 1)."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class RecordRefs:
    """References to records: some ids of one table, and how many there are in all.

    Attributes:
        table: the table.
        ids: the ids, or a sample of them.
        count: number of the records; never less than the number of ids.
    """

    table: str
    ids: tuple[str, ...]
    count: int

    @classmethod
    def of(cls, table: str, ids: list[str] | tuple[str, ...], *, most: int = 100) -> "RecordRefs":
        """Return references to all of ``ids``, naming the first ``most`` of them."""
        return cls(table, tuple(str(name) for name in ids[:most]), len(ids))

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {"table": self.table, "ids": list(self.ids), "count": self.count}


@dataclass(frozen=True)
class Finding:
    """One finding of an integrity check.

    Attributes:
        code: the check, for example ``self-feedback``.
        severity: info, warning or error.
        subjects: ids of the users, bots or submissions it is about.
        statistic: name of the number examined, for example ``share of own feedback``.
        value: the number measured.
        expected: the number expected from the contest's own data or by chance.
        probability: probability of a value at least this large if it can be computed, else None.
        message: one sentence with all of this.
        records: the records it is based on.
    """

    code: str
    severity: Severity
    subjects: tuple[str, ...]
    statistic: str
    value: float
    expected: float
    probability: float | None
    message: str
    records: tuple[RecordRefs, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "subjects": list(self.subjects),
            "statistic": self.statistic,
            "value": self.value,
            "expected": self.expected,
            "probability": self.probability,
            "message": self.message,
            "records": [refs.to_dict() for refs in self.records],
        }


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """One integrity check: a row of a discipline's table.

    Attributes:
        code: the code of its findings, for example ``self-feedback``.
        meaning: what it detects.
        find: yields its findings.
    """

    code: str
    meaning: str
    find: Callable[[Subject], Iterable[Finding]]


def run_checks(checks: Sequence[Check[Subject]], subject: Subject) -> list[Finding]:
    """Return the findings of all checks, in the order of the checks.

    Raises:
        ValueError: a check returned a finding with another code than its own (a bug of agon).
    """
    findings = []
    for check in count_steps(checks, label="checks", total=len(checks)):
        for finding in check.find(subject):
            if finding.code != check.code:
                raise ValueError(f"check {check.code} returned a finding {finding.code}")
            findings.append(finding)
    return findings


def meanings(checks: Sequence[Check[Subject]]) -> dict[str, str]:
    """Return the meaning of each check by its code."""
    return {check.code: check.meaning for check in checks}


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(findings: list[Finding]) -> list[Finding]:
    """Sort findings: most severe first, then by code, subjects and message."""
    return sorted(findings, key=lambda f: (_RANK[f.severity], f.code, f.subjects, f.message))
