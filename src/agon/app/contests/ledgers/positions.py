"""Return the position of a ledger a request is about, at most the last its caller may see."""

from agon.app.access.permissions import View
from agon.app.contests.ledgers.slugs import board_with_id
from agon.disciplines import discipline
from agon.entities.contests import Contest, Snapshot
from agon.errors import NotFound, did_you_mean
from agon.kernel.text.plain_json import unstorable
from agon.kernel.times import parse_time
from agon.store.session import Session

_MAX_DIGITS = 18  # of a position


def last_readable_seq(view: View) -> int | None:
    """Return the last position a caller may read, which is also shown if none is requested.

    None: any. While a contest is frozen the public sees nothing later than the freeze. What comes
    after the final result are change sets, and those are public: so an amended result is shown
    wherever no earlier position is requested.
    """
    return view.until


def resolve_as_of(session: Session, view: View, as_of: str | None) -> int | None:
    """Return the position ``as_of`` refers to, at most the last visible; None: the newest.

    Args:
        session: the database.
        view: what the caller may see.
        as_of: a position in digits, a time in ISO 8601 (by the ledger's own clock), or None.

    Raises:
        Unreadable: it is neither.
    """
    if as_of is None:
        return last_readable_seq(view)
    text, limit = as_of.strip(), last_readable_seq(view)
    if text.isascii() and text.isdigit():
        target = int(text) if len(text) <= _MAX_DIGITS else view.contest.seq
    else:
        time = parse_time(text)
        assert time is not None  # noqa: S101 - it is None only for None
        target = session.entries.position_at(view.contest.no, time)
    return target if limit is None else min(target, limit)


def board_named(contest: Contest, name: str | None) -> str:
    """Return the full name of a board (None: the contest's default one).

    Raises:
        NotFound: the contest publishes no such board.
    """
    if name is None:
        return contest.boards[0]
    require_storable_name(name)
    families = {board.partition(":")[0] for board in contest.boards if board.endswith(">")}
    if name in contest.boards or (":" in name and name.partition(":")[0] in families):
        return discipline(contest.discipline).board_name(name)
    raise NotFound(f"{contest.id} has no board {name!r}: {did_you_mean(name, contest.boards)}")


def visible_board(session: Session, view: View, name: str | None) -> str:
    """Return the full name of a board as :func:`board_named` does, with ids for slugs.

    Raises:
        NotFound: the contest publishes no such board.
    """
    board = board_named(view.contest, name)
    return board_with_id(session, view.contest, board, until=last_readable_seq(view))


def require_storable_name(name: str) -> None:
    """Raise unless a database can store a name.

    Raises:
        NotFound: it holds a NUL or a lone surrogate.
    """
    if unstorable(name) is not None:
        raise NotFound("an id cannot hold NUL or a lone surrogate; use an id of the board")


def snapshot_at(session: Session, view: View, board: str | None, as_of: str | None) -> Snapshot:
    """Return the snapshot a caller sees of a board at a position or time.

    Raises:
        NotFound: there is no such board, or nothing was published of it by then.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    name = visible_board(session, view, board)
    until = resolve_as_of(session, view, as_of)
    snapshot = session.snapshots.latest(view.contest.no, name, until=until)
    if snapshot is None:
        by_then = "yet" if as_of is None else f"by {as_of}"
        raise NotFound(
            f"nothing was published of {view.contest.id}/{name} {by_then}; "
            + ("try again when it has been scored" if as_of is None else "ask for a later time")
        )
    return snapshot
