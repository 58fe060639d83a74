"""The effects of entries on records, which can be undone: voids, replacements, change sets."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agon.ledger.contest_state import Adjustment
from agon.ledger.transitions import Adoption, adoptions_after


@dataclass
class Effects:
    """The effects in force; only ``fold`` changes them, on its own copy.

    A record is visible unless it was added by a change set that was rolled back (``undone``), is
    voided at least once (``voids``), or is not the last of its lineage that counts
    (``superseded``). A lineage is a record with its successive replacements.
    """

    voids: dict[int, int] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)
    superseded: set[int] = field(default_factory=set)
    first_of: dict[int, int] = field(default_factory=dict)
    lineages: dict[int, tuple[int, ...]] = field(default_factory=dict)
    records_of: dict[str, list[int]] = field(default_factory=dict)
    voids_of: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    rolled_back: dict[str, int] = field(default_factory=dict)
    adoptions: list[Adoption] = field(default_factory=list)
    adjustments: list[Adjustment] = field(default_factory=list)

    def copy(self) -> "Effects":
        """Return a copy that can be changed without changing this one."""
        return Effects(
            voids=dict(self.voids),
            undone=set(self.undone),
            superseded=set(self.superseded),
            first_of=dict(self.first_of),
            lineages=dict(self.lineages),
            records_of={change: list(all_) for change, all_ in self.records_of.items()},
            voids_of={change: list(all_) for change, all_ in self.voids_of.items()},
            rolled_back=dict(self.rolled_back),
            adoptions=list(self.adoptions),
            adjustments=list(self.adjustments),
        )

    def is_visible(self, record: int) -> bool:
        """Return whether a record counts: not superseded, undone or void."""
        return (
            record not in self.superseded
            and record not in self.undone
            and not self.voids.get(record)
        )

    def knows(self, change: str) -> bool:
        """Return whether an entry belongs to a change set."""
        return (
            change in self.records_of
            or change in self.voids_of
            or any(change == adoption.change for adoption in self.adoptions)
            or any(change == adjustment.change for adjustment in self.adjustments)
        )

    def record(self, record: int, *, change: str | None, replaces: int | None) -> Iterator[int]:
        """Add a record; yield the records that are no longer visible."""
        if change is not None:
            self.records_of.setdefault(change, []).append(record)
        if replaces is None:
            return
        first = self.first_of.get(replaces, replaces)
        lineage = self.lineages.get(first, (first,))
        self.first_of[record] = first
        self.lineages[first] = (*lineage, record)
        before = self._last_that_counts(lineage)
        if before is not None:
            if self.is_visible(before):
                yield before
            self.superseded.add(before)

    def adopt(self, kind: str, body: Mapping[str, Any]) -> None:
        """Update the adoptions in force."""
        self.adoptions = adoptions_after(self.adoptions, kind, body)

    def void(self, records: Iterable[int], *, change: str | None) -> Iterator[int]:
        """Void records; yield those that are no longer visible."""
        voided = tuple(records)
        if change is not None:
            self.voids_of.setdefault(change, []).append(voided)
        for record in voided:
            if self.is_visible(record):
                yield record
            self.voids[record] = self.voids.get(record, 0) + 1

    def roll_back(self, change: str, *, at: int) -> Iterator[int]:
        """Undo all entries of a change set; yield the records whose visibility changed."""
        before: dict[int, bool] = {}
        # Voids are counted: a record voided by two changes stays void when one is undone.
        for voided in self.voids_of.get(change, ()):
            for record in voided:
                before.setdefault(record, self.is_visible(record))
                self.voids[record] -= 1
                if not self.voids[record]:
                    del self.voids[record]
        own = self.records_of.get(change, ())
        for record in own:
            before.setdefault(record, self.is_visible(record))
            self.undone.add(record)
        # A lineage whose newest record is undone shows the one before it again.
        for first in {self.first_of[record] for record in own if record in self.first_of} | {
            record for record in own if record in self.lineages
        }:
            last = self._last_that_counts(self.lineages[first])
            if last is not None:
                before.setdefault(last, self.is_visible(last))
                self.superseded.discard(last)
        self.adjustments = [
            # Adjustments end here instead of vanishing: boards of earlier positions keep them.
            replace(adjustment, until=at)
            if adjustment.change == change and adjustment.until is None
            else adjustment
            for adjustment in self.adjustments
        ]
        self.rolled_back[change] = at
        # Evaluated by the caller after all of this, so it compares with the state reached.
        return (record for record, visible in before.items() if visible != self.is_visible(record))

    def _last_that_counts(self, lineage: tuple[int, ...]) -> int | None:
        return next((record for record in reversed(lineage) if record not in self.undone), None)
