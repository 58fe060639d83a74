"""Entities of contests that have an id each, in a table of their own."""

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import Row, Select, Table, delete, select

from agon.errors import NotFound
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import Transaction
from agon.store.paging import newest_first, oldest_first

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class ContestRows(Generic[T]):
    """The entities of a table with the columns ``contest_no`` and ``id``, ordered by a time.

    A table without further queries needs no class of its own: ``ContestRows.of(…)`` is an attribute
    of :class:`~agon.store.session.Session`. Others inherit from this one.

    Args:
        transaction: the session's.
        table: the table; its columns are named as the fields of the entity.
        entity: the class of the entities.
        noun: what one is called in messages.
        time: the column that orders them.
    """

    def __init__(
        self, transaction: Transaction, table: Table, entity: type[T], *, noun: str, time: str
    ) -> None:
        self._transaction = transaction
        self._table = table
        self._entity = entity
        self._noun = noun
        self._time = time

    @classmethod
    def of(
        cls, table: Table, entity: type[T], *, noun: str, time: str
    ) -> "Callable[[Transaction], ContestRows[T]]":
        """Return the function that makes these rows of a transaction; arguments as of the class."""
        return partial(cls, table=table, entity=entity, noun=noun, time=time)

    def add(self, entity: T) -> None:
        """Insert an entity."""
        adding = self._transaction.insert(self._table).values(**columns_of(entity))
        self._transaction.change(adding)

    def save(self, entity: T) -> None:
        """Insert or update an entity."""
        self._transaction.upsert(self._table, columns_of(entity))

    def find(self, contest_no: int, name: str) -> T | None:
        """Return an entity by its id; None: the contest has none."""
        listing = self._of(contest_no).where(self._table.c.id == name)
        row = self._transaction.first(listing)
        return None if row is None else self._read(row)

    def get(self, contest_no: int, name: str) -> T:
        """Return an entity by its id.

        Raises:
            NotFound: the contest has none.
        """
        entity = self.find(contest_no, name)
        if entity is None:
            raise NotFound(f"the contest has no {self._noun} {name!r}; list those it has")
        return entity

    def page(
        self,
        contest_no: int,
        *,
        after: str | None = None,
        limit: int = 100,
        descending: bool = False,
    ) -> list[T]:
        """Return entities by their times, those after one with an id.

        Args:
            contest_no: the contest.
            after: the id of the entity before the page; None: from the beginning.
            limit: maximum number of entities.
            descending: whether the newest is the first.

        Raises:
            NotFound: ``after`` is none of the contest.
        """
        last = None if after is None else self.get(contest_no, after)
        return self._page(self._of(contest_no), last=last, limit=limit, descending=descending)

    def remove(self, name: str) -> None:
        """Remove the entity with an id."""
        self._transaction.change(delete(self._table).where(self._table.c.id == name))

    def _page(
        self, listing: Select[Any], *, last: T | None, limit: int, descending: bool = False
    ) -> list[T]:
        order = newest_first if descending else oldest_first
        ordered = order(
            listing,
            (self._table.c[self._time], self._table.c.id),
            after=None if last is None else (getattr(last, self._time), vars(last)["id"]),
            limit=limit,
        )
        return [self._read(row) for row in self._transaction.all(ordered)]

    def _of(self, contest_no: int) -> Select[Any]:
        return select(self._table).where(self._table.c.contest_no == contest_no)

    def _read(self, row: Row[Any]) -> T:
        return entity_of(self._entity, row)
