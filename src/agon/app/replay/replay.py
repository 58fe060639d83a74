"""Replay a ledger: compute a board at any position from the entries alone, to the same hash.

Only lines go in, so a ledger of a database and one of an exported folder give the same board.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile

from agon.app.analysis.score import Result
from agon.app.replay.replica import ContestReplica
from agon.app.replay.unscored import board_or_reasons
from agon.errors import CheckFailed, NotFound
from agon.kernel.boards import Board
from agon.kernel.times import parse_time
from agon.ledger.entry import timestamp
from agon.ledger.rules_comparison import check_rules
from agon.ledger.transitions import Adoption

_TIME = slice(len(b'{"at":"'), len(b'{"at":"2026-11-22T02:30:00.123456Z'))


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A contest computed from its ledger.

    Attributes:
        result: all boards and explanations.
        board: the requested board.
        seq: position of the last entry replayed.
        head: the chain's hash there (32 bytes).
        live: the replica that the result reads; the caller closes it.
    """

    result: Result
    board: Board
    seq: int
    head: bytes
    live: ContestReplica

    @property
    def board_sha256(self) -> str:
        """Return the board's hash; the snapshot of that position has the same."""
        return self.board.sha256


def replay(
    lines: Iterable[bytes],
    *,
    contest: str,
    at: int | str | datetime | None = None,
    board: str | None = None,
    edition: str | None = None,
) -> Replay:
    """Compute a board from a ledger's lines.

    Args:
        lines: the entries' bytes from the first one on; they are read once, in batches.
        contest: the contest's id.
        at: the last position (a number or digits) or time (of the ledger's clock); None for all.
        board: the board; None for the contest's default one.
        edition: score under this edition's own rules instead of those in force there.

    Raises:
        InvalidEntry: a line cannot follow those before it.
        CheckFailed: the edition in force has other rules here than the ledger records.
        NotFound: the ledger ends before that position, or there is no such board or edition.
        NotScorable: the board cannot be scored there and has no participant; otherwise it lists
            each one with the reason.
        Unreadable: ``at`` is neither a position nor a time.

    Example:
        >>> replay([], contest="spring")
        Traceback (most recent call last):
        agon.errors.NotFound: the ledger of spring has no entries; give one that has
    """
    live = ContestReplica(contest)
    try:
        return _replay(live, lines, at=at, board=board, edition=edition)
    except BaseException:
        live.close()
        raise


def _replay(
    live: ContestReplica,
    lines: Iterable[bytes],
    *,
    at: int | str | datetime | None,
    board: str | None,
    edition: str | None,
) -> Replay:
    if isinstance(at, str) and at.strip().isascii() and at.strip().isdigit():
        at = int(at)
    live.catch_up(enumerate(_until(lines, at), start=1))
    if isinstance(at, int) and live.seq != at:
        raise NotFound(f"the ledger of {live.contest} ends at {live.seq}; give 1 to {live.seq}")
    if live.seq == 0:
        entries = (
            "no entries; give one that has" if at is None else f"none by {at}; give a later time"
        )
        raise NotFound(f"the ledger of {live.contest} has {entries}")
    contest = live.contest_state()
    if edition is None:
        _require_recorded_rules(live.contest, live.state.adoptions[-1])
    result = live.result(edition=edition, overrides=None if edition is None else {})
    return Replay(
        result=result,
        board=board_or_reasons(result, contest.boards[0] if board is None else board),
        seq=live.seq,
        head=contest.head,
        live=live,
    )


def _require_recorded_rules(contest: str, adoption: Adoption) -> None:
    """Check the rules in force against the ledger's record of them.

    Raises:
        CheckFailed: they are others, with the rules that differ.
        NotFound: this agon has no such edition.
    """
    if adoption.rules_sha256 is None:
        return
    issue = check_rules(adoption.edition, adoption.overrides, adoption.rules_sha256)
    if issue is not None:
        raise CheckFailed(f"contest {contest}: {issue}")


def _until(lines: Iterable[bytes], at: int | str | datetime | None) -> Iterator[bytes]:
    """Yield the lines up to a position, or up to a time."""
    if at is None:
        return iter(lines)
    if isinstance(at, int):
        return islice(lines, max(at, 0))
    time = parse_time(at)
    assert time is not None  # noqa: S101 - a text or a time always gives one
    last = timestamp(time).encode()
    # Every line begins with its time, and times never decrease along a ledger.
    return takewhile(lambda line: line[_TIME] <= last, lines)
