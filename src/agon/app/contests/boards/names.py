"""Read the names of participants that a contest shows next to their ids."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from agon.entities.contests import Contest
from agon.store.session import Session


def shown_names(
    session: Session, contest: Contest, ids: Sequence[str], *, at: int
) -> Mapping[str, str] | None:
    """Return the names of those participants that have one, by id; None: the contest hides names.

    Args:
        session: the session.
        contest: the contest.
        ids: the participants.
        at: the position of the board that they are on, whose names stay those of that position.
    """
    return session.names.of(contest.no, ids, at=at) if contest.shows_names else None


def ids_of(lines: Iterable[bytes]) -> list[str]:
    """Return the ids of lines of a board.

    Example:
        >>> ids_of([b'{"id":"ada","rank":1,"score":668.0}'])
        ['ada']
    """
    return [orjson.loads(line)["id"] for line in lines]
