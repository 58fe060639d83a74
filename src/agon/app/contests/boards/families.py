"""List the boards of a contest: those with names of their own, and families of boards."""

from typing import Final

import orjson

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import resolve_as_of
from agon.app.service import Service
from agon.store.session import Session

_MAX_BOARDS: Final = 10_000


def board_names(session: Session, view: View) -> list[str]:
    """Return the names of a contest's boards, the default first, families resolved."""
    names: list[str] = []
    for name in view.contest.boards:
        if not name.endswith(">"):
            names.append(name)
            continue
        names += sorted(_family(session, view, name.partition(":")[0]))
    return names


def board_titles(service: Service, view: View) -> dict[str, str]:
    """Return the titles of the boards of families, such as those of the problems of a contest.

    A title is that of the newest record that the caller sees; boards without one are left out.
    """
    families = [name.partition(":")[0] for name in view.contest.boards if name.endswith(">")]
    with service.store.read() as session:
        return {
            board: title
            for family in families
            for board, title in _family(session, view, family).items()
            if title
        }


def _family(session: Session, view: View, family: str) -> dict[str, str]:
    """Return the boards of a family (``problem``: one for each of ``problems``) → their titles."""
    table, limit = f"{family}s", resolve_as_of(session, view, None)
    entries = session.entries.rows(view.contest.no, table, until=limit, limit=_MAX_BOARDS)
    rows = (orjson.loads(entry.line)["body"]["row"] for entry in entries)
    return {f"{family}:{row['id']}": row.get("title") or "" for row in rows}
