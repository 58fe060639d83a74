"""Issues of records, each with table, row, column, value and remedy."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agon.errors import Unreadable

MAX_LISTED_PER_KIND = 20
"""Maximum number of issues of one kind listed per column; the rest is counted."""


@dataclass(frozen=True)
class RowIssue:
    """An issue of a row or a table.

    Attributes:
        code: the kind (``wrong-type``, ``unknown-reference``, …).
        table: the table's name.
        location: the file or database table it was read from.
        row: number of the data row, from 1 (a header is not counted), or None for a table.
        line: line of a text file, from 1, or None.
        column: the column, or None for a row.
        value: the raw value as text, or None when empty.
        reason: the fact.
        remedy: how to correct it.
        count: number of issues of this kind in the column, this one included; more than are
            listed when there are too many.
    """

    code: str
    table: str
    location: str
    row: int | None
    column: str | None
    value: str | None
    reason: str
    remedy: str
    line: int | None = None
    count: int = 1

    def __str__(self) -> str:
        where = [self.location]
        if self.line is not None:
            row = f" (row {self.row})" if self.row not in {None, self.line} else ""
            where.append(f"line {self.line}{row}")
        elif self.row is not None:
            where.append(f"row {self.row}")
        if self.column is not None:
            where.append(f"column {self.column}")
        value = f" {self.value!r}" if self.value is not None else ""
        return f"{', '.join(where)}:{value} {self.reason}; {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


class InvalidRecords(Unreadable):
    """Records are invalid; the error lists their issues.

    Attributes:
        issues: the issues, at most :data:`MAX_LISTED_PER_KIND` of one kind in one column.
        total: the number of issues, listed or not.
        names: how the names of the source were read (a ``NameReport``), where it is known.
        hints: what a door has against such issues, one line each.
    """

    def __init__(
        self,
        issues: Sequence[RowIssue],
        *,
        names: Any = None,
        hints: Sequence[str] = (),
    ) -> None:
        self.issues = tuple(issues)
        self.names = names
        self.hints = tuple(hints)
        listed = Counter(map(_kind, issues))
        kinds = {_kind(issue): max(issue.count, listed[_kind(issue)]) for issue in issues}
        self.total = sum(kinds.values())
        super().__init__(self._message(kinds))

    def _message(self, kinds: dict[tuple[str, str, str | None], int]) -> str:
        lines = [f"{self.total:,} issue{'s' if self.total > 1 else ''} in the records:"]
        listed = Counter(_kind(issue) for issue in self.issues)
        for index, issue in enumerate(self.issues):
            kind = _kind(issue)
            lines.append(f"  {issue}")
            last = index + 1 == len(self.issues) or _kind(self.issues[index + 1]) != kind
            if last and kinds[kind] > listed[kind]:
                column = f" in column {kind[2]}" if kind[2] else ""
                lines.append(
                    f"  … and {kinds[kind] - listed[kind]:,} more of {kind[1]} {kind[0]}{column}"
                )
        return "\n".join([*lines, *self.hints])


def _kind(issue: RowIssue) -> tuple[str, str, str | None]:
    return (issue.code, issue.table, issue.column)
