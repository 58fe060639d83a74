"""Store the work of live arenas: what bots and judges have to do, and its results.

Each answer and each vote is a transaction of its own, and a round has hundreds. So what these run
is text that the driver gets as it is: SQLAlchemy takes longer to put a statement together than
SQLite to run it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import Row, Select, func, select, update

from agon.entities.arena import LiveBot, Work, WorkKind
from agon.errors import NotFound
from agon.kernel.times import to_micros
from agon.store.connection.entity_rows import columns_of, entity_of, entity_of_values
from agon.store.connection.transaction import Transaction, parse_json
from agon.store.schema import LIVE_BOTS, ROUNDS, WORK

T = TypeVar("T")

BATCH: Final = 1_000
"""Number of ids one query asks for."""

_COLUMNS: Final = tuple(WORK.c.keys())
_BOT_COLUMNS: Final = tuple(LIVE_BOTS.c.keys())

_RESULT_COLUMNS: Final = [column for column in WORK.c if column.name not in {"body", "handed_in"}]
"""Columns of work without what was asked."""

_RESULT: Final = ("result", "result_at", "handed_in", "latency_ms")

_WORK: Final = f"SELECT {', '.join(_COLUMNS)} FROM work WHERE id = ?"

_WITH_BOT: Final = f"""
SELECT {", ".join(f"w.{name}" for name in _COLUMNS)},
  {", ".join(f'b."{name}"' for name in _BOT_COLUMNS)}
FROM work w JOIN rounds r ON r.contest_no = w.contest_no AND r.id = w.round
  LEFT JOIN live_bots b ON b.contest_no = w.contest_no AND b.id = w.assignee
WHERE w.id = ?
"""

_ROUND: Final = "SELECT id FROM rounds WHERE contest_no = ? AND id = ?"

_SUMMARY: Final = "SELECT summary FROM rounds WHERE contest_no = ? AND id = ?"

_LOCKING: Final = " FOR NO KEY UPDATE SKIP LOCKED"
"""Of PostgreSQL; SQLite has one writer at a time. A query that finds nothing waits for the lock."""

_WITHOUT_RESULT: Final = "SELECT id FROM work WHERE result IS NULL"

_SET: Final = f"UPDATE work SET {', '.join(f'{name} = ?' for name in _RESULT)} WHERE id = ?"

_SET_UNLESS_SET: Final = f"""
{_SET} AND result IS NULL
RETURNING EXISTS (SELECT 1 FROM work waiting WHERE waiting.contest_no = ? AND waiting.round = ?
  AND waiting.result IS NULL AND waiting.id <> ?)
