"""Store the history of each participant on the boards."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlalchemy import select

from agon.entities.contests import HistoryStep
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import Transaction
from agon.store.paging import next_text
from agon.store.schema import HISTORIES

_NAMES: Final = [column.name for column in HISTORIES.columns]
_LISTED: Final = ", ".join(f'"{name}"' for name in _NAMES)
_VALUES: Final = ("at", "rank", "score", "reason")


class Histories:
    """The histories of participants on the boards; derived from snapshots, for reading."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, contest_no: int, board: str, steps: Iterable[HistoryStep]) -> None:
        """Add steps, fast for many; an existing step is replaced."""
        rows = _rows(contest_no, board, steps)
        if self._transaction.on_sqlite:
            marks = ", ".join("?" * len(_NAMES))
            self._transaction.execute_many(
                f"INSERT OR REPLACE INTO histories ({_LISTED}) VALUES ({marks})", rows
            )
            return
        self._transaction.execute(
            "CREATE TEMPORARY TABLE IF NOT EXISTS arriving (LIKE histories, "
            "number bigint GENERATED ALWAYS AS IDENTITY) ON COMMIT DROP"
        )
        self._transaction.execute("TRUNCATE arriving RESTART IDENTITY")
        self._transaction.copy(HISTORIES, rows, into="arriving")
        assignments = ", ".join(f'"{name}" = excluded."{name}"' for name in _VALUES)
        self._transaction.execute(
            f"INSERT INTO histories ({_LISTED}) SELECT DISTINCT ON (participant, seq) {_LISTED} "
            "FROM arriving ORDER BY participant, seq, number DESC "
            f"ON CONFLICT (contest_no, board, participant, seq) DO UPDATE SET {assignments}"
        )

    def of(
        self,
        contest_no: int,
        board: str,
        participant: str,
        *,
        until: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[HistoryStep]:
        """Return a participant's steps in ledger order."""
        asking = select(HISTORIES).where(
            HISTORIES.c.contest_no == contest_no,
            HISTORIES.c.board == board,
            HISTORIES.c.participant == participant,
            HISTORIES.c.seq > after,
        )
        if until is not None:
            asking = asking.where(HISTORIES.c.seq <= until)
        return [
            HistoryStep(
                id=row.participant,
                seq=row.seq,
                at=from_micros(row.at),
                rank=row.rank,
                score=row.score,
                reason=row.reason,
            )
            for row in self._transaction.all(asking.order_by(HISTORIES.c.seq).limit(limit))
        ]

    def names(
        self,
        contest_no: int,
        board: str,
        *,
        begins: str,
        after: str | None = None,
        until: int | None = None,
        limit: int = 50,
    ) -> list[str]:
        """Return ids that have steps on a board and begin with a text, by code point.

        Args:
            contest_no: the contest.
            board: the board.
            begins: the text.
            after: the id before the first.
            until: leave out ids whose steps are all of later positions.
            limit: maximum number of ids.
        """
        end = next_text(begins)
        bound, bounds = ("", []) if end is None else ("AND participant < ?", [end])
        bounds_of_board = [contest_no, board]
        visible = "" if until is None else f"AND ({_FIRST_SEQ}) <= ?"
        rows = self._transaction.query(
            _NAMES_FROM.format(bound=bound, relation=">=" if after is None else ">", seen=visible),
            [
                *bounds_of_board, begins if after is None else max(begins, after), *bounds,
                *bounds_of_board, *bounds,
                *([] if until is None else [*bounds_of_board, until]),
                limit,
            ],
        )  # fmt: skip
        return [name for (name,) in rows]


_HERE: Final = "FROM histories WHERE contest_no = ? AND board = ?"
_FIRST_SEQ: Final = f"SELECT min(seq) {_HERE} AND participant = known.name"
_NEXT: Final = f"SELECT participant {_HERE} AND participant {{}} {{{{bound}}}} ORDER BY 1 LIMIT 1"
_NAMES_FROM: Final = f"""
WITH RECURSIVE known (name) AS (
    SELECT ({_NEXT.format("{relation} ?")})
    UNION ALL
    SELECT ({_NEXT.format("> known.name")}) FROM known WHERE known.name IS NOT NULL
)
SELECT name FROM known WHERE name IS NOT NULL {{seen}} LIMIT ?
"""
"""Jump from id to id within the primary key's index, over all the steps in between.

``ORDER BY … LIMIT 1``, because PostgreSQL may scan the complete range for a ``min``.
"""


def _rows(contest_no: int, board: str, steps: Iterable[HistoryStep]) -> Iterator[tuple[Any, ...]]:
    time_before, counted = None, 0
    for step in steps:
        if step.at is not time_before:  # most of a batch have the same time
            time_before, counted = step.at, to_micros(step.at)
        yield (
            contest_no, board, step.id, step.seq, counted, step.rank, step.score, step.reason,
        )  # fmt: skip
