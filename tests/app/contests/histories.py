"""Generate random histories of contests, with a naive computation of their visible records.

A history is a random walk of records, late ones among them, of replacements, voids and roll-backs.
Many histories stand interleaved in one ledger, as do rule changes and adjustments; no entry of one
history touches a record of another. Most rows come after those they refer to, some before, and
some refer to what never comes.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

from agon.disciplines import discipline
from agon.editions import default_edition, editions, rules_sha256
from agon.editions import edition as released
from agon.ledger.entry import Draft, encode_entry, genesis
from records.naive import without_dangling

LATE = 0.05
"""The share of rows that come before the rows they refer to."""

AT = datetime(2026, 11, 22, tzinfo=UTC)
SIZES = {"community": 40, "challenge": 1500, "dojo": 900, "arena": 250}
RULES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "community": ({"self_feedback": "ignore"}, {"repeated_feedback": "latest"}, {}),
    "challenge": ({"exclude_outliers": True}, {"top_n": 1}, {}),
    "dojo": ({"diversity": False}, {"stage_base": 100}, {}),
    "arena": ({"elo_start": 1200}, {"k_new": 16}, {}),
}


@dataclass(eq=False)
class History:
    """The changes of one history, as plain lists."""

    records: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    replaced: dict[int, int] = field(default_factory=dict)
    voids: list[tuple[int, tuple[int, ...], str | None]] = field(default_factory=list)
    changes: dict[int, str] = field(default_factory=dict)
    rolled_back: dict[str, int] = field(default_factory=dict)

    def seen(self, at: int) -> list[int]:
        """Return the records visible at a position, computed from the complete history."""
        undone = {change for change, seq in self.rolled_back.items() if seq <= at}
        counting = [
            one for one in self.records if one <= at and self.changes.get(one) not in undone
        ]
        voided = {
            one
            for seq, ones, change in self.voids
            if seq <= at and change not in undone
            for one in ones
        }
        heirs = {self._first(one): one for one in sorted(counting)}
        return [one for one in sorted(heirs.values()) if one not in voided]

    def _first(self, one: int) -> int:
        while one in self.replaced:
            one = self.replaced[one]
        return one


@dataclass
class Ledger:
    """A contest's lines, with the histories interleaved in it."""

    of: str
    lines: list[tuple[int, bytes]]
    histories: list[History]

    def seen(self, at: int) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        """Return the rows seen at a position by table, with their numbers, in order.

        Those are the rows nothing took away, without those that refer to a row not seen.
        """
        tables: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        rows = {one: history.records[one] for history in self.histories for one in history.seen(at)}
        for one, (table, row) in sorted(rows.items()):
            tables.setdefault(table, []).append((one, row))
        return without_dangling(discipline(self.of).schema, tables)


def ledger(
    of: str, *, seed: int, histories: int, steps: int = 12, dice: random.Random | None = None
) -> Ledger:
    """Return a ledger with a number of histories, each with a number of steps.

    ``seed`` deals the rows; ``dice`` say what is done with them, None: the seed as well.
    """
    deals = random.Random(seed)
    return _Writer(of, deals, deals if dice is None else dice, histories).written(steps)


@cache
def _pool(of: str) -> list[tuple[str, dict[str, Any]]]:
    tables = discipline(of).simulate(size=SIZES[of], seed=7, attacks=[]).tables
    return [
        (name, {key: _plain(value) for key, value in row.items() if value is not None})
        for name, table in tables.items()
        for row in table.to_pylist()
    ]


@cache
def _by_id(of: str) -> dict[tuple[str, Any], dict[str, Any]]:
    return {(name, row["id"]): row for name, row in reversed(_pool(of)) if "id" in row}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


