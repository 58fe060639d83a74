"""The first page of a contest's desk: its state, what the public sees, its details."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.api.models.base import ReasonRequest
from agon.api.models.boards import BoardPage
from agon.api.models.contests import Contest, ContestUpdate, FinalizeRequest
from agon.app.access.permissions import ANONYMOUS
from agon.client.client import Api
from agon.client.local import LocalTransport
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.ledger.contest_state import NameDisplay
from agon.web import addresses
from agon.web.desk.layout import act, contest_page
from agon.web.page import Redirect, SitePage, Visit

_ROWS: Final = 10
_DETAILS: Final = frozenset({"title", "description", "visibility", "starts_at", "ends_at", "names"})


@dataclass(frozen=True)
class BoardDifference:
    """A row of the newest board next to the same row as the public sees it."""

    id: str
    rank: int
    score: float
    public_rank: int | None
    public_score: float | None


def overview(visit: Visit) -> SitePage:
    """Return the state of a contest, and what an organizer may do with it."""
    return _page(visit)


def open_contest(visit: Visit) -> SitePage | Redirect:
    """Open a draft."""
    return _change(visit, visit.api.contests.open)


def freeze(visit: Visit) -> SitePage | Redirect:
    """Freeze what the public sees."""
    return _change(visit, visit.api.contests.freeze)


def unfreeze(visit: Visit) -> SitePage | Redirect:
    """Show the public the newest boards again, with a reason."""
    reason = visit.form.get("reason", "").strip()
    return _change(
        visit, lambda contest: visit.api.contests.unfreeze(contest, ReasonRequest(reason=reason))
    )


def finalize(visit: Visit) -> SitePage | Redirect:
    """Publish the final boards."""
    force = visit.form.get("force") == "yes"
    return _change(
        visit, lambda contest: visit.api.contests.finalize(contest, FinalizeRequest(force=force))
    )


def edit(visit: Visit) -> SitePage | Redirect:
    """Change title, description, visibility, start, end or names, as far as the form differs.

    The form has no fractions of seconds: a time that was not touched stays exactly as it is.
    """
    stored = _details(visit.contest(), {})
    fields: dict[str, Any] = {
        name: text for name, text in visit.form.items() if text != stored.get(name, text)
    }
    for name in fields.keys() & {"starts_at", "ends_at"}:
        fields[name] = f"{fields[name]}Z" if fields[name] else None
    return _change(
        visit,
        lambda contest: visit.api.contests.edit(contest, ContestUpdate.model_validate(fields)),
    )


def _change(visit: Visit, action: Callable[[str], Any]) -> SitePage | Redirect:
    contest = visit.contest()
    return act(
        lambda: action(contest.id),
        following=addresses.desk(contest.id),
        otherwise=lambda error: _page(visit, error=error),
    )


def _page(visit: Visit, *, error: Exception | None = None) -> SitePage:
    contest = visit.contest()
    newest = _board(visit.api, contest)
    public = _board(Api(LocalTransport(visit.service, ANONYMOUS)), contest)
    values = {
        "details": _details(contest, visit.form),
        "newest": newest,
        "public": public,
        "lines": [] if newest is None else _lines(newest, public),
    }
    return contest_page(
        visit, contest, "overview", values, error=error, names=_DETAILS | {"reason"},
        data=addresses.api("contests", contest.id),
    )  # fmt: skip


def _board(api: Api, contest: Contest) -> BoardPage | None:
    """Return the first rows of the default board; None: the caller sees none."""
    try:
        return api.boards.page(contest.id, limit=_ROWS)
    except NotFound:
        return None


def _lines(newest: BoardPage, public: BoardPage | None) -> list[BoardDifference]:
    before = {} if public is None else {row["id"]: row for row in public.rows}
    nothing: Mapping[str, Any] = {}
    return [
        BoardDifference(
            row["id"],
            row["rank"],
            row["score"],
            before.get(row["id"], nothing).get("rank"),
            before.get(row["id"], nothing).get("score"),
        )
        for row in newest.rows
    ]


def _details(contest: Contest, form: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the form of details: what was typed, else what is stored."""
    stored = {
        "title": contest.title,
        "description": contest.description,
        "visibility": contest.visibility,
        "names": contest.names or _usual_names(contest.discipline),
        "starts_at": "" if contest.starts_at is None else f"{contest.starts_at:%Y-%m-%dT%H:%M}",
        "ends_at": "" if contest.ends_at is None else f"{contest.ends_at:%Y-%m-%dT%H:%M}",
    }
    return {**stored, **{name: form[name] for name in stored if name in form}}


def _usual_names(of: str) -> NameDisplay:
    return "shown" if discipline(of).shows_names else "hidden"
