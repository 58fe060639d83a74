"""Make ledgers for tests, and say what they mean a second time, the slow and plain way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from agon.ledger.entry import Draft, Entry, EntryLine, chain, encode_entry, genesis, read_line

START = datetime(2026, 11, 22, 2, 30, tzinfo=UTC)
CREATED: dict[str, Any] = {
    "contest": "spring",
    "discipline": "arena",
    "title": "Spring",
    "edition": "arena/sentience-1",
    "overrides": {},
    "series": None,
    "season": None,
    "visibility": "public",
    "description": "",
    "boards": ["bots"],
}
VOTE = {"match_id": "m1", "judge_id": "j1", "vote": "A"}
Body = Mapping[str, Any]


def ledger(*bodies: tuple[str, Body], contest: str = "spring") -> list[Entry]:
    """Chain entries of some kinds and bodies after a first one."""
    entries: list[Entry] = []
    head = genesis(contest)
    first = ("contest-created", {**CREATED, "contest": contest})
    for seq, (kind, body) in enumerate([first, *bodies], 1):
        at = START + timedelta(seconds=seq)
        entry = encode_entry(
            Draft(kind=kind, body=body, at=at, by="user:ada"), seq=seq, previous=head
        )
        entries.append(entry)
        head = entry.sha256
    return entries


def added(table: str = "votes", *, change: str | None = None, **row: Any) -> tuple[str, Body]:
    """Return the kind and body of a record."""
    body: dict[str, Any] = {"table": table, "row": row or VOTE}
    return "record-added", body if change is None else {**body, "change": change}


def replaced(
    seq: int, table: str = "votes", *, change: str | None = None, **row: Any
) -> tuple[str, Body]:
    """Return the kind and body of a record that supersedes another."""
    _, body = added(table, change=change, **row)
    return "record-replaced", {**body, "replaces": seq}


def voided(*seqs: int, change: str | None = None) -> tuple[str, Body]:
    """Return the kind and body of a void."""
    body = {"seqs": list(seqs), "subjects": [], "change": change, "reason": "a farm"}
    return "records-voided", body


def adopted(edition: str, *, change: str | None = None) -> tuple[str, Body]:
    """Return the kind and body of an adoption."""
    return "edition-adopted", {
        "edition": edition,
        "overrides": {"k": edition},
        "rules_sha256": "0" * 64,
        "change": change,
        "reason": "",
    }


def adjusted(points: float, *, change: str | None = None) -> tuple[str, Body]:
    """Return the kind and body of an adjustment."""
    body = {"board": "bots", "id": "b1", "points": points, "change": change, "reason": ""}
    return "adjustment-made", body


def rolled_back(change: str) -> tuple[str, Body]:
    """Return the kind and body of a rollback."""
    return "change-rolled-back", {"change": change, "reason": "a mistake"}


FROZEN: tuple[str, Body] = ("contest-frozen", {"boards": {}})
UNFROZEN: tuple[str, Body] = ("contest-unfrozen", {"reason": ""})
FINAL: tuple[str, Body] = ("contest-finalised", {"boards": {}})
OPENED: tuple[str, Body] = ("contest-opened", {})
DECIDED: tuple[str, Body] = (
    "decision-made",
    {"case": None, "decision": "kept", "subjects": ["b1"], "reason": ""},
)


@dataclass
class _Teller:
    """Turn any numbers into a history that can be."""

    bodies: list[tuple[str, Body]] = field(default_factory=list)
    tables: dict[int, str] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    state: str = "draft"

    def add(self, what: int, one: int, other: int, change: int) -> None:
        """Add one entry."""
        seq = len(self.bodies) + 2
        named = f"c{change}" if change < 4 and f"c{change}" not in self.gone else None
        records = list(self.tables)
        made: tuple[str, Body] = DECIDED
        table = "votes" if one % 2 else "matches"
        known = [name for name in self.changes if name not in self.gone]
        if what < 4 or (what < 8 and not records):
            made = added(table, change=named, n=other)
            self.tables[seq] = table
        elif what < 6:
            old = records[one % len(records)]
            made = replaced(old, self.tables[old], change=named, n=other)
            self.tables[seq] = self.tables[old]
        elif what < 8:
            made = voided(*{records[one % len(records)], records[other % len(records)]},
                          change=named)  # fmt: skip
        elif what == 8:
            made = adopted(f"arena/e{other % 3}", change=named)
        elif what == 9:
            made = adjusted(other / 4, change=named)
        elif what == 10 and known:
            made = rolled_back(known[one % len(known)])
            self.gone.add(made[1]["change"])
        elif what == 11:
            made, self.state = self._next(one)
        if named is not None and made[1].get("change") == named and named not in self.changes:
            self.changes.append(named)
        self.bodies.append(made)

    def _next(self, one: int) -> tuple[tuple[str, Body], str]:
        if self.state == "draft":
            return OPENED, "open"
        if self.state == "open" and one % 3:
            return FROZEN, "frozen"
        if self.state == "frozen" and one % 3:
            return UNFROZEN, "open"
        return (FINAL, "final") if self.state != "final" else (DECIDED, "final")


_STEPS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 60), st.integers(0, 60), st.integers(0, 7)),
    max_size=40,
)


def _entries(steps: Sequence[tuple[int, int, int, int]]) -> list[Entry]:
    teller = _Teller()
    for step in steps:
        teller.add(*step)
    return ledger(*teller.bodies)


HISTORIES = _STEPS.map(_entries)
"""Ledgers with records, replacements, voids, adoptions, adjustments, rollbacks and freezes."""


@dataclass(frozen=True)
class Meaning:
    """Hold what entries say."""

    seen: list[tuple[str, int]]
    edition: str
    overrides: Body
    adjustments: list[tuple[int, float]]
    state: str
    frozen_at: int | None
    finalized_at: int | None
    head: bytes


def meaning(lines: Iterable[bytes]) -> Meaning:
    """Say what a ledger means, from all its lines, one rule after the other."""
    entries = [read_line(line) for line in lines]
    gone = {one.body["change"] for one in entries if one.kind == "change-rolled-back"}
    valid = [one for one in entries
             if one.kind == "change-rolled-back" or one.body.get("change") not in gone]  # fmt: skip
    replaces = {one.seq: one.body["replaces"] for one in entries if "replaces" in one.body}

    def first(seq: int) -> int:
        return first(replaces[seq]) if seq in replaces else seq

    def superseded(record: EntryLine) -> bool:
        later = (one.seq for one in valid if one.seq in replaces and one.seq > record.seq)
        return any(first(seq) == first(record.seq) for seq in later)

    void = {seq for one in valid if one.kind == "records-voided" for seq in one.body["seqs"]}
    records = [one for one in valid if one.kind in {"record-added", "record-replaced"}]
    rules = [one for one in valid if one.kind in {"contest-created", "edition-adopted"}][-1]
    state, frozen_at, finalized_at = "draft", None, None
    head = genesis(entries[0].body["contest"])
    for one in entries:
        head = chain(head, one.line)
        if one.kind in {"contest-opened", "contest-unfrozen"}:
            state, frozen_at = "open", None
        elif one.kind == "contest-frozen":
            state, frozen_at = "frozen", one.seq
        elif one.kind == "contest-finalised":
            state, frozen_at, finalized_at = "final", None, one.seq
    return Meaning(
        seen=[
            (one.body["table"], one.seq)
            for one in records
            if one.seq not in void and not superseded(one)
        ],
        edition=rules.body["edition"],
        overrides=rules.body["overrides"],
        adjustments=[
            (one.seq, one.body["points"]) for one in valid if one.kind == "adjustment-made"
        ],
        state=state,
        frozen_at=frozen_at,
        finalized_at=finalized_at,
        head=head,
    )
