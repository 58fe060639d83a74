"""Read the names of participants that a contest shows next to their ids."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from agon.entities.contests import Contest
from agon.store.session import Session


def shown_names(session: Session, contest: Contest, ids: Sequence[str]) -> Mapping[str, str] | None:
    """Return the names of those participants that have one, by id; None: the contest hides names.

    They are the present names, also of participants of a board of the past.
    """
    return session.names.of(contest.no, ids) if contest.shows_names else None


def ids_of(lines: Iterable[bytes]) -> list[str]:
    """Return the ids of lines of a board.

    Example:
        >>> ids_of([b'{"id":"ada","rank":1,"score":668.0}'])
        ['ada']
    """
    return [orjson.loads(line)["id"] for line in lines]
