"""Tell what happened in a contest, to whom may know it, from where they left off."""

from dataclasses import dataclass

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import reach
from agon.app.service import Service
from agon.entities.contests import Event

MOST_EVENTS = 500
"""So many events are told at a time."""


@dataclass(frozen=True)
class Heard:
    """Hold events, and the number behind which to go on; ``more``: there may be others already."""

    events: list[Event]
    last: int
    more: bool


def events(service: Service, view: View, *, after: int = 0, limit: int = MOST_EVENTS) -> Heard:
    """Return a contest's events behind a number, oldest first.

    Who is not of the staff hears neither what is the staff's nor, while the contest is frozen,
    anything that happened after the freeze.

    Args:
        service: the house.
        view: what the caller may see.
        after: number of the last event known; 0: from the beginning.
        limit: how many to look at; fewer may be told.
    """
    until = reach(view)
    with service.store.read() as session:
        found = session.events.after(
            after, contest_no=view.contest.no, until=until, limit=min(max(limit, 1), MOST_EVENTS)
        )
    told = [event for event in found if view.staff or not event.staff]
    last = found[-1].no if found else after
    return Heard(told, last, more=len(found) >= limit)
