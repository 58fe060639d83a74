"""Check the rounds of a ledger before it is imported, so that what is stored can be verified."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agon.app.arena.draw_audit import check_draws
from agon.disciplines.arena import DISCIPLINE
from agon.errors import Conflict
from agon.ledger.entry import MAX_LINE_BYTES
from agon.ledger.files import LEDGER, open_file, read_lines
from agon.ledger.issues import LedgerIssue

if TYPE_CHECKING:
    from agon.entities.contests import Contest
    from agon.ledger.directory import LedgerDirectory
    from agon.store.session import Session


def check_rounds(
    session: "Session", contest: "Contest", ledger: "LedgerDirectory"
) -> Iterable[LedgerIssue]:
    """Return everything in which the draws of a ledger differ, as ``check_draws``.

    Raises:
        Conflict: rounds of the contest are played on this server, which alone writes them.
    """
    if session.arena.last_number(contest.no, prefix="r") or session.arena.last_number(
        contest.no, prefix="q"
    ):
        raise Conflict(
            f"the rounds of {contest.id} are played here, and no import can continue them; "
            "import the ledger into another server"
        )
    if ledger.state.contest.discipline != DISCIPLINE.name:
        return ()
    with open_file(ledger.folder, LEDGER) as stream:
        lines = (line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
        return check_draws(lines, ledger.state).issues
