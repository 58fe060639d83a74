"""Describe what prevents a table, or rows of it, from being read."""

from dataclasses import dataclass, field, replace

from agon.records.issues import MAX_LISTED_PER_KIND, RowIssue

ROW_REMEDY = {
    "wrong-encoding": "save the text as UTF-8",
    "malformed-row": "quote fields that hold the delimiter or a quote, and complete the row",
    "malformed-json": "write one JSON object per line, each key once",
}


def table_issue(
    table: str, location: str, reason: str, remedy: str, *, code: str = "unreadable-table"
) -> RowIssue:
    """Return an issue of a table."""
    return RowIssue(code, table, location, None, None, None, reason, remedy)


def unreadable(table: str, location: str, error: object) -> RowIssue:
    """Return the issue of an unreadable table, with what the system says of it.

    What a library says is left out: it has words of its own, and paths of the machine.
    """
    says = error.strerror if isinstance(error, OSError) else None
    fact = says or "it is damaged, or of another kind than its name says"
    return table_issue(table, location, f"cannot be read ({fact})", "write it again")


@dataclass
class IssueTally:
    """Counts the unreadable rows of one table while it is read; lists the first of each kind."""

    table: str
    location: str
    _first: dict[tuple[str, str | None], list[RowIssue]] = field(default_factory=dict)
    _counts: dict[tuple[str, str | None], int] = field(default_factory=dict)

    def add(self, code: str, row: int, column: str | None, value: str | None, reason: str) -> None:
        """Add one unreadable row or value."""
        kind = (code, column)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < MAX_LISTED_PER_KIND:
            excerpt = None if value is None else value[:200]
            remedy = ROW_REMEDY[code]
            key = (self.table, self.location, row, column, excerpt)
            first.append(RowIssue(code, *key, reason, remedy))

    def issues(self) -> list[RowIssue]:
        """Return the first issues of each kind, each with the count of its kind."""
        return [
            replace(issue, count=self._counts[kind])
            for kind, first in self._first.items()
            for issue in first
        ]


def shown_bytes(value: bytes) -> str:
    r"""Return bytes as text, those that are not ASCII as ``\x..``.

    Example:
        >>> shown_bytes("Müller".encode("latin-1"))
        'M\\xfcller'
    """
    return value[:200].decode("ascii", errors="backslashreplace")
