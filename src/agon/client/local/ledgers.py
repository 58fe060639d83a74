"""Ledgers beside the database."""

from pathlib import Path

from agon.app.access.permissions import allow, viewed
from agon.app.contests.boards.publish import publish
from agon.app.contests.lifecycle import transfer
from agon.app.service import Service
from agon.client.values import ContestTold, HeadTold
from agon.entities.access import Caller


class LocalLedgers:
    """Carry ledgers out and in; see :class:`agon.client.ports.Ledgers`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def head(self, contest: str) -> HeadTold:
        """Return the signed head of the newest position."""
        with self._service.store.read() as session:
            found = viewed(session, contest, self._by).contest
        allow(self._by, "contest.read-live", contest=found)
        signed = transfer.signed_head(self._service, found)
        return HeadTold.model_validate(
            {
                **signed.head.to_dict(),
                "signature": signed.signature,
                "public_key": self._service.signer.public_key,
            }
        )

    def export(self, contest: str, folder: Path) -> None:
        """Write a contest's whole ledger as a new directory."""
        transfer.export(self._service, contest, folder, by=self._by)

    def take_in(self, folder: Path, *, id: str | None = None) -> ContestTold:  # noqa: A002 (a contest's id is called id everywhere)
        """Take in a ledger's directory, all of it or nothing, and publish."""
        taken = transfer.import_contest(self._service, folder, by=self._by, id=id)
        publish(self._service, taken.id)
        return ContestTold.model_validate(taken)
