"""Fold a ledger's lines into a state: the contest, and the spans of its records.

``fold(prefix)`` then ``fold(rest)`` equals ``fold(all)``: a state has all that later lines need.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from agon.ledger.contest_state import Adjustment, ContestState, empty_contest
from agon.ledger.effects import Effects
from agon.ledger.entry import chain, read_line, timestamp
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import preview
from agon.ledger.spans import Span, Spans
from agon.ledger.transitions import TRANSITIONS, Adoption, apply, state_issue

__all__ = [
    "Adjustment",
    "ContestState",
    "LedgerState",
    "Span",
    "Spans",
    "check_lines",
    "empty_ledger",
    "fold",
]

_TIME_LENGTH = len("2026-11-22T02:30:00.123456Z")


@dataclass(frozen=True, kw_only=True)
class LedgerState:
    """The state of a ledger after its entries up to a position.

    Attributes:
        contest: the contest there.
        spans: the positions at which its records are visible.
        contest_states: the contest after each of its changes other than records and
            adjustments, oldest first.
        adjustments: all adjustments, with the position at which they ended.
        at: the time of the newest entry, as in its line; empty before the first.
    """

    contest: ContestState
    spans: Spans = field(default_factory=Spans)
    contest_states: tuple[ContestState, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    at: str = ""
    effects: Effects = field(default_factory=Effects, repr=False)

    def contest_at(self, seq: int) -> ContestState:
        """Return the contest at an earlier position.

        Its ``seq`` and ``head`` are those of the entry that last changed it.
        """
        if seq >= self.contest.seq:
            return self.contest
        count = bisect_right(self.contest_states, seq, key=lambda state: state.seq)
        return self.contest_states[count - 1] if count else empty_contest(self.contest.id)

    @property
    def adoptions(self) -> tuple[Adoption, ...]:
        """Return the adoptions of editions that are not rolled back, oldest first."""
        return tuple(self.effects.adoptions)

    def adjustments_at(self, seq: int) -> tuple[Adjustment, ...]:
        """Return the adjustments in force at a position, oldest first."""
        return tuple(
            replace(adjustment, until=None)
            for adjustment in self.adjustments
            if adjustment.seq <= seq and (adjustment.until is None or adjustment.until > seq)
        )


def empty_ledger(contest: str) -> LedgerState:
    """Return the state of a ledger without entries."""
    return LedgerState(contest=empty_contest(contest))


def fold(
    lines: Iterable[bytes],
    *,
    start: LedgerState,
    on_record: Callable[[int, str, Mapping[str, Any]], object] | None = None,
    heads: bytearray | None = None,
) -> LedgerState:
    """Return the state after further lines.

    Args:
        lines: the entries' bytes, as sealed or read from a checked ledger, from
            ``start.contest.seq + 1`` on.
        start: the state before them: ``empty_ledger(contest)``, or the result of an earlier fold.
        on_record: called for every record with its position, its table and its row.
        heads: the chain's hash after each line is appended to it, 32 bytes each.

    Raises:
        InvalidEntry: with every line that cannot follow those before it.
    """
    folding = _Fold(start, on_record)
    for line in lines:
        folding.take(line, thorough=False)
        if heads is not None:
            heads += folding.head
    if folding.issues:
        raise InvalidEntry(folding.issues)
    return folding.state()


def check_lines(
    lines: Iterable[bytes], *, start: LedgerState
) -> tuple[LedgerState, tuple[LedgerIssue, ...]]:
    """Check untrusted lines; return the state after them and everything that is wrong.

    Lines with issues enter the chain and have no other effect; ``LedgerIssue.line`` is the position
    of such a line.
    """
    folding = _Fold(start, None)
    for line in lines:
        folding.take(line, thorough=True)
    return folding.state(), tuple(folding.issues)


class _Fold:
    """The fold over lines from a state; the state itself is not changed."""

    def __init__(
        self, start: LedgerState, on_record: Callable[[int, str, Mapping[str, Any]], object] | None
    ) -> None:
        self.start = start
        self.on_record = on_record
        self.issues: list[LedgerIssue] = []
        self.seq = start.contest.seq
        self.head = start.contest.head
        self.at = start.at
        self.contest = start.contest
        self.contest_states: list[ContestState] = []
        self.effects = start.effects
        self.owns_effects = False
        self.tables = {name: number for number, name in enumerate(start.spans.tables)}
        self.records = array("q")
        self.table = array("q")
        self.visibility_changes: dict[int, list[int]] = {}

    def take(self, line: bytes, *, thorough: bool) -> None:
        """Apply one line."""
        self.seq = seq = self.seq + 1
        self.head = chain(self.head, line)
        value = None if thorough else _quick(line)
        if value is None:
            try:
                entry = read_line(line)
            except InvalidEntry as error:
                self.issues += (issue.at("", seq) for issue in error.issues)
                return
            value = {"at": timestamp(entry.at), "body": entry.body, "kind": entry.kind}
            value["seq"] = entry.seq
        issues = self._out_of_order(value)
        kind, body = value["kind"], value["body"]
        if not issues:
            if kind == "record-added" and "change" not in body:
                self._add(body)
                return
            if not self.owns_effects:
                self.effects, self.owns_effects = self.effects.copy(), True
            issues = self._contradictions(kind, body)
            if not issues:
                self._apply(kind, body)
        self.issues += (issue.at("", seq) for issue in issues)

    def state(self) -> LedgerState:
        """Return the state after the lines."""
        spans = self.start.spans.extend(
            tables=list(self.tables),
            records=self.records,
            table=self.table,
            visibility_changes=self.visibility_changes,
        )
        adjustments = tuple(self.effects.adjustments)
        return LedgerState(
            contest=replace(self.contest, seq=self.seq, head=self.head),
            spans=spans,
            contest_states=(*self.start.contest_states, *self.contest_states),
            adjustments=adjustments,
            at=self.at,
            effects=self.effects,
        )

    def _out_of_order(self, value: Mapping[str, Any]) -> list[LedgerIssue]:
        """Return what is wrong with an entry's position and time."""
        issues = []
        if value["seq"] != self.seq:
            issues.append(LedgerIssue(f"seq is {value['seq']}, in place {self.seq}",
                                "number entries 1, 2, 3 … without a gap"))  # fmt: skip
        if value["at"] < self.at:
            issues.append(LedgerIssue(f"at is {value['at']}, before {self.at} of the entry above",
                                "keep entries in the order they were made"))  # fmt: skip
        else:
            self.at = value["at"]
        if (value["kind"] == "contest-created") != (self.seq == 1):
            issues.append(LedgerIssue(f"{value['kind']} is entry {self.seq}",
                                "begin with contest-created, and give it once"))  # fmt: skip
        return issues

    def _contradictions(self, kind: str, body: Mapping[str, Any]) -> list[LedgerIssue]:
        """Return what in an entry contradicts the entries before it."""
        state, change = self.contest, body.get("change")
        issues = []
        if kind == "contest-created" and body["contest"] != state.id:
            fact = f"the contest is {preview(body['contest'])}, the ledger that of {state.id!r}"
            issues.append(LedgerIssue(fact, "take that contest's ledger"))
        if (issue := state_issue(state, kind)) is not None:
            issues.append(issue)
        # All entries of a change set come before its end: none joins it afterwards.
        if change is not None and change in self.effects.rolled_back:
            fact = f"change {preview(change)} was rolled back at {self.effects.rolled_back[change]}"
            issues.append(LedgerIssue(fact, "name another change"))
        elif kind == "change-rolled-back" and not self.effects.knows(body["change"]):
            issues.append(
                LedgerIssue(f"no entry belongs to change {preview(change)}", "name one made")
            )
        issues += [
            LedgerIssue(f"voids {seq}, which is no record", "give the seqs of records before it")
            for seq in body.get("seqs", ())
            if self._table_of(seq) is None
        ]
        if kind == "record-replaced" and self._table_of(body["replaces"]) != body["table"]:
            fact = f"replaces {body['replaces']}, which is no record of {preview(body['table'])}"
            issues.append(LedgerIssue(fact, "give the seq of the record it supersedes"))
        return issues

    def _table_of(self, record: int) -> str | None:
        """Return the table of a record, of the start or of this fold."""
        if record <= self.start.contest.seq:
            return self.start.spans.table_of(record)
        place = bisect_left(self.records, record)
        if place == len(self.records) or self.records[place] != record:
            return None
        return list(self.tables)[self.table[place]]

    def _apply(self, kind: str, body: Mapping[str, Any]) -> None:
        """Apply an entry that contradicts nothing before it."""
        self.effects.adopt(kind, body)
        _EFFECTS.get(kind, _Fold.no_effect)(self, body)
        if kind in TRANSITIONS:
            self.contest = apply(
                self.contest, kind, body, seq=self.seq, head=self.head,
                adoptions=lambda: self.effects.adoptions,
            )  # fmt: skip
            self.contest_states.append(self.contest)

    def _see_anew(self, records: Iterable[int]) -> None:
        for record in records:
            self.visibility_changes.setdefault(record, []).append(self.seq)

    def _add(self, body: Mapping[str, Any]) -> None:
        name = body["table"]
        self.records.append(self.seq)
        self.table.append(self.tables.setdefault(name, len(self.tables)))
        if self.on_record is not None:
            self.on_record(self.seq, name, body["row"])

    def record(self, body: Mapping[str, Any]) -> None:
        change, replaces = body.get("change"), body.get("replaces")
        self._see_anew(self.effects.record(self.seq, change=change, replaces=replaces))
        self._add(body)

    def void(self, body: Mapping[str, Any]) -> None:
        self._see_anew(self.effects.void(body["seqs"], change=body["change"]))

    def adjust(self, body: Mapping[str, Any]) -> None:
        self.effects.adjustments.append(Adjustment(seq=self.seq, **body))

    def roll_back(self, body: Mapping[str, Any]) -> None:
        self._see_anew(self.effects.roll_back(body["change"], at=self.seq))

    def no_effect(self, _body: Mapping[str, Any]) -> None:
        """Do nothing: the entry has no effect on records."""


_EFFECTS: Final[Mapping[str, Callable[[_Fold, Mapping[str, Any]], None]]] = {
    "record-added": _Fold.record,
    "record-replaced": _Fold.record,
    "records-voided": _Fold.void,
    "adjustment-made": _Fold.adjust,
    "change-rolled-back": _Fold.roll_back,
}
"""What kinds of entries do to records and adjustments; see also ``TRANSITIONS``."""


def _quick(line: bytes) -> dict[str, Any] | None:
    """Return a record's line as parsed; None for any line that has to be read in full."""
    try:
        value = orjson.loads(line)
        body = value["body"]
        plain = (
            value["kind"] == "record-added"
            and len(value) == 6  # noqa: PLR2004 - the keys a line has
            and len(body) == 2  # noqa: PLR2004 - table and row
            and type(body["row"]) is dict
            and type(body["table"]) is str
            and type(value["seq"]) is int
            and len(value["at"]) == _TIME_LENGTH
        )
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None
    return value if plain else None
