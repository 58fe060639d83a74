"""Tell somebody's history on a board: every position at which their score became another."""

from dataclasses import replace

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import board_named, expect_storable, reach
from agon.app.service import Service
from agon.entities.contests import HistoryStep
from agon.errors import NotFound, Unreadable

MOST_STEPS = 1000
"""So many steps are told at a time."""


def history(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    after: int = 0,
    limit: int = 100,
) -> list[HistoryStep]:
    """Return somebody's steps on a board in the order of the ledger.

    A step is a position that was published and at which their score, or the reason for having
    none, was another than before. Each names its position, at which it can be explained, and the
    change set that made it, if one did: boards are published right before and after each.

    Args:
        service: the house.
        view: what the caller may see.
        board: the board; None: the default one.
        participant: whose steps.
        after: the position behind which to begin; that of the last step, to read on.
        limit: how many at most, 1 to 1000.

    Raises:
        NotFound: there is no such board, or nobody of that id was ever on it.
        Unreadable: the limit is out of its bounds.
    """
    if not 1 <= limit <= MOST_STEPS:
        raise Unreadable(f"limit is {limit}; give 1 to {MOST_STEPS}")
    expect_storable(participant)
    name, until = board_named(view.contest, board), reach(view)
    with service.store.read() as session:
        steps = session.histories.of
        found = steps(view.contest.no, name, participant, until=until, after=after, limit=limit)
        if not found:
            if not steps(view.contest.no, name, participant, until=until, limit=1):
                raise NotFound(f"{participant!r} was never on board {name}; look for the id there")
            return []
        made = session.changes.causes_between(view.contest.no, found[0].seq, found[-1].seq)
    return [replace(one, by=made.get(one.seq)) for one in found]
