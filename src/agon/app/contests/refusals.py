"""Gather everything that is wrong with a request, so that it is told at once."""

from collections import Counter
from dataclasses import dataclass, field, replace

from agon.errors import Conflict
from agon.records import InvalidRecords, Problem

MOST_TOLD = 1_000
"""So many problems are listed; the rest is counted."""

_CONFLICTS_TOLD = 20


@dataclass
class Refusals:
    """Gather problems and conflicts of one request; used within one function's run."""

    problems: list[Problem] = field(default_factory=list)
    counts: Counter[tuple[str, str, str | None]] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    conflicting: int = 0

    def __bool__(self) -> bool:
        return bool(self.counts or self.conflicting)

    def add(self, problem: Problem) -> None:
        """Note a problem; beyond the first thousand only one of each kind is listed."""
        kind = (problem.code, problem.table, problem.column)
        self.counts[kind] += 1
        if len(self.problems) < MOST_TOLD or self.counts[kind] == 1:
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
