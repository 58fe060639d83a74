"""Webhooks over HTTP."""

from collections.abc import Iterator, Sequence

from agon.client.values import DeliveryTold, WebhookTold
from agon.client.wire import Wire


class RemoteWebhooks:
    """Say where events are sent; see :class:`agon.client.ports.Webhooks`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(self, contest: str) -> list[WebhookTold]:
        """Return a contest's webhooks in order of creation."""
        items = self._wire.get("contests", contest, "webhooks")["items"]
        return [WebhookTold.model_validate(one) for one in items]

    def add(
        self, contest: str, url: str, *, events: Sequence[str] = (), staff: bool = True
    ) -> tuple[WebhookTold, str]:
        """Add a webhook; return it with its secret, which comes this once."""
        asked = {"url": url, "events": list(events), "staff": staff}
        made = self._wire.send("POST", "contests", contest, "webhooks", body=asked)
        return WebhookTold.model_validate(made), str(made["secret"])

    def change(
        self,
        contest: str,
        webhook: str,
        *,
        active: bool | None = None,
        events: Sequence[str] | None = None,
    ) -> WebhookTold:
        """Change what is given of a webhook."""
        asked = {"active": active, "events": None if events is None else list(events)}
        done = self._wire.send("PATCH", "contests", contest, "webhooks", webhook, body=asked)
        return WebhookTold.model_validate(done)

    def remove(self, contest: str, webhook: str) -> None:
        """Remove a webhook and the log of its deliveries."""
        self._wire.send("DELETE", "contests", contest, "webhooks", webhook)

    def deliveries(self, contest: str, webhook: str) -> Iterator[DeliveryTold]:
        """Yield a webhook's deliveries, newest first."""
        path = ("contests", contest, "webhooks", webhook, "deliveries")
        yield from map(DeliveryTold.model_validate, self._wire.pages(*path))

    def send_test(self, contest: str, webhook: str) -> DeliveryTold:
        """Send an event of kind ``webhook-tested``."""
        sent = self._wire.send("POST", "contests", contest, "webhooks", webhook, "test")
        return DeliveryTold.model_validate(sent)

    def redeliver(self, contest: str, webhook: str, delivery: str) -> DeliveryTold:
        """Send an event once more, as a new delivery."""
        path = ("contests", contest, "webhooks", webhook, "deliveries", delivery, "redeliver")
        return DeliveryTold.model_validate(self._wire.send("POST", *path))
