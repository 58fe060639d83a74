"""Return a participant's history on a board: the positions at which the score changed."""

from dataclasses import replace

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import (
    last_readable_seq,
    require_storable_name,
    visible_board,
)
from agon.app.service import Service
from agon.entities.contests import HistoryStep
from agon.errors import NotFound, Unreadable

MAX_STEPS = 1000


def history(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    after: int = 0,
    limit: int = 100,
) -> list[HistoryStep]:
    """Return a participant's steps on a board in the order of the ledger.

    A step is a published position at which the score, or the reason for having none, differs from
    the one before. It has the position, at which it can be explained, and the change set that
    caused it, if one did: boards are published right before and after each change set.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        participant: the id the steps are of.
        after: the position to begin after: that of the last step, to continue.
        limit: maximum number of steps, 1 to 1000.

    Raises:
        NotFound: there is no such board, or the id was never on it.
        Unreadable: the limit is out of range.
    """
    if not 1 <= limit <= MAX_STEPS:
        raise Unreadable(f"limit is {limit}; give 1 to {MAX_STEPS}")
    require_storable_name(participant)
    until = last_readable_seq(view)
    with service.store.read() as session:
        name = visible_board(session, view, board)
        steps = session.histories.of
        stored = steps(view.contest.no, name, participant, until=until, after=after, limit=limit)
        if not stored:
            if not steps(view.contest.no, name, participant, until=until, limit=1):
                raise NotFound(f"{participant!r} was never on board {name}; look for the id there")
            return []
        causes = session.changes.causes_between(view.contest.no, stored[0].seq, stored[-1].seq)
    return [replace(step, by=causes.get(step.seq)) for step in stored]
