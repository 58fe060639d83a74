"""Webhooks in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import Contest
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import Conflict, NotFound
from agon.store.session import Store
from store.factories import later

pytestmark = pytest.mark.one_database


def _webhook(contest_no: int, name: str = "w1", *, at: float = 0) -> Webhook:
    return Webhook(
        id=name, contest_no=contest_no, url="https://example.org/x", secret=bytes(range(40)),
        events=("snapshot-published",), staff=False, active=True, created_at=later(at), by="u",
    )  # fmt: skip


def _delivery(name: str, *, at: float = 0, webhook: str = "w1") -> DeliveryLog:
    return DeliveryLog(
        id=name, webhook_id=webhook, event_no=1, state="waiting", attempts=(), created_at=later(at)
    )


def test_a_webhook_is_saved_listed_and_removed(store: Store, spring: Contest) -> None:
    """Its deliveries are removed with it: they name an address that is not to be called again."""
    first, second = _webhook(spring.no), _webhook(spring.no, "a", at=1)
    with store.write() as session:
        session.webhooks.save(second)
        session.webhooks.save(first)
        session.webhooks.save(replace(first, active=False, events=()))
        session.webhooks.log(_delivery("d"))
    with store.write() as session:
        assert session.webhooks.of(spring.no) == [replace(first, active=False, events=()), second]
        session.webhooks.remove("w1")
        for gone in (session.webhooks.get, session.webhooks.remove):
            with pytest.raises(NotFound, match="'w1'"):
                gone("w1")
        with pytest.raises(NotFound, match="'d'"):
            session.webhooks.delivery("d")
        assert session.webhooks.of(spring.no) == [second]


def test_deliveries_are_listed_newest_first(store: Store, spring: Contest) -> None:
    """Readers of the list need the latest failures first."""
    with store.write() as session:
        session.webhooks.save(_webhook(spring.no))
        for name, at in [("a", 1), ("b", 1), ("c", 0)]:
            session.webhooks.log(_delivery(name, at=at))
        tried = replace(_delivery("a", at=1), state="delivered", attempts=({"status": 200},))
        session.webhooks.log(tried)
    with store.read() as session:
        assert session.webhooks.delivery("a") == tried
        assert [one.id for one in session.webhooks.deliveries("w1")] == ["b", "a", "c"]
        assert [one.id for one in session.webhooks.deliveries("w1", after="b", limit=1)] == ["a"]


def test_a_delivery_needs_its_webhook(store: Store, spring: Contest) -> None:
    """One removed meanwhile must not leave orphans."""
    assert spring.no
    with pytest.raises(Conflict), store.write() as session:
        session.webhooks.log(_delivery("d", webhook="gone"))
