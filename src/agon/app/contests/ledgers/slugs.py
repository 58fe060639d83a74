"""Look up problems by their slugs, which their publications in the ledger declare."""

import re
from typing import Final

import orjson

from agon.disciplines import discipline
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.ledger.keys import record_key
from agon.store.session import Session

_PUBLISHED: Final = "problem-published"
_ID: Final = re.compile(r"[0-9a-f]{64}")


def slugs(session: Session, contest: Contest, *, until: int | None = None) -> dict[str, str]:
    """Return the slugs of a contest's problems at a position, with the ids they stand for.

    The newest publication of a problem decides its slug.
    """
    by_id: dict[str, str | None] = {}
    for entry in session.entries.of_kind(contest.no, [_PUBLISHED], until=until):
        body = orjson.loads(entry.line)["body"]
        by_id[body["problem"]] = body["package"].get("slug")
    return {slug: name for name, slug in by_id.items() if slug is not None}


def problem_id(session: Session, contest: Contest, name: str, *, until: int | None = None) -> str:
    """Return the id of the problem with an id or a slug; a name of none as it is.

    Args:
        session: the database.
        contest: the contest.
        name: an id or a slug; an id precedes.
        until: the last position of the ledger to consider; None: all.
    """
    if _ID.fullmatch(name) or discipline(contest.discipline).problems is None:
        return name
    if _is_problem(session, contest, name):
        return name
    return slugs(session, contest, until=until).get(name, name)


def board_with_id(
    session: Session, contest: Contest, board: str, *, until: int | None = None
) -> str:
    """Return a board's name with the id of its problem where it has its slug."""
    family, colon, name = board.partition(":")
    if not colon:
        return board
    return f"{family}:{problem_id(session, contest, name, until=until)}"


def require_free_slug(
    session: Session, contest: Contest, slug: str | None, *, problem_id: str
) -> None:
    """Raise unless a problem may have a slug.

    Args:
        session: the database.
        contest: the contest.
        slug: the slug; None: none.
        problem_id: the problem's id.

    Raises:
        Conflict: it is the slug or the id of another problem.
    """
    if slug is None:
        return
    other = slugs(session, contest).get(slug)
    if other not in {None, problem_id} or _is_problem(session, contest, slug):
        raise Conflict(f"{contest.id} has a problem {slug!r} already; choose another slug")


def _is_problem(session: Session, contest: Contest, name: str) -> bool:
    chosen = discipline(contest.discipline)
    if chosen.problems is None:
        return False
    table = chosen.schema.table(chosen.problems.table)
    key = record_key(table, {"id": name}) if name.isprintable() else None
    return key is not None and key in session.entries.existing_keys(contest.no, table.name, [key])
