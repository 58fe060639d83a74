"""Issues of entries, ledgers and proofs: the location, what is wrong, and the remedy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agon.errors import Unreadable

SHOWN = 50
"""Maximum number of issues in a message; the error itself has all of them."""


@dataclass(frozen=True)
class LedgerIssue:
    """Something that is wrong with an entry, a ledger or a proof.

    Attributes:
        what: what is wrong.
        remedy: what to do.
        file: the name of the file; empty for none.
        line: the line of the file, from 1, which is also the entry's ``seq``; None for the file.

    Example:
        >>> str(LedgerIssue("kind 'x' is unknown", "take one of the list", "ledger.ndjson", 3))
        "ledger.ndjson, line 3: kind 'x' is unknown; take one of the list"
    """

    what: str
    remedy: str
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line is not None else ""
        location = ", ".join(part for part in (self.file, line) if part)
        return f"{location + ': ' if location else ''}{self.what}; {self.remedy}"

    def at(self, file: str, line: int | None = None) -> "LedgerIssue":
        """Return the issue with another location."""
        return replace(self, file=file, line=line)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


class InvalidEntry(Unreadable):
    """Entries are invalid.

    Attributes:
        issues: every issue, in the order found.
    """

    def __init__(self, issues: Sequence[LedgerIssue]) -> None:
        self.issues = tuple(issues)
        listed = [str(issue) for issue in self.issues[:SHOWN]]
        if len(self.issues) > SHOWN:
            listed.append(f"… and {len(self.issues) - SHOWN:,} more")
        super().__init__("\n".join(listed))
