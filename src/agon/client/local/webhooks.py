"""Webhooks beside the database."""

from collections.abc import Iterator, Sequence

from agon.app.access.permissions import View, viewed
from agon.app.service import Service
from agon.app.webhooks import resend, subscriptions
from agon.client.values import DeliveryTold, WebhookTold
from agon.entities.access import Caller

_PAGE = 100


class LocalWebhooks:
    """Say where events are sent; see :class:`agon.client.ports.Webhooks`.

    Deliveries wait for a worker.
    """

    def __init__(self, service: Service, by: Caller, *, allow_private: bool) -> None:
        self._service = service
        self._by = by
        self._allow_private = allow_private

    def list(self, contest: str) -> list[WebhookTold]:
        """Return a contest's webhooks in order of creation."""
        found = subscriptions.webhooks(self._service, self._view(contest), by=self._by)
        return [WebhookTold.model_validate(one) for one in found]

    def add(
        self, contest: str, url: str, *, events: Sequence[str] = (), staff: bool = True
    ) -> tuple[WebhookTold, str]:
        """Add a webhook; return it with its secret, which comes this once."""
        made, secret = subscriptions.subscribe(
            self._service, contest, url=url, events=events, staff=staff,
            allow_private=self._allow_private, by=self._by,
        )  # fmt: skip
        return WebhookTold.model_validate(made), secret

    def change(
        self,
        contest: str,
        webhook: str,
        *,
        active: bool | None = None,
        events: Sequence[str] | None = None,
    ) -> WebhookTold:
        """Change what is given of a webhook."""
        done = subscriptions.change(
            self._service, contest, webhook, active=active, events=events, by=self._by
        )
        return WebhookTold.model_validate(done)

    def remove(self, contest: str, webhook: str) -> None:
        """Remove a webhook and the log of its deliveries."""
        subscriptions.unsubscribe(self._service, contest, webhook, by=self._by)

    def deliveries(self, contest: str, webhook: str) -> Iterator[DeliveryTold]:
        """Yield a webhook's deliveries, newest first."""
        view, after = self._view(contest), None
        while True:
            found = subscriptions.deliveries(
                self._service, view, webhook, after=after, limit=_PAGE, by=self._by
            )
            yield from map(DeliveryTold.model_validate, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def send_test(self, contest: str, webhook: str) -> DeliveryTold:
        """Send an event of kind ``webhook-tested``."""
        sent = resend.send_test(self._service, contest, webhook, by=self._by)
        return DeliveryTold.model_validate(sent)

    def redeliver(self, contest: str, webhook: str, delivery: str) -> DeliveryTold:
        """Send an event once more, as a new delivery."""
        sent = resend.redeliver(self._service, contest, webhook, delivery, by=self._by)
        return DeliveryTold.model_validate(sent)

    def _view(self, contest: str) -> View:
        with self._service.store.read() as session:
            return viewed(session, contest, self._by)
