"""Describe what a publication did to the ranks of a board: who moved, from where to where, why."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson
import pyarrow.compute as pc

from agon.app.contests.boards.steps import GONE, Ranking
from agon.entities.contests import Contest
from agon.ledger.kinds import KINDS
from agon.store.session import Session

MAX_MOVES_PER_EVENT: Final = 500
"""Maximum number of moves in one event, which bounds its size."""

_COUNTED: Final = ("decision-made", "problem-published", "problem-revealed", "round-settled")
_REASONED: Final = ("adjustment-made", "change-rolled-back", "edition-adopted", "records-voided")
_NO_RECORDS: Final = tuple(sorted(KINDS.keys() - {"record-added", "record-replaced"}))
_NO_RANK: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class RankChanges:
    """The moves of a publication on one board.

    Attributes:
        after: position of the board before; 0: there was none.
        moves: the participants whose rank changed, the best ranks first, as many as are listed.
        total: how many participants' ranks changed.
        causes: what was entered since the board before, as far as it can change ranks.
    """

    after: int
    moves: tuple[Mapping[str, Any], ...]
    total: int
    causes: tuple[Mapping[str, Any], ...]

    def bodies(self, board: str) -> Iterator[dict[str, Any]]:
        """Yield the bodies of the events that announce the moves; none if no rank changed."""
        for first in range(0, len(self.moves), MAX_MOVES_PER_EVENT):
            yield {
                "board": board,
                "after": self.after,
                "causes": list(self.causes),
                "total": self.total,
                "moved": list(self.moves[first : first + MAX_MOVES_PER_EVENT]),
            }


def causes_between(
    session: Session, contest: Contest, *, after: int, until: int
) -> list[dict[str, Any]]:
    """Return what can have changed ranks among the entries later than a position.

    A change set is named with its reason; other entries are counted by kind. Where nothing of this
    was entered, only the ledger's time differs, on which the rules of some boards depend.
    """
    changes = session.changes.causes_between(contest.no, after + 1, until)
    known = {cause.change for cause in changes.values()}
    causes: list[dict[str, Any]] = [
        {
            "kind": "change-rolled-back" if cause.rolled_back else "change-applied",
            "change": cause.change,
            "change_kind": cause.kind,
            "reason": cause.reason,
        }
        for _, cause in sorted(changes.items())
    ]
    kinds: Counter[str] = Counter()
    for entry in session.entries.of_kind(contest.no, _NO_RECORDS, after=after, until=until):
        parsed = orjson.loads(entry.line)
        kind, body = parsed["kind"], parsed["body"]
        kinds[kind] += 1
        if kind in _REASONED and body.get("change") not in known:
            more = ("edition", "overrides") if kind == "edition-adopted" else ()
            causes.append({"kind": kind, **{key: body[key] for key in (*more, "reason")}})
    causes += [{"kind": kind, "count": kinds[kind]} for kind in _COUNTED if kinds[kind]]
    # Records are most of a ledger: what was not read as another kind is counted as one.
    records = until - after - kinds.total()
    if changes:
        records -= _records_of_changes(session, contest, after=after, until=until)
    if records:
        causes.insert(0, {"kind": "records", "count": records})
    return causes or [{"kind": "time"}]


def _records_of_changes(session: Session, contest: Contest, *, after: int, until: int) -> int:
    """Return how many records change sets have entered."""
    # Most lines are of no change set; a look at the bytes spares parsing them.
    lines = (entry.line for entry in session.entries.after(contest.no, after, until=until))
    entries = (orjson.loads(line) for line in lines if b'"change":"' in line)
    return sum(
        entry["kind"] not in _NO_RECORDS and entry["body"].get("change") is not None
        for entry in entries
    )


def rank_moves(
    before: Ranking, after: Ranking, *, limit: int | None
) -> tuple[tuple[Mapping[str, Any], ...], int]:
    """Return the changed ranks, the best first, and how many there are.

    Who enters or leaves the board has no rank before or after, with the reason if there is one.

    Args:
        before: the board as it was published last.
        after: the board now.
        limit: maximum number of moves; None: all.
    """
    old, new = before.table, after.table
    places = pc.fill_null(pc.index_in(new["id"], value_set=old["id"]), -1).to_numpy()
    ranks_old, ranks_new = old["rank"].to_numpy(), new["rank"].to_numpy()
    ranks_before = np.append(ranks_old, _NO_RANK)[places]
    moved = np.flatnonzero(ranks_before != ranks_new)
    left = np.setdiff1d(np.arange(len(old)), places)
    old_places = np.concatenate([places[moved], left])
    new_places = np.concatenate([moved, np.full(len(left), -1)])
    best = np.concatenate([np.minimum(ranks_before[moved], ranks_new[moved]), ranks_old[left]])
    order = np.argsort(best, kind="stable")[:limit]
    pairs = zip(old_places[order].tolist(), new_places[order].tolist(), strict=True)
    return tuple(_move(before, after, *pair) for pair in pairs), len(best)


def _move(before: Ranking, after: Ranking, old: int, new: int) -> dict[str, Any]:
    """Return one participant's move; a place of -1 is none on that board."""
    name = before.table["id"][old].as_py() if new < 0 else after.table["id"][new].as_py()
    return {
        "id": name,
        "from": _position(before, old, name, absent=None),
        "to": _position(after, new, name, absent=GONE),
    }


def _position(ranking: Ranking, place: int, name: str, *, absent: str | None) -> dict[str, Any]:
    if place < 0:
        reason = ranking.unscored.get(name, absent)
        return {"rank": None, "score": None, "reason": reason}
    return {column: ranking.table[column][place].as_py() for column in ("rank", "score")}
