"""Collect everything that is wrong with a request, so that one error reports all of it."""

from collections import Counter
from dataclasses import dataclass, field, replace

from agon.errors import Conflict
from agon.records import InvalidRecords, RowIssue

MAX_LISTED = 1_000
"""Maximum number of issues listed in detail; the rest is counted."""

MAX_COUNTED = 100_000
"""Maximum number of issues counted; later records are not validated, since writers wait."""

_MAX_CONFLICTS = 20
_OF_NAMES = frozenset({"missing-column", "unknown-column"})


@dataclass
class ErrorCollector:
    """Collects the issues and conflicts of one request."""

    issues: list[RowIssue] = field(default_factory=list)
    counts: Counter[tuple[str, str, str | None]] = field(default_factory=Counter)
    total: int = 0
    conflicts: list[str] = field(default_factory=list)
    conflicting: int = 0

    def __bool__(self) -> bool:
        return bool(self.counts or self.conflicting)

    def add(self, issue: RowIssue) -> None:
        """Add an issue, or one that counts several rows; of wrong names the first is listed.

        Beyond the first thousand only one of each kind is listed.

        Raises:
            InvalidRecords: there are :data:`MAX_COUNTED` already.
        """
        if self.total >= MAX_COUNTED:
            rest = "comes after so many issues that it was not validated, nor what follows"
            self.issues.append(
                replace(issue, code="unread", column=None, value=None, reason=rest,
                        remedy="correct those before it")
            )  # fmt: skip
            self.counts["unread", issue.table, None] += 1
            self.raise_any()
        issue = replace(issue, line=issue.row)  # the rows of a request are its lines
        kind = (issue.code, issue.table, issue.column)
        is_first = not self.counts[kind]
        self.counts[kind] += issue.count
        self.total += issue.count
        few = len(self.issues) < MAX_LISTED and issue.code not in _OF_NAMES
        # Names of tables and columns are the sender's: there can be as many kinds as lines.
        if few or (is_first and len(self.issues) < 2 * MAX_LISTED):
            self.issues.append(issue)

    def conflict(self, message: str) -> None:
        """Add a conflict with an existing entry."""
        self.conflicting += 1
        if len(self.conflicts) < _MAX_CONFLICTS:
            self.conflicts.append(message)

    def raise_any(self) -> None:
        """Raise what was collected, if anything.

        Raises:
            InvalidRecords: there are issues.
            Conflict: there are none, but conflicts.
        """
        if self.issues:
            raise InvalidRecords(
                [
                    replace(issue, count=self.counts[issue.code, issue.table, issue.column])
                    for issue in self.issues
                ]
            )
        if self.conflicts:
            rest = self.conflicting - len(self.conflicts)
            more = f"\n… and {rest:,} more" if rest else ""
            raise Conflict("\n".join(self.conflicts) + more)