class _Writer:
    """Write one ledger."""

    def __init__(self, of: str, deals: random.Random, dice: random.Random, histories: int) -> None:
        self.of, self.deals, self.dice = of, deals, dice
        self.schema = discipline(of).schema
        self.rows = self._dealt()
        self.histories = [History() for _ in range(histories)]
        self.lines: list[tuple[int, bytes]] = []
        self.head = genesis("c")

    def written(self, steps: int) -> Ledger:
        """Write the ledger: the steps of all histories in a random order."""
        body: dict[str, Any] = {
            "contest": "c",
            "discipline": self.of,
            "title": "C",
            "edition": default_edition(self.of),
            "overrides": {},
            "series": None,
            "season": None,
            "visibility": "public",
            "description": "",
            "boards": list(discipline(self.of).boards),
        }
        self._enter("contest-created", body)
        turns = [history for history in self.histories for _ in range(steps)]
        self.dice.shuffle(turns)
        for history in turns:
            self._step(history)
        return Ledger(self.of, self.lines, self.histories)

    def _dealt(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield rows in a random order, so that earlier rows come after later ones."""
        left: dict[str, list[dict[str, Any]]] = {}
        for name, row in _pool(self.of):
            left.setdefault(name, []).append(row)
        for rows in left.values():
            self.deals.shuffle(rows)
        # In some ledgers some ids are text, from their first row on or much later.
        text = self.deals.choice([0, 0, 2, 41])
        dealt: set[int] = set()
        while left:
            weights = [len(rows) ** 0.5 for rows in left.values()]
            name = self.deals.choices(list(left), weights)[0]
            for table, row in [*self._needed(name, left[name][-1]), (name, left[name].pop())]:
                if id(row) not in dealt:
                    dealt.add(id(row))
                    yield table, self._with_text(table, row, text)
            if not left[name]:
                del left[name]
        raise AssertionError("the pool is too small for the histories")

    def _needed(self, name: str, row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield most of the rows that a row refers to, after those that they refer to."""
        for column in self.schema.table(name).columns:
            if column.references is None or column.name not in row or self.deals.random() < LATE:
                continue
            other = column.references.partition(".")[0]
            referenced = _by_id(self.of).get((other, row[column.name]))
            if referenced is not None:
                yield from self._needed(other, referenced)
                yield other, referenced

    def _with_text(self, name: str, row: dict[str, Any], text: int) -> dict[str, Any]:
        ids = {column.name for column in self.schema.table(name).columns if column.kind == "id"}
        return {
            key: f"t{value}" if key in ids and text and _is_whole(value) and int(value) % text == 1
            else value
            for key, value in row.items()
        }  # fmt: skip

    def _enter(self, kind: str, body: Mapping[str, Any]) -> int:
        seq = len(self.lines) + 1
        entry = encode_entry(
            Draft(kind=kind, body=body, at=AT, by="user:a"), seq=seq, previous=self.head
        )
        self.lines.append((seq, entry.line))
        self.head = entry.sha256
        return seq

    def _step(self, history: History) -> None:
        kind = self.dice.choices(
            (self._add, self._replace, self._void, self._roll_back, self._adopt, self._adjust),
            (60, 12, 12, 10, 1, 1),
        )[0]
        if kind == self._add or not history.records:
            self._add(history)
        else:
            kind(history)

    def _change(self, history: History) -> str | None:
        """Return a change of this history that is not rolled back, a new one, or none."""
        number = self.histories.index(history)
        known = f"change-{number}-{self.dice.randrange(4)}"
        return None if known in history.rolled_back or self.dice.random() < 0.3 else known

    def _add(self, history: History) -> None:
        table, row = next(self.rows)
        change = self._change(history) if self.dice.random() < 0.2 else None
        self._record(history, table, row, change, None)

    def _replace(self, history: History) -> None:
        replaced = self.dice.choice(list(history.records))
        table, old = history.records[replaced]
        others = [row for name, row in _pool(self.of) if name == table]
        key = self.schema.table(table).key
        row = {**self.dice.choice(others), **{name: old[name] for name in key if name in old}}
        self._record(history, table, row, self._change(history), replaced)

    def _record(
        self,
        history: History,
        table: str,
        row: dict[str, Any],
        change: str | None,
        replaces: int | None,
    ) -> None:
        body: dict[str, Any] = {"table": table, "row": row}
        body |= {} if change is None else {"change": change}
        body |= {} if replaces is None else {"replaces": replaces}
        kind = "record-added" if replaces is None else "record-replaced"
        seq = self._enter(kind, body)
        history.records[seq] = (table, row)
        if change is not None:
            history.changes[seq] = change
        if replaces is not None:
            # It stands in the line of whatever stands last in the line it replaces.
            history.replaced[seq] = replaces

    def _void(self, history: History) -> None:
        count = self.dice.randint(1, min(3, len(history.records)))
        seqs = tuple(self.dice.sample(list(history.records), count))
        change = self._change(history)
        body = {"seqs": list(seqs), "subjects": [], "change": change, "reason": "r"}
        history.voids.append((self._enter("records-voided", body), seqs, change))

    def _roll_back(self, history: History) -> None:
        known = {change for _, _, change in history.voids} | set(history.changes.values())
        open_ = sorted(one for one in known - set(history.rolled_back) if one is not None)
        if not open_:
            self._add(history)
            return
        change = self.dice.choice(open_)
        seq = self._enter("change-rolled-back", {"change": change, "reason": "r"})
        history.rolled_back[change] = seq

    def _adopt(self, history: History) -> None:
        name = self.dice.choice(editions(self.of))
        overrides = self.dice.choice(RULES[self.of])
        rules = released(name).with_rules(overrides)
        body = {"edition": name, "overrides": overrides, "rules_sha256": rules_sha256(rules)}
        number = self.histories.index(history)
        change = self.dice.choice([None, f"rules-{number}"])
        if change in history.rolled_back:
            change = None
        self._enter("edition-adopted", {**body, "change": change, "reason": "r"})

    def _adjust(self, history: History) -> None:
        board = discipline(self.of).boards[0]
        names = [row["id"] for _, row in history.records.values() if "id" in row]
        body = {"board": board, "id": str(self.dice.choice(names or ["1"])), "points": 7.5}
        self._enter("adjustment-made", {**body, "change": None, "reason": "r"})


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.isdigit())
