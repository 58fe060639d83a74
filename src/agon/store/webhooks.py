"""Webhooks and their deliveries in the database."""

from typing import Any

from sqlalchemy import Select, delete, select

from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import NotFound
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import Transaction, json_text
from agon.store.paging import newest_first
from agon.store.schema import DELIVERIES, EVENTS, WEBHOOKS


class Webhooks:
    """Webhooks and their deliveries in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, webhook: Webhook) -> None:
        """Insert or update a webhook."""
        self._transaction.upsert(WEBHOOKS, columns_of(webhook))

    def get(self, webhook_id: str) -> Webhook:
        """Return a webhook.

        Raises:
            NotFound: there is no such webhook.
        """
        row = self._transaction.first(select(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id))
        if row is None:
            raise NotFound(f"there is no webhook {webhook_id!r}; list those of the contest")
        return entity_of(Webhook, row)

    def of(self, contest_no: int) -> list[Webhook]:
        """Return a contest's webhooks in the order they were created."""
        listing = select(WEBHOOKS).where(WEBHOOKS.c.contest_no == contest_no)
        listing = listing.order_by(WEBHOOKS.c.created_at, WEBHOOKS.c.id)
        return [entity_of(Webhook, row) for row in self._transaction.all(listing)]

    def remove(self, webhook_id: str) -> None:
        """Remove a webhook and its deliveries.

        Raises:
            NotFound: there is no such webhook.
        """
        self.get(webhook_id)
        self._transaction.change(delete(DELIVERIES).where(DELIVERIES.c.webhook_id == webhook_id))
        self._transaction.change(delete(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id))

    def log(self, delivery: DeliveryLog) -> None:
        """Insert or update a delivery."""
        self._transaction.upsert(DELIVERIES, columns_of(delivery))

    def delivery(self, delivery_id: str) -> DeliveryLog:
        """Return a delivery.

        Raises:
            NotFound: there is no such webhook.
        """
        asking = select(DELIVERIES).where(DELIVERIES.c.id == delivery_id)
        return self._delivery(asking, delivery_id)

    def lock_delivery(self, delivery_id: str) -> DeliveryLog:
        """Return a delivery and lock it against other writers until the session ends.

        Raises:
            NotFound: there is no delivery of that id.
        """
        locking = select(DELIVERIES).where(DELIVERIES.c.id == delivery_id).with_for_update()
        return self._delivery(locking, delivery_id)

    def have_tried(self, contest_no: int, *, kind: str, seq: int) -> bool:
        """Return whether any webhook was sent an event, with or without success."""
        asking = (
            select(DELIVERIES.c.id)
            .join(EVENTS, EVENTS.c.no == DELIVERIES.c.event_no)
            .where(
                EVENTS.c.contest_no == contest_no,
                EVENTS.c.kind == kind,
                EVENTS.c.seq == seq,
                DELIVERIES.c.attempts != json_text(()),
            )
            .limit(1)
        )
        return self._transaction.first(asking) is not None

    def deliveries(
        self, webhook_id: str, *, after: str | None = None, limit: int = 100
    ) -> list[DeliveryLog]:
        """Return a webhook's deliveries, newest first, those older than one."""
        last = None if after is None else self.delivery(after)
        listing = newest_first(
            select(DELIVERIES).where(DELIVERIES.c.webhook_id == webhook_id),
            (DELIVERIES.c.created_at, DELIVERIES.c.id),
            after=None if last is None else (last.created_at, last.id),
            limit=limit,
        )
        return [entity_of(DeliveryLog, row) for row in self._transaction.all(listing)]

    def _delivery(self, asking: Select[Any], delivery_id: str) -> DeliveryLog:
        row = self._transaction.first(asking)
        if row is None:
            raise NotFound(f"there is no delivery {delivery_id!r}; list those of the webhook")
        return entity_of(DeliveryLog, row)
