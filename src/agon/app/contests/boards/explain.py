"""Explain a row of a published board: the parts of its score, at the board's position."""

from dataclasses import replace

from agon.app.access.permissions import View
from agon.app.contests.boards.stored_rows import shown_names
from agon.app.contests.ledgers.positions import require_storable_name, snapshot_at
from agon.app.contests.submissions.feedback import VerdictFeedback
from agon.app.replay.unscored import explanation_or_reason
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
    """Return the explanation of a score on a published board, adjustments included.

    It has the names that the board shows of those whom it is about. Where the board could not be
    scored, the explanation has the reason.

    Args:
        service: the service.
        view: what the caller may see.
        board: the board; None: the default one.
        participant: the id the score is of.
        as_of: a position of the ledger in digits or a time; None: the newest the caller may see.

    Raises:
        NotFound: there is no such board, snapshot or id, or none the caller may see.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    require_storable_name(participant)
    with service.store.read() as session:
        snapshot = snapshot_at(session, view, board, as_of)
        feedback = VerdictFeedback(session, view, now=service.clock())
    with service.replicas.current(service.store, view.contest) as live:
        result = live.result(at=snapshot.seq, discloses=feedback.discloses)
        explanation = explanation_or_reason(result, participant, board=snapshot.board)
    # Whom it is about is known now; no session stays open while a board is scored. The names at a
    # position are the same in both.
    with service.store.read() as session:
        about = explanation.participants
        names = shown_names(session, view.contest, about, at=snapshot.seq)
    return replace(explanation, names=names or {})
