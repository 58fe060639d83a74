"""Invitations in the database."""

from sqlalchemy import func, select, update

from agon.entities.invitations import Invitation
from agon.store.connection.entity_rows import columns_of
from agon.store.connection.transaction import Transaction
from agon.store.contest_rows import ContestRows
from agon.store.schema import INVITATIONS


class Invitations(ContestRows[Invitation]):
    """Invitations in the database."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction, INVITATIONS, Invitation, noun="invitation", time="created_at")

    def lock(self, invitation_id: str) -> Invitation | None:
        """Return an invitation and lock it against other writers until the session ends."""
        query = select(INVITATIONS).where(INVITATIONS.c.id == invitation_id)
        row = self._transaction.first(query.with_for_update())
        return None if row is None else self._read(row)

    def save(self, invitation: Invitation) -> None:
        """Update a locked invitation; one that was revoked stays revoked."""
        values = columns_of(invitation)
        values["revoked_at"] = func.coalesce(INVITATIONS.c.revoked_at, values["revoked_at"])
        self._transaction.change(
            update(INVITATIONS).where(INVITATIONS.c.id == invitation.id).values(**values)
        )
