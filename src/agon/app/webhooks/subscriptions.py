"""Add, change, list and remove the webhooks of a contest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agon.app.access.audit import add_audit_entry
from agon.app.access.permissions import View
from agon.app.service import Service
from agon.app.webhooks.address_guard import checked_url
from agon.app.webhooks.secrets import NONCE_BYTES, encrypt
from agon.app.webhooks.signatures import SECRET_BYTES, format_secret
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.webhooks import EVENT_KINDS, DeliveryLog, Webhook
from agon.errors import Conflict, NotFound, Unavailable, Unreadable, did_you_mean
from agon.store.session import Session

MAX_WEBHOOKS: Final = 20


def subscribe(
    service: Service,
    contest_id: str,
    *,
    url: str,
    events: Sequence[str] = (),
    staff: bool = True,
    allow_private: bool = False,
    by: Caller,
) -> tuple[Webhook, str]:
    """Add a webhook; return it with its secret, which is never shown again.

    Args:
        service: the service.
        contest_id: the contest.
        url: the destination; https, and not an address of the server's network.
        events: kinds of events; empty: all.
        staff: whether events for organizers only are sent too.
        allow_private: the setting ``webhook_allow_private``.
        by: an organizer.

    Raises:
        NotFound: there is no such contest.
        Unreadable: the URL is not allowed, or a kind of event is unknown.
        Conflict: the contest has :data:`MAX_WEBHOOKS` already.
        Unavailable: the server has no key to encrypt the secret with.
    """
    checked_url(url, allow_private=allow_private)
    _require_known(events)
    if not service.network_key:
        raise Unavailable("this server has no key to encrypt secrets with; set server_key_file")
    secret, name = service.random(SECRET_BYTES), service.new_id()
    sealed = encrypt(
        secret,
        server_key=service.network_key,
        webhook_id=name,
        nonce=service.random(NONCE_BYTES),
    )
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        if len(session.webhooks.of(contest.no)) >= MAX_WEBHOOKS:
            raise Conflict(f"{contest_id} has {MAX_WEBHOOKS} webhooks already; remove one first")
        webhook = Webhook(
            id=name,
            contest_no=contest.no,
            url=url,
            secret=sealed,
            events=tuple(dict.fromkeys(events)),
            staff=staff,
            active=True,
            created_at=service.clock(),
            by=by.name,
        )
        session.webhooks.save(webhook)
        add_audit_entry(service, session, by=by, action="webhook.create", target=name,
             detail={"contest": contest_id})  # fmt: skip
    return webhook, format_secret(secret)


def change(
    service: Service,
    contest_id: str,
    webhook_id: str,
    *,
    active: bool | None = None,
    events: Sequence[str] | None = None,
    by: Caller,
) -> Webhook:
    """Change the given fields of a webhook.

    Raises:
        NotFound: there is no such webhook.
        Unreadable: a kind of event is unknown.
    """
    _require_known(events or ())
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        webhook = webhook_of(session, contest, webhook_id)
        changed = replace(
            webhook,
            active=webhook.active if active is None else active,
            events=webhook.events if events is None else tuple(dict.fromkeys(events)),
        )
        session.webhooks.save(changed)
        add_audit_entry(service, session, by=by, action="webhook.change", target=webhook_id)
    return changed


def unsubscribe(service: Service, contest_id: str, webhook_id: str, *, by: Caller) -> None:
    """Remove a webhook and the log of its deliveries.

    Raises:
        NotFound: there is no such webhook.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        webhook_of(session, contest, webhook_id)
        session.webhooks.remove(webhook_id)
        add_audit_entry(service, session, by=by, action="webhook.remove", target=webhook_id)


def webhooks(service: Service, view: View) -> list[Webhook]:
    """Return a contest's webhooks in order of creation."""
    with service.store.read() as session:
        return session.webhooks.of(view.contest.no)


def deliveries(
    service: Service,
    view: View,
    webhook_id: str,
    *,
    after: str | None = None,
    limit: int = 100,
) -> list[DeliveryLog]:
    """Return a webhook's deliveries, newest first, with the result of every attempt.

    Raises:
        NotFound: there is no such webhook.
    """
    with service.store.read() as session:
        webhook_of(session, view.contest, webhook_id)
        return session.webhooks.deliveries(webhook_id, after=after, limit=limit)


def webhook_of(session: Session, contest: Contest, webhook_id: str) -> Webhook:
    """Return a contest's webhook.

    Raises:
        NotFound: it has no webhook of that id.
    """
    webhook = session.webhooks.get(webhook_id)
    if webhook.contest_no != contest.no:
        raise NotFound(f"{contest.id} has no webhook {webhook_id}; list its webhooks")
    return webhook


def _require_known(events: Sequence[str]) -> None:
    """Raise unless events of all these kinds exist; others would never be sent."""
    for kind in events:
        if kind not in EVENT_KINDS:
            remedy = did_you_mean(kind[:60], EVENT_KINDS)
            raise Unreadable(f"there are no events of kind {kind[:60]!r}: {remedy}")
