"""Gather everything that is wrong with a request, so that it is told at once."""

from collections import Counter
from dataclasses import dataclass, field, replace

from agon.errors import Conflict
from agon.records import InvalidRecords, Problem

MOST_TOLD = 1_000
"""So many problems are listed; the rest is counted."""

MOST_COUNTED = 100_000
"""So many problems are counted; what comes after them is not looked at, for writers wait."""

_CONFLICTS_TOLD = 20


@dataclass
class Refusals:
    """Gather problems and conflicts of one request; used within one function's run."""

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[tuple[str, str, str | None]] = field(default_factory=Counter)
    total: int = 0
    conflicts: list[str] = field(default_factory=list)
    conflicting: int = 0

    def __bool__(self) -> bool:
        return bool(self.counts or self.conflicting)

    def add(self, problem: Problem) -> None:
        """Note a problem; beyond the first thousand only one of each kind is listed.

        Raises:
            InvalidRecords: there are :data:`MOST_COUNTED` already.
        """
        if self.total >= MOST_COUNTED:
            rest = "comes after so many problems that it was not looked at, nor what follows"
            self.problems.append(
                replace(problem, code="unread", column=None, value=None, reason=rest,
                        remedy="mend those before it")
            )  # fmt: skip
            self.counts["unread", problem.table, None] += 1
            self.expect_none()
        kind = (problem.code, problem.table, problem.column)
        self.counts[kind] += 1
        self.total += 1
        few = len(self.problems) < MOST_TOLD
        # Names of tables and columns are the sender's: there can be as many kinds as lines.
        if few or (self.counts[kind] == 1 and len(self.problems) < 2 * MOST_TOLD):
            self.problems.append(problem)

    def conflict(self, told: str) -> None:
        """Note a contradiction to what is there."""
        self.conflicting += 1
        if len(self.conflicts) < _CONFLICTS_TOLD:
            self.conflicts.append(told)

    def expect_none(self) -> None:
        """Refuse if anything is wrong.

        Raises:
            InvalidRecords: there are problems.
            Conflict: there are none, but conflicts.
        """
        if self.problems:
            raise InvalidRecords(
                [
                    replace(one, count=self.counts[one.code, one.table, one.column])
                    for one in self.problems
                ]
            )
        if self.conflicts:
            rest = self.conflicting - len(self.conflicts)
            more = f"\n… and {rest:,} more" if rest else ""
            raise Conflict("\n".join(self.conflicts) + more)
