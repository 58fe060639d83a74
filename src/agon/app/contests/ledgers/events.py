"""Read a contest's events after a given one, as far as the caller may see them."""

from dataclasses import dataclass, replace

from agon.app.access.permissions import View
from agon.app.contests.ledgers.event_ids import EventIds
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.app.service import Service
from agon.entities.contests import Event
from agon.kernel.fingerprints import canonical_json
from agon.kernel.times import written_time
from agon.ledger.transitions import SHOWN_IN_FREEZE

MAX_EVENTS = 500


@dataclass(frozen=True)
class EventPage:
    """Some events.

    Attributes:
        last: the number to continue after.
        more: whether there may be further events already.
    """

    events: list[Event]
    last: int
    more: bool


def events(service: Service, view: View, *, after: int = 0, limit: int = MAX_EVENTS) -> EventPage:
    """Return a contest's events after a number, oldest first.

    Only the staff sees events for the staff and, while the contest is frozen, events after the
    freeze; but everyone sees that the contest is void, or counts again.

    Args:
        service: the service.
        view: what the caller may see.
        after: number of the last known event; 0: from the beginning.
        limit: how many to read; fewer are returned if some are for the staff only.
    """
    until = last_readable_seq(view)
    with service.store.read() as session:
        stored = session.events.after(
            after,
            contest_no=view.contest.no,
            until=until,
            user=view.user,
            limit=min(max(limit, 1), MAX_EVENTS),
        )
    visible = [visible_event(view, event) for event in stored if view.sees(event)]
    last = stored[-1].no if stored else after
    return EventPage(visible, last, more=len(stored) >= limit)


def visible_event(view: View, event: Event) -> Event:
    """Return an event that a view sees: one that a freeze does not hide is at the freeze.

    Its position would show how much was recorded since.
    """
    if view.until is None or event.kind not in SHOWN_IN_FREEZE:
        return event
    return replace(event, seq=min(event.seq, view.until))


def event_message(event: Event, *, contest: str, ids: EventIds) -> bytes:
    """Return an event as JSON, equal in streams and in deliveries to webhooks.

    Example:
        >>> from datetime import UTC, datetime
        >>> from agon.app.service import SigningKey
        >>> event = Event(no=4, contest_no=1, seq=9, at=datetime(2026, 11, 22, tzinfo=UTC),
        ...               kind="contest-opened", body={})
        >>> ids = EventIds(SigningKey(bytes(32)))
        >>> event_message(event, contest="spring", ids=ids).decode()[:66]
        '{"at":"2026-11-22T00:00:00.000000Z","body":{},"contest":"spring","'
    """
    return canonical_json(
        {
            "id": ids.text(contest, event.no),
            "contest": contest,
            "seq": event.seq,
            "at": written_time(event.at),
            "kind": event.kind,
            "body": dict(event.body),
        }
    )
