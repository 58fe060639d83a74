"""Explain a row of a published board at its snapshot: every part, and what is missing."""

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import expect_storable, snapshot_at
from agon.app.service import Service
from agon.kernel.explanations import Explanation


def explain(
    service: Service,
    view: View,
    board: str | None,
    participant: str,
    *,
    as_of: str | None = None,
) -> Explanation:
    """Explain somebody's score as a published board has it, adjustments included.

    Args:
        service: the house.
        view: what the caller may see.
        board: the board; None: the default one.
        participant: whose score.
        as_of: a position of the ledger in digits or a time; None: the newest the caller may see.

    Raises:
        NotFound: there is no such board, snapshot or id, or none the caller may see.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    expect_storable(participant)
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, board, as_of)
    with service.replicas.current(service.store, view.contest) as live:
        return live.result(at=snapshot.seq).explain(participant, board=snapshot.board)
