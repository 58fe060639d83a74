"""Store the ids of people that records name: newcomers choose none of these."""

import re
from collections.abc import Iterable
from typing import Final

from sqlalchemy import select

from agon.entities.access import folded_id
from agon.store.connection.transaction import Transaction
from agon.store.schema import PEOPLE

_AS_A_USER_S: Final = re.compile(r"[a-z0-9-]{1,63}")
"""Folded forms that ids of users can have; other ids are none of a user."""


class People:
    """The ids of people in the records of all contests; derived from records, never removed."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, contest_no: int, ids: Iterable[str]) -> None:
        """Add ids that records of a contest name; those that are there stay."""
        rows = [
            (folded, name, contest_no)
            for name in sorted(ids)
            if _AS_A_USER_S.fullmatch(folded := folded_id(name))
        ]
        if rows:
            self._transaction.execute_many(
                "INSERT INTO people (folded, id, contest_no) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                rows,
            )

    def contests_with(self, folded: str) -> list[int]:
        """Return the numbers of the contests that name a person whose id is read so."""
        query = select(PEOPLE.c.contest_no).where(PEOPLE.c.folded == folded).distinct()
        return [row.contest_no for row in self._transaction.all(query)]

    def is_named(self, contest_no: int, name: str) -> bool:
        """Return whether records of a contest name this id."""
        query = select(PEOPLE.c.id).where(
            PEOPLE.c.folded == folded_id(name),
            PEOPLE.c.id == name,
            PEOPLE.c.contest_no == contest_no,
        )
        return self._transaction.first(query) is not None
