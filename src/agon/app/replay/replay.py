"""Replay a ledger: rebuild any board at any past moment from the entries alone, to the same hash.

Nothing but lines goes in, so a ledger of a database and one of an exported folder give the same.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, takewhile

from agon.app.analysis.score import Result, moment_of
from agon.app.replay.replica import LiveContest
from agon.errors import NotFound
from agon.kernel.boards import Board
from agon.ledger.entry import timestamp

_TIME = slice(len(b'{"at":"'), len(b'{"at":"2026-11-22T02:30:00.123456Z'))


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Hold a contest rebuilt from its ledger.

    Attributes:
        result: all boards and explanations.
        board: the board that was asked for.
        seq: position of the last entry replayed.
        head: the chain's hash there (32 bytes).
        live: what the result reads; closing it is the caller's.
    """

    result: Result
    board: Board
    seq: int
    head: bytes
    live: LiveContest

    @property
    def board_sha256(self) -> str:
        """Return the board's hash, as the snapshot of that position has it."""
        return self.board.sha256


def replay(
    lines: Iterable[bytes],
    *,
    contest: str,
    at: int | str | datetime | None = None,
    board: str | None = None,
    edition: str | None = None,
) -> Replayed:
    """Rebuild a contest from its ledger's lines.

    Args:
        lines: the entries' bytes from the first one on; they are read once, in portions.
        contest: the contest's id.
        at: how far: a position (a number or digits), a time (the ledger's own clock), or None.
        board: the board; None: the contest's default one.
        edition: score under this edition's own rules instead of those in force there.

    Raises:
        InvalidEntry: a line cannot follow those before it.
        NotFound: the ledger does not go as far, or there is no such board or edition.
        NotScorable: the records cannot be scored there, with the reason.
        Unreadable: ``at`` is neither a position nor a time.

    Example:
        >>> replay([], contest="spring")
        Traceback (most recent call last):
        agon.errors.NotFound: the ledger of spring has no entries; give one that has
    """
    live = LiveContest(contest)
    try:
        return _replayed(live, lines, at=at, board=board, edition=edition)
    except BaseException:
        live.close()
        raise


def _replayed(
    live: LiveContest,
    lines: Iterable[bytes],
    *,
    at: int | str | datetime | None,
    board: str | None,
    edition: str | None,
) -> Replayed:
    if isinstance(at, str) and at.strip().isascii() and at.strip().isdigit():
        at = int(at)
    live.catch_up(enumerate(_until(lines, at), start=1))
    if isinstance(at, int) and live.seq != at:
        raise NotFound(f"the ledger of {live.contest} ends at {live.seq}; give 1 to {live.seq}")
    if live.seq == 0:
        what = "no entries; give one that has" if at is None else f"none by {at}; give a later time"
        raise NotFound(f"the ledger of {live.contest} has {what}")
    result = live.result(edition=edition, overrides=None if edition is None else {})
    standing = live.contest_state()
    return Replayed(
        result=result,
        board=result.board(standing.boards[0] if board is None else board),
        seq=live.seq,
        head=standing.head,
        live=live,
    )


def _until(lines: Iterable[bytes], at: int | str | datetime | None) -> Iterator[bytes]:
    """Take lines up to a position, or to the last that is not later than a time."""
    if at is None:
        return iter(lines)
    if isinstance(at, int):
        return islice(lines, max(at, 0))
    moment = moment_of(at)
    assert moment is not None  # noqa: S101 - a text or a time always gives one
    last = timestamp(moment).encode()
    # Every line begins with its time, and times never decrease along a ledger.
    return takewhile(lambda line: line[_TIME] <= last, lines)
