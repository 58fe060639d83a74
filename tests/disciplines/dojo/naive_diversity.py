"""Give diversity points a second time, entry by entry, from the specification's page alone.

A naive oracle: the tests hold what scores a season against it, and nothing else uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One reward-correct submission inside the window."""

    user: str
    tag: str
    created_at: Any
    source_hash: str
    submission: str

    @property
    def order(self) -> tuple[Any, str, str]:
        """Return what decides which entry is earlier."""
        return self.created_at, self.source_hash, self.submission


def earliest_per_user_and_tag(entries: Sequence[Entry]) -> list[Entry]:
    """Keep the earliest entry of each (user, tag), in that order (document 002, 6.4 dedup)."""
    earliest: dict[tuple[str, str], Entry] = {}
    for entry in sorted(entries, key=lambda each: each.order):
        earliest.setdefault((entry.user, entry.tag), entry)
    return list(earliest.values())


def naive_diversity(
    entries: Sequence[Entry], *, ignored: str | None = None, cap: int = 50
) -> list[int]:
    """Return the points of each entry of one problem under the page's numbers (document 002, 6)."""
    first: dict[str, str] = {}
    for entry in earliest_per_user_and_tag(entries):
        if entry.tag != ignored:
            first.setdefault(entry.tag, entry.submission)
    shared = 20 if len(first) > 1 else 0
    return [
        min((30 if first.get(entry.tag) == entry.submission else 0) + shared, cap)
        for entry in entries
    ]
