"""Store events, numbered in the order in which they became visible."""

from dataclasses import replace
from typing import Final

from sqlalchemy import func, or_, select

from agon.entities.contests import Event
from agon.ledger.transitions import SHOWN_IN_FREEZE
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import Transaction
from agon.store.schema import EVENTS

_NUMBERING_LOCK: Final = 0x61676F6E  # "agon": the advisory lock for numbering events


class Events:
    """Events in the database, for streams that can be resumed and for webhooks."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, event: Event) -> Event:
        """Store an event and return it with its number.

        PostgreSQL assigns numbers before commits: without the lock a stream could read event 8,
        resume after it, and miss event 7, committed slightly later.
        """
        if not self._transaction.on_sqlite:
            self._transaction.scalar(select(func.pg_advisory_xact_lock(_NUMBERING_LOCK)))
        values = columns_of(event)
        del values["no"]  # the database assigns it
        adding = self._transaction.insert(EVENTS).values(**values).returning(EVENTS.c.no)
        return replace(event, no=self._transaction.scalar(adding))

    def after(
        self,
        no: int,
        *,
        contest_no: int | None = None,
        until: int | None = None,
        user: str | None = None,
        limit: int = 500,
    ) -> list[Event]:
        """Return events numbered above ``no``.

        Args:
            no: number of the last known event.
            contest_no: the contest.
            until: their last ledger position; events for ``user``, and those that no freeze hides,
                may be later.
            user: the user who reads them.
            limit: maximum number of events.
        """
        listing = select(EVENTS).where(EVENTS.c.no > no)
        if contest_no is not None:
            listing = listing.where(EVENTS.c.contest_no == contest_no)
        if until is not None:
            visible = or_(EVENTS.c.seq <= until, EVENTS.c.kind.in_(sorted(SHOWN_IN_FREEZE)))
            own = () if user is None else (EVENTS.c.user == user,)
            listing = listing.where(or_(visible, *own))
        rows = self._transaction.all(listing.order_by(EVENTS.c.no).limit(limit))
        return [entity_of(Event, row) for row in rows]

    def last(self) -> int:
        """Return the number of the newest event, 0 if there is none."""
        return self._transaction.scalar(select(func.max(EVENTS.c.no))) or 0
