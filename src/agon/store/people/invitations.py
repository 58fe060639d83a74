"""Invitations, and people who wait for approval, in the database."""

from typing import Any

from sqlalchemy import Row, delete, func, select, update

from agon.entities.invitations import Invitation, JoinRequest
from agon.errors import NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import Transaction, from_micros_or_none, to_micros_or_none
from agon.store.paging import oldest_first
from agon.store.schema import INVITATIONS, JOIN_REQUESTS

_TIMES = ("expires_at", "revoked_at")


class Invitations:
    """Invitations in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, invitation: Invitation) -> None:
        """Add an invitation."""
        self._transaction.change(
            self._transaction.insert(INVITATIONS).values(**_values(invitation))
        )

    def lock(self, invitation_id: str) -> Invitation | None:
        """Return an invitation and lock it against other writers until the session ends."""
        query = select(INVITATIONS).where(INVITATIONS.c.id == invitation_id)
        row = self._transaction.first(query.with_for_update())
        return None if row is None else _invitation(row)

    def save(self, invitation: Invitation) -> None:
        """Update a locked invitation; one that was revoked stays revoked."""
        values = _values(invitation)
        values["revoked_at"] = func.coalesce(INVITATIONS.c.revoked_at, values["revoked_at"])
        self._transaction.change(
            update(INVITATIONS).where(INVITATIONS.c.id == invitation.id).values(**values)
        )

    def page(
        self, contest_no: int, *, after: str | None = None, limit: int = 100
    ) -> list[Invitation]:
        """Return a contest's invitations in the order they were created, those after one.

        Raises:
            NotFound: ``after`` is no invitation.
        """
        last = None
        if after is not None:
            last = self._transaction.first(select(INVITATIONS).where(INVITATIONS.c.id == after))
            if last is None:
                raise NotFound("there is no such invitation; list the invitations again")
        listing = oldest_first(
            select(INVITATIONS).where(INVITATIONS.c.contest_no == contest_no),
            (INVITATIONS.c.created_at, INVITATIONS.c.id),
            after=None if last is None else (from_micros(last.created_at), last.id),
            limit=limit,
        )
        return [_invitation(row) for row in self._transaction.all(listing)]

    def add_request(self, request: JoinRequest) -> None:
        """Add a person who waits for approval."""
        values = dict(vars(request))
        values |= {"user_id": values.pop("user"), "created_at": to_micros(request.created_at)}
        self._transaction.change(self._transaction.insert(JOIN_REQUESTS).values(**values))

    def request(self, contest_no: int, request_id: str) -> JoinRequest | None:
        """Return a person who waits for approval."""
        query = select(JOIN_REQUESTS).where(
            JOIN_REQUESTS.c.contest_no == contest_no, JOIN_REQUESTS.c.id == request_id
        )
        row = self._transaction.first(query)
        return None if row is None else _request(row)

    def requests(
        self, contest_no: int, *, after: str | None = None, limit: int = 100
    ) -> list[JoinRequest]:
        """Return the people who wait for approval, longest first, those after one.

        Raises:
            NotFound: ``after`` does not wait any more.
        """
        last = None if after is None else self.request(contest_no, after)
        if after is not None and last is None:
            raise NotFound("there is no such request to join; list the requests again")
        listing = oldest_first(
            select(JOIN_REQUESTS).where(JOIN_REQUESTS.c.contest_no == contest_no),
            (JOIN_REQUESTS.c.created_at, JOIN_REQUESTS.c.id),
            after=None if last is None else (last.created_at, last.id),
            limit=limit,
        )
        return [_request(row) for row in self._transaction.all(listing)]

    def remove_request(self, request_id: str) -> None:
        """Remove a person who waits for approval."""
        removing = delete(JOIN_REQUESTS).where(JOIN_REQUESTS.c.id == request_id)
        self._transaction.change(removing)


def _request(row: Row[Any]) -> JoinRequest:
    values = row._asdict()
    values |= {"user": values.pop("user_id"), "created_at": from_micros(values["created_at"])}
    return JoinRequest(**values)


def _values(invitation: Invitation) -> dict[str, Any]:
    values = dict(vars(invitation))
    values["user_id"] = values.pop("user")
    values["created_at"] = to_micros(invitation.created_at)
    return values | {name: to_micros_or_none(values[name]) for name in _TIMES}


def _invitation(row: Row[Any]) -> Invitation:
    values = row._asdict()
    values["user"] = values.pop("user_id")
    values["created_at"] = from_micros(values["created_at"])
    return Invitation(**values | {name: from_micros_or_none(values[name]) for name in _TIMES})
