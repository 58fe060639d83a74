"""Store contests."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from sqlalchemy import Row, func, select, update

from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, did_you_mean
from agon.kernel.times import to_micros
from agon.ledger.contest_state import ContestState
from agon.store.connection.entity_rows import columns_of, entity_of, entity_of_values
from agon.store.connection.transaction import Transaction
from agon.store.schema import CONTESTS

_SUGGESTED_AMONG = 1000
_NAMES = tuple(column.name for column in CONTESTS.columns)
_STATE_FIELDS = tuple(field.name for field in fields(ContestState))
_BY_ID = f"SELECT {', '.join(_NAMES)} FROM contests WHERE id = ?"
"""Every request runs this query, so its text is built once."""


class Contests:
    """Contests in the database; all columns but ``created_by`` are derived from their ledgers."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, contest: Contest) -> Contest:
        """Add a contest and return it with its number; the given ``no`` is ignored.

        Raises:
            Conflict: the id is taken.
        """
        existing = self._transaction.scalar(
            select(CONTESTS.c.no).where(CONTESTS.c.id == contest.id)
        )
        if existing is not None:
            raise _conflict(contest.id)
        values = {
            "created_at": to_micros(contest.created_at),
            "created_by": contest.created_by,
            **_values(contest),
        }
        adding = self._transaction.insert(CONTESTS).values(**values).on_conflict_do_nothing()
        no = self._transaction.scalar(adding.returning(CONTESTS.c.no))
        if no is None:
            raise _conflict(contest.id)
        return entity_of(Contest, self._row(CONTESTS.c.no == no))

    def get(self, contest_id: str) -> Contest:
        """Return a contest.

        Raises:
            NotFound: there is no such contest; the message suggests a similar id.
        """
        rows = self._transaction.query_once(_BY_ID, [contest_id])
        if not rows:
            raise self._missing(contest_id)
        return entity_of_values(Contest, rows[0], _NAMES)

    def by_no(self, no: int) -> Contest:
        """Return a contest by its number."""
        return entity_of(Contest, self._row(CONTESTS.c.no == no))

    def lock(self, contest_id: str) -> Contest:
        """Return a contest and lock it against other writers."""
        query = select(CONTESTS).where(CONTESTS.c.id == contest_id)
        row = self._transaction.lock_row(query, CONTESTS.name)
        if row is None:
            raise self._missing(contest_id)
        return entity_of(Contest, row)

    def created_by(self, user: str) -> frozenset[str]:
        """Return the ids of the contests that a user created."""
        query = select(CONTESTS.c.id).where(CONTESTS.c.created_by == user)
        return frozenset(row.id for row in self._transaction.all(query))

    def lock_series(self, series: str) -> None:
        """Lock a series, which has no row, so that no other session adds a contest to it."""
        if not self._transaction.on_sqlite:
            key = func.hashtextextended(f"series:{series}", 0)
            self._transaction.scalar(select(func.pg_advisory_xact_lock(key)))

    def save(self, contest: Contest) -> None:
        """Store the new state of a locked contest."""
        saving = update(CONTESTS).where(CONTESTS.c.no == contest.no).values(**_values(contest))
        if not self._transaction.change(saving):
            raise self._missing(contest.id)

    def page(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        disciplines: Collection[str] = (),
        series: str | None = None,
    ) -> list[Contest]:
        """Return contests in the order of their ids, those after an id; empty: of any."""
        listing = select(CONTESTS).order_by(CONTESTS.c.id).limit(limit)
        if after is not None:
            listing = listing.where(CONTESTS.c.id > after)
        if disciplines:
            listing = listing.where(CONTESTS.c.discipline.in_(disciplines))
        if series is not None:
            listing = listing.where(CONTESTS.c.series == series)
        return [entity_of(Contest, row) for row in self._transaction.all(listing)]

    def _row(self, condition: Any) -> Row[Any]:
        row = self._transaction.first(select(CONTESTS).where(condition))
        if row is None:
            raise NotFound("there is no contest with that number; list the contests")
        return row

    def _missing(self, contest_id: str) -> NotFound:
        # Private contests must not be revealed by a suggestion.
        public = select(CONTESTS.c.id).where(CONTESTS.c.visibility == "public")
        ids = [row.id for row in self._transaction.all(public.limit(_SUGGESTED_AMONG))]
        hint = did_you_mean(contest_id, ids) if ids else "no contest is public yet"
        return NotFound(f"there is no contest {contest_id!r}; {hint}")


def _conflict(contest_id: str) -> Conflict:
    return Conflict(f"contest {contest_id!r} exists; choose another id")


def _values(contest: Contest) -> dict[str, Any]:
    """Return the columns that follow from the ledger."""
    columns = columns_of(contest)
    return {name: columns[name] for name in _STATE_FIELDS}