"""

_SET_LATENCY: Final = "UPDATE live_bots SET latency_ms = ? WHERE contest_no = ? AND id = ?"


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """What became of a result that was handed in.

    Attributes:
        is_stored: whether the work had none before.
        is_last: whether it is stored, and no other work of the round waits.
    """

    is_stored: bool
    is_last: bool


class ArenaWork:
    """Work of live arenas in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def require_lock(self, contest_no: int, round_id: str) -> None:
        """Lock a round against other writers until the session ends, without reading it.

        Raises:
            NotFound: the contest has no such round.
        """
        locking = "" if self._transaction.on_sqlite else _LOCKING
        if self._transaction.query(_ROUND + locking, [contest_no, round_id]):
            return
        identity = select(ROUNDS.c.id).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.id == round_id
        )
        require_round(self._transaction.lock_row(identity, ROUNDS.name), round_id)

    def work(self, work_id: str) -> Work:
        """Return a piece of work.

        Raises:
            NotFound: there is none of that id.
        """
        rows = self._transaction.query(_WORK, [work_id])
        if not rows:
            raise NotFound(f"there is no work {work_id!r}; ask for the work that waits")
        return entity_of_values(Work, rows[0], _COLUMNS)

    def lock_work(self, work_id: str) -> tuple[Work, LiveBot | None]:
        """Return a piece of work and its bot, and lock its round; None: a person's.

        Raises:
            NotFound: there is none of that id.
        """
        locking = "" if self._transaction.on_sqlite else " FOR NO KEY UPDATE OF r SKIP LOCKED"
        rows = self._transaction.query(_WITH_BOT + locking, [work_id])
        if not rows:
            item = self.work(work_id)
            self.require_lock(item.contest_no, item.round)
            rows = self._transaction.query(_WITH_BOT, [work_id])
        row, count = rows[0], len(_COLUMNS)
        bot_row = row[count:]
        bot = None if bot_row[0] is None else entity_of_values(LiveBot, bot_row, _BOT_COLUMNS)
        return entity_of_values(Work, row[:count], _COLUMNS), bot

    def assignment_of(self, contest_no: int, match: str) -> Work | None:
        """Return the work that names a match so, without what was asked; None: there is none."""
        asking = select(*_RESULT_COLUMNS).where(
            WORK.c.contest_no == contest_no, WORK.c.match == match
        )
        row = self._transaction.first(asking.limit(1))
        return None if row is None else entity_of(Work, row, body={})

    def add_work(self, items: Iterable[Work]) -> None:
        """Insert work; what is assigned already stays as it is."""
        adding = self._transaction.insert(WORK).on_conflict_do_nothing()
        self._transaction.change_many(adding, [columns_of(item) for item in items])

    def restart_work(
        self, contest_no: int, *, now: datetime, made_after: datetime | None = None
    ) -> None:
        """Give the open work of a contest its whole time again, from now on.

        Args:
            contest_no: the contest.
            now: the time.
            made_after: only work that was made after this time; None: all.
        """
        micros = to_micros(now)
        again = update(WORK).where(WORK.c.contest_no == contest_no, WORK.c.result.is_(None))
        if made_after is not None:
            again = again.where(WORK.c.created_at > to_micros(made_after))
        lasts = WORK.c.deadline - WORK.c.created_at
        self._transaction.change(again.values(deadline=lasts + micros, created_at=micros))

    def results_of(self, contest_no: int, round_id: str, kind: WorkKind) -> list[Work]:
        """Return a round's work of a kind, by match and assignee, without what was asked."""
        listing = select(*_RESULT_COLUMNS).where(
            WORK.c.contest_no == contest_no, WORK.c.round == round_id, WORK.c.kind == kind
        )
        rows = self._transaction.all(listing.order_by(WORK.c.match, WORK.c.assignee))
        return [entity_of(Work, row, body={}) for row in rows]

    def stated_versions(self, contest_no: int, round_id: str) -> dict[str, str]:
        """Return the last version that each bot stated in its replies of a round."""
        listing = select(WORK.c.assignee, WORK.c.result).where(
            WORK.c.contest_no == contest_no,
            WORK.c.round == round_id,
            WORK.c.result.like('%"version"%'),
        ).order_by(WORK.c.created_at, WORK.c.match, WORK.c.kind)  # fmt: skip
        results = [(row.assignee, parse_json(row.result)) for row in self._transaction.all(listing)]
        return {name: result["version"] for name, result in results if "version" in result}

    def work_to_send(self, contest_no: int, round_id: str) -> list[Work]:
        """Return the work of a round for endpoints that has no result, by match and assignee."""
        listing = select(WORK).where(
            WORK.c.contest_no == contest_no,
            WORK.c.round == round_id,
            WORK.c.pushed.is_(True),
            WORK.c.result.is_(None),
        )
        return self._all(Work, listing.order_by(WORK.c.match, WORK.c.assignee))

    def waiting_work(self, contest_no: int, assignee: str, *, now: datetime) -> list[Work]:
        """Return the open work of an assignee whose deadline is to come, oldest first."""
        listing = select(WORK).where(
            WORK.c.contest_no == contest_no,
            WORK.c.assignee == assignee,
            WORK.c.result.is_(None),
            WORK.c.deadline > to_micros(now),
            WORK.c.pushed.is_(False),
        )
        return self._all(Work, listing.order_by(WORK.c.created_at, WORK.c.id))

    def assignees(self, *, now: datetime) -> set[tuple[int, str]]:
        """Return contest and assignee of all work that is asked for and has no result in time."""
        asking = select(WORK.c.contest_no, WORK.c.assignee).distinct()
        asking = asking.where(
            WORK.c.result.is_(None), WORK.c.deadline > to_micros(now), WORK.c.pushed.is_(False)
        )
        return {(row.contest_no, row.assignee) for row in self._transaction.all(asking)}

    def waiting_count(self, contest_no: int, round_id: str, *, without: Sequence[str] = ()) -> int:
        """Return how much work of a round has no result, but for that of some matches."""
        waiting = _waiting(contest_no, round_id).where(WORK.c.match.not_in(without)).subquery()
        return self._transaction.scalar(select(func.count()).select_from(waiting)) or 0

    def latencies(self, contest_no: int) -> list[tuple[WorkKind, str, float]]:
        """Return kind, assignee and milliseconds of all work that was done without a fault.

        For work that was not sent to an endpoint, it is the time from its assignment.
        """
        listing = select(WORK.c.kind, WORK.c.assignee, WORK.c.latency_ms, WORK.c.created_at,
                         WORK.c.result_at).where(
            WORK.c.contest_no == contest_no,
            WORK.c.result.is_not(None),
            WORK.c.result.not_like('{"fault"%'),
        ).order_by(WORK.c.assignee, WORK.c.kind)  # fmt: skip
        return [
            (row.kind, row.assignee, row.latency_ms or (row.result_at - row.created_at) / 1000)
            for row in self._transaction.all(listing)
        ]

    def set_result(self, done: Work) -> StoredResult:
        """Store the result of work whose round is locked, unless it has one; a single statement."""
        values = [*_result_of(done), done.id, done.contest_no, done.round, done.id]
        rows = self._transaction.query(_SET_UNLESS_SET, values)
        return StoredResult(is_stored=bool(rows), is_last=bool(rows) and not rows[0][0])

    def can_fall(self, contest_no: int, round_id: str) -> bool:
        """Return whether a judge of a round may leave the pool before it has cast all its votes.

        Asked for each vote that is stored.
        """
        rows = self._transaction.query(_SUMMARY, [contest_no, round_id])
        if not rows:
            raise _no_round(round_id)
        return bool(parse_json(rows[0][0]).get("can_fall"))

    def set_results(self, done: Sequence[Work]) -> list[Work]:
        """Store the results of work that has none, whose round is locked; return that work."""
        unsaved = set[str]()
        for start in range(0, len(done), BATCH):
            ids = [each.id for each in done[start : start + BATCH]]
            missing = f"{_WITHOUT_RESULT} AND id IN ({', '.join('?' * len(ids))})"
            unsaved |= {name for (name,) in self._transaction.query(missing, ids)}
        saved = [each for each in done if each.id in unsaved]
        self._transaction.execute_many(_SET, [(*_result_of(each), each.id) for each in saved])
        return saved

    def set_latencies(self, contest_no: int, latencies: Mapping[str, float]) -> None:
        """Store how long the last replies of bots took; owners may change these bots meanwhile."""
        rows = [(milliseconds, contest_no, name) for name, milliseconds in latencies.items()]
        self._transaction.execute_many(_SET_LATENCY, rows)

    def _all(self, kind: type[T], listing: Select[Any]) -> list[T]:
        return [entity_of(kind, row) for row in self._transaction.all(listing)]


def _result_of(done: Work) -> list[Any]:
    """Return the columns of the result of work."""
    written = columns_of(done)
    return [written[name] for name in _RESULT]


def _waiting(contest_no: int, round_id: str) -> Select[Any]:
    """Return the query for work of a round without a result."""
    return select(WORK.c.id).where(
        WORK.c.contest_no == contest_no, WORK.c.round == round_id, WORK.c.result.is_(None)
    )


def require_round(row: Row[Any] | None, round_id: str) -> Row[Any]:
    """Return the row of a round; raise NotFound for None."""
    if row is None:
        raise _no_round(round_id)
    return row


def _no_round(round_id: str) -> NotFound:
    return NotFound(f"the contest has no round {round_id!r}; list its rounds")
